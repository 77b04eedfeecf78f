package analyzer_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"servescope/analyzer"
	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/formats"
	"servescope/formats/all"
	"servescope/formats/source"
)

// aged is a source with a modification time.
type aged struct {
	formats.Source
	t time.Time
}

func (a aged) ModTime() time.Time { return a.t }

// scrapes reads scrapes in files of their own.
func scrapes(t *testing.T, workers int, inputs ...source.Input) *report.Run {
	t.Helper()
	s, err := analyzer.Open(context.Background(), all.Set(), &source.Inputs{List: inputs}, "", load.Options{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.Run(context.Background(), new(query.Query))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Runs) != 1 {
		t.Fatalf("%d runs", len(r.Runs))
	}
	return &r.Runs[0]
}

// figure returns a reported figure, or NaN.
func figure(r *report.Run, key string) float64 {
	for _, f := range r.Reported {
		if f.Key == key {
			return f.Value
		}
	}
	return math.NaN()
}

// TestP67SeparateFiles: scrapes of one server in files of their own are subtracted
// from one another in the order of time, whatever the order of the arguments and
// however many goroutines read them.
func TestP67SeparateFiles(t *testing.T) {
	const first = "vllm:time_to_first_token_seconds"
	text := func(count, sum, running int) []byte {
		return fmt.Appendf(nil, "%[1]s_count{engine=\"0\",model_name=\"m\"} %[2]d\n%[1]s_sum{engine=\"0\",model_name=\"m\"} %[3]d\nvllm:num_requests_running{engine=\"0\",model_name=\"m\"} %[4]d\n", first, count, sum, running)
	}
	start := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	input := func(name string, at time.Duration, content []byte) source.Input {
		return source.Input{Source: aged{source.FromBytes(name, content), start.Add(at)}, Label: "run"}
	}
	// 100 requests of 2 s each between the first two; then a restart, and 20 of 0.1 s.
	a, b, c := input("a.prom", 0, text(1000, 50, 3)), input("b.prom", time.Minute, text(1100, 250, 5)), input("c.prom", 2*time.Minute, text(20, 2, 1))
	for _, workers := range []int{1, 2, 4} {
		for _, list := range [][]source.Input{{a, b, c}, {c, b, a}, {b, c, a}} {
			r := scrapes(t, workers, list...)
			for key, want := range map[string]float64{first + "_count": 120, first + " in window 1": 2e9, first + " in window 2": 1e8} {
				if got := figure(r, key); got != want {
					t.Errorf("%d workers: %s is %v, want %v", workers, key, got, want)
				}
			}
			if len(r.Steps) != 1 || r.Steps[0].N != 3 || r.Steps[0].Running.Mean.V != 3 || r.Steps[0].Running.Max.V != 5 {
				t.Errorf("steps %+v", r.Steps)
			}
		}
	}
	// Names with the time of the scrape come before the times of the files.
	r := scrapes(t, 2, input("m_1772355720.prom", 0, text(20, 2, 1)), input("m_1772355600.prom", time.Hour, text(1000, 50, 3)), input("m_1772355660.prom", time.Minute, text(1100, 250, 5)))
	if got := figure(r, first+" in window 1"); got != 2e9 {
		t.Errorf("by name: %v", got)
	}
	// Two scrapes alone need no window: the run is one.
	r = scrapes(t, 1, b, a)
	if got := figure(r, first); got != 2e9 || !slices.ContainsFunc(r.Notes, func(n string) bool { return n[:min(len(n), 15)] == "between_scrapes" }) {
		t.Errorf("two files: %v, %q", got, r.Notes)
	}
}
