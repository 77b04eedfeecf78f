package analyzer

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
)

// TestRealSpansAndLog joins the spans of a vLLM server with the log of the same
// run. The log names no request: its lines are joined by time, and only in the
// zone that it was written in, eight hours behind UTC. Each line is about the ten
// seconds before it, so that what it calls running are the spans that are open at
// its time, but for one that the frontend holds and the engine does not.
func TestRealSpansAndLog(t *testing.T) {
	spans, log := realSource(t, "vllm/otlp-llm_request-v0.11-engineV1.traces.json"), realSource(t, "vllm/server-paired-with-otlp.log")
	for zone, want := range map[*time.Location][3]int64{nil: {0, 0, 280}, time.FixedZone("", -8*3600): {224, 280, 280}} {
		run := joined(t, load.Options{Zones: map[string]*time.Location{"": zone}, Workers: 2}, &query.Query{}, spans, log).Runs[0]
		if run.Requests.Total != 280 || len(run.Join.Steps) != 1 {
			t.Fatalf("%d requests, %+v", run.Requests.Total, run.Join)
		}
		x := run.Join.Steps[0]
		if zone == nil {
			if !strings.Contains(x.Note, "--tz") || x.Within != 0 || x.Covered != 0 || x.Requests != 280 {
				t.Errorf("taken for UTC: %+v", x)
			}
			continue
		}
		// The first line comes before a request, the last ones when none is left.
		times := spanTimes(t, spans.text)
		idle, before := int64(0), int64(math.MinInt64)
		for _, at := range statisticsTimes(t, log.text) {
			from := before
			if before == math.MinInt64 {
				from = at
			}
			if !slices.ContainsFunc(times, func(x [2]int64) bool { return x[0] <= at && x[1] >= from }) {
				idle++
			}
			before = at
		}
		if idle == 0 || x.N != want[0] || x.Within != want[0]-idle || x.Covered != want[1] || x.Requests != want[2] || x.Note != "" {
			t.Errorf("%+v: want %d, of which %d without a request", x, want[0], idle)
		}
	}
}

// realSource reads a real file, or skips the test where there is none.
func realSource(t *testing.T, name string) textFile {
	t.Helper()
	path := data(t, name)[0]
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return textFile{name: filepath.Base(path), text: string(text)}
}

// spanTimes returns the start and the end of latency of every span, found with a
// regular expression.
func spanTimes(t *testing.T, text string) (out [][2]int64) {
	t.Helper()
	for _, m := range regexp.MustCompile(`"startTimeUnixNano":"(\d+)".*?"gen_ai.latency.e2e","value":\{"doubleValue":([0-9.e-]+)\}`).FindAllStringSubmatch(text, -1) {
		start, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		e2e, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, [2]int64{start, start + int64(e2e*1e9)})
	}
	if len(out) != 280 {
		t.Fatalf("%d spans", len(out))
	}
	return out
}

// statisticsTimes returns the times of the lines of statistics, whose zone is
// eight hours behind UTC.
func statisticsTimes(t *testing.T, text string) (out []int64) {
	t.Helper()
	for _, m := range regexp.MustCompile(`(?m)^(\S+ \S+) INFO .*Avg prompt throughput`).FindAllStringSubmatch(text, -1) {
		at, err := time.Parse("2006-01-02 15:04:05,000", m[1])
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, at.Add(8*time.Hour).UnixNano())
	}
	return out
}

// TestJoinOfEverything joins all fixtures into one run, which makes no sense: the
// report is the same whatever the workers and cuts, every request of every end is
// joined or not, and each row is in the figures of its side once, or repeats
// another.
func TestJoinOfEverything(t *testing.T) {
	var list []textFile
	for _, in := range fixtures(t) {
		if s, err := openAll(t, load.Options{}, in); err == nil && !strings.HasSuffix(in.name, ".gz") {
			s.Close()
			list = append(list, in)
		}
	}
	want := ""
	for _, opt := range []load.Options{{Workers: 1}, {Workers: 3, Memory: 2 << 20, Block: 777}} {
		opt.Join = true
		s, err := openAll(t, opt, list...)
		if err != nil {
			t.Fatal(err)
		}
		if opt.Workers > 1 {
			s.in.RangeSize, s.in.BatchRows = 3000, 11
		}
		r, err := s.Run(t.Context(), &query.Query{By: []string{"replica"}, Window: 60e9})
		if err != nil {
			t.Fatal(err)
		}
		if got := jsonOf(t, r); want == "" {
			want = got
		} else if got != want {
			t.Error(firstDifference(got, want))
		}
		rows, sequences := int64(0), int64(0)
		for _, b := range s.set.Requests {
			rows += int64(b.Open().Rows)
			for i := range b.Open().Rows {
				if n, ok := b.Open().Ints(trace.Choice).At(i); ok && n > 0 {
					sequences++
				}
			}
		}
		run, shown := &r.Runs[0], int64(0)
		for _, side := range run.Sides {
			shown += side.Requests.Total
		}
		for _, e := range run.Join.Ends {
			shown += e.Repeated
			if e.Joined < 0 || e.Joined > e.Requests || int64(len(e.Unmatched)) > e.Requests-e.Joined {
				t.Errorf("%+v", e)
			}
		}
		if shown > rows || shown < rows-sequences {
			t.Errorf("%d rows, of which %d are sequences of a request, and %d in the figures of a side or repeated", rows, sequences, shown)
		}
		s.Close()
	}
}
