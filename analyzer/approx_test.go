package analyzer

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"servescope/analyzer/assemble"
	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/analyzer/render"
	"servescope/analyzer/report"
	"servescope/analyzer/stat"
)

// TestApprox holds a report of a part, which has no second pass to make quantiles
// exact, to the bound that it states, and its forms to saying so: beyond DefaultLimit
// gaps they come from a histogram. The report of the whole log is exact.
func TestApprox(t *testing.T) {
	const requests, chunks = 700, 400
	r := rand.New(rand.NewPCG(5, 6))
	var log strings.Builder
	for i := range requests {
		at := int64(1_764_428_000_000_000_000) + int64(i)*50_000_000
		fmt.Fprintf(&log, `{"request_id":"r%d","arrival":%d.%09d,"token_timestamps":[`, i, at/1e9, at%1e9)
		for k := range chunks {
			if k > 0 {
				log.WriteByte(',')
			}
			gap := r.Float64() * float64(int64(1_000_000)<<r.IntN(8)) // up to 128 ms
			if i > requests/2 {
				gap /= 16 // so that quantiles come to lie where values are counted only
			}
			at += int64(gap)
			fmt.Fprintf(&log, "%d.%09d", at/1e9, at%1e9)
		}
		log.WriteString("]}\n")
	}
	s, err := openAll(t, load.Options{Block: 1 << 16}, textFile{name: "log.jsonl", text: log.String()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var last *report.Report
	s.Tell(func() func(*assemble.Partial) { return func(p *assemble.Partial) { last = p.Report } })
	whole, err := s.Run(t.Context(), new(query.Query))
	if err != nil || last == nil {
		t.Fatalf("%v, a report of a part %v", err, last != nil)
	}
	lines := strings.SplitAfter(log.String(), "\n")
	part := last.Runs[0].Metrics["chunk_gap"]
	rows := last.Runs[0].Requests.Total
	of := analyze(t, new(query.Query), textFile{name: "log.jsonl", text: strings.Join(lines[:rows], "")})
	want := of.Runs[0].Metrics["chunk_gap"]
	if part.Exact || part.N <= stat.DefaultLimit || part.N != want.N || !want.Exact || !whole.Runs[0].Metrics["chunk_gap"].Exact {
		t.Fatalf("exact: %v of %d gaps, %v of %d", part.Exact, part.N, want.Exact, want.N)
	}
	off := 0
	for q, exact := range want.Quantiles {
		got := part.Quantiles[q]
		if math.Abs(got-exact) > 0.004*exact {
			t.Errorf("p%s is %v, exactly %v: further off than 0.4 %%", q, got, exact)
		}
		if got != exact {
			off++
		}
	}
	if off == 0 {
		t.Error("nothing is approximate")
	}
	for name, form := range map[string]func(io.Writer, *report.Report) error{
		"json": render.JSON, "markdown": render.Markdown,
		"text": func(w io.Writer, r *report.Report) error { return render.Text(w, r, render.TextOptions{}) },
	} {
		for r, approx := range map[*report.Report]bool{last: true, whole: false} {
			var b bytes.Buffer
			if err := form(&b, r); err != nil {
				t.Fatal(err)
			}
			text := strings.Join(strings.Fields(b.String()), " ")
			if strings.Contains(text, "approx") != approx || strings.Contains(text, "within 0.4 %") != approx {
				t.Errorf("%s: approximate %v is not what it says: %.2000s", name, approx, text)
			}
		}
	}
}
