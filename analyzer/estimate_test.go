package analyzer

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"servescope/analyzer/assemble"
	"servescope/analyzer/decompose/estimate"
	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/testdata/generate/simulate"
)

// estimated estimates what q selects of a source and returns the decomposition.
func estimated(t *testing.T, q *query.Query, opt load.Options, complete bool, src textFile) report.Decomposition {
	t.Helper()
	s, err := openAll(t, opt, src)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.Run(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	before := len(r.Runs[0].Decompositions)
	if _, err := s.Estimate(t.Context(), q, r, complete); err != nil {
		t.Fatal(err)
	}
	list := r.Runs[0].Decompositions
	if len(r.Runs) != 1 || len(list) != before+1 || !list[before].Estimated() {
		t.Fatalf("%d runs, %d decompositions after %d", len(r.Runs), len(list), before)
	}
	return list[before]
}

// TestEstimate: a log that is read gives what its rows give, whether its lists fit
// the memory or not; parts add up exactly; a filter selects requests, not steps.
func TestEstimate(t *testing.T) {
	l := simulate.Run(simulate.Random(1018))
	var text strings.Builder
	if err := l.WriteTokenlog(&text); err != nil {
		t.Fatal(err)
	}
	src := textFile{"log.jsonl", "", text.String()}
	log := new(estimate.Log)
	log.Add(l.Requests)
	want := log.Estimate(true).Summary(func(int64) bool { return true })
	got := estimated(t, new(query.Query), load.Options{Workers: 2}, true, src)
	if len(got.Tables) != 1 || got.N != want.Tokens || got.Side != "server" || got.Tables[0].Sum.Int != want.Parts.Sum() {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	table := &got.Tables[0]
	sum := table.Residual.Sum.Int
	for i, e := range table.Entries {
		sum += e.Sum.Int
		if e.Sum.Int != want.Parts[i] || e.Mean.V != float64(want.Parts[i])/float64(want.Tokens) {
			t.Errorf("%s: got %+v, want %d", e.Leaves, e.Sum, want.Parts[i])
		}
	}
	if len(table.Entries) != 4 || sum != table.Sum.Int || table.Residual.Sum.Int != want.Parts[estimate.Rest] {
		t.Errorf("%d entries, parts make %d of %d", len(table.Entries), sum, table.Sum.Int)
	}
	if again := estimated(t, new(query.Query), load.Options{Workers: 1, Memory: 1 << 16, Block: 1 << 12}, true, src); !reflect.DeepEqual(again, got) {
		t.Errorf("read again: got %+v, want %+v", again, got)
	}
	prompts := slices.Sorted(slices.Values(l.Requests.Ints(trace.PromptTokens).Values))
	half := strconv.FormatInt(prompts[len(prompts)/2], 10)
	some := estimated(t, queryOf(t, "filter=prompt_tokens > "+half), load.Options{Workers: 2}, true, src)
	others := estimated(t, queryOf(t, "filter=prompt_tokens <= "+half), load.Options{Workers: 2}, true, src)
	if some.N == 0 || others.N == 0 || some.N+others.N != got.N || some.Tables[0].Sum.Int+others.Tables[0].Sum.Int != table.Sum.Int ||
		some.Tables[0].Entries[2].Sum.Int+others.Tables[0].Entries[2].Sum.Int != table.Entries[2].Sum.Int {
		t.Errorf("%+v and %+v do not make %+v", some.Tables[0], others.Tables[0], table)
	}
}

// TestEstimateRefused: without evidence nothing is told, and every token is left
// out; where chunks do not tell steps apart, long gaps are listed by request.
func TestEstimateRefused(t *testing.T) {
	read := func(seed uint64, complete bool) report.Decomposition {
		var text strings.Builder
		l := simulate.Run(simulate.Random(seed))
		if err := l.WriteTokenlog(&text); err != nil {
			t.Fatal(err)
		}
		return estimated(t, new(query.Query), load.Options{Workers: 2}, complete, textFile{"log.jsonl", "", text.String()})
	}
	d := read(1018, false)
	if d.N != 0 || d.Total.Reason != "coverage" || d.Excluded["coverage"] == 0 || len(d.Tables) != 0 || len(d.Notes) != 1 {
		t.Errorf("%+v", d)
	}
	d = read(1020, true)
	if d.Total.Reason != "steps_not_resolvable" || len(d.Gaps) == 0 || !strings.HasPrefix(d.Gaps[0].Request, "sim-") || d.Gaps[0].Duration < d.Gaps[1].Duration {
		t.Errorf("%+v", d)
	}
	for _, text := range []string{"{\"request_id\":\"a\",\"sent_ns\":1,\"status\":\"failed\"}\n", "{\"request_id\":\"a\",\"sent_ns\":1,\"first_token_ns\":2,\"last_token_ns\":9,\"output_tokens\":4,\"status\":\"ok\"}\n"} {
		d := estimated(t, new(query.Query), load.Options{}, true, textFile{"log.jsonl", "", text})
		if d.Total.Reason != "not_recorded" || d.N != 0 {
			t.Errorf("%s: %+v", text, d)
		}
	}
}

// TestEstimateByGroupAndWindow: what groups and windows get adds up to what the
// run gets, exactly, and each is what a filter gives.
func TestEstimateByGroupAndWindow(t *testing.T) {
	l := simulate.Run(simulate.Random(1018))
	var text strings.Builder
	if err := l.WriteTokenlog(&text); err != nil {
		t.Fatal(err)
	}
	src := textFile{"log.jsonl", "", text.String()}
	ask := func(flags ...string) *report.Report {
		t.Helper()
		s, err := openAll(t, load.Options{Workers: 2}, src)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		q := queryOf(t, flags...)
		r, err := s.Run(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Estimate(t.Context(), q, r, true); err != nil {
			t.Fatal(err)
		}
		return r
	}
	of := func(c *report.Cell) report.Decomposition {
		for _, d := range c.Decompositions {
			if d.Estimated() {
				return d
			}
		}
		return report.Decomposition{Tables: []report.Breakdown{{}}}
	}
	r := ask("by=prompt_tokens", "window=10s")
	run := &r.Runs[0]
	whole := of(&run.Cell)
	for name, cells := range map[string][]*report.Cell{"groups": groupCells(run), "windows": windowCells(run), "windows of groups": innerCells(run)} {
		n, sum, some := int64(0), int64(0), 0
		for _, c := range cells {
			d := of(c)
			if n += d.N; d.N > 0 {
				some++
				sum += d.Tables[0].Sum.Int
			}
		}
		if some < 2 || n != whole.N || sum != whole.Tables[0].Sum.Int {
			t.Errorf("%s: %d with %d tokens and %d ns, want %d and %d", name, some, n, sum, whole.N, whole.Tables[0].Sum.Int)
		}
	}
	from, to := time.Unix(0, run.Windows[1].From).UTC(), time.Unix(0, run.Windows[1].To).UTC()
	alone := of(&ask("from="+from.Format(time.RFC3339Nano), "to="+to.Format(time.RFC3339Nano)).Runs[0].Cell)
	if got := of(&run.Windows[1].Cell); got.N == 0 || !reflect.DeepEqual(got, alone) {
		t.Errorf("second window: %+v, as an interval: %+v", got, alone)
	}
	defer func(n int) { assemble.MaxEstimates = n }(assemble.MaxEstimates)
	assemble.MaxEstimates = 2
	r = ask("window=1s")
	if d := r.Diags[len(r.Diags)-1]; d.Code != "estimates_capped" || d.Count < 1 || of(&r.Runs[0].Windows[1].Cell).N+of(&r.Runs[0].Windows[0].Cell).N == 0 {
		t.Errorf("%+v", r.Diags)
	}
}

func groupCells(r *report.Run) (out []*report.Cell) {
	for i := range r.Groups {
		out = append(out, &r.Groups[i].Cell)
	}
	return out
}

func windowCells(r *report.Run) (out []*report.Cell) {
	for i := range r.Windows {
		out = append(out, &r.Windows[i].Cell)
	}
	return out
}

func innerCells(r *report.Run) (out []*report.Cell) {
	for i := range r.Groups {
		for k := range r.Groups[i].Windows {
			out = append(out, &r.Groups[i].Windows[k].Cell)
		}
	}
	return out
}
