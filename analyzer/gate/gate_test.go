package gate

import (
	"cmp"
	"context"
	"math"
	"strings"
	"testing"

	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

func TestParseLimits(t *testing.T) {
	limits, percentiles, err := ParseLimits(" ttft=500ms, ttft:p99<=1s ,tpot.client:p99.9=50ms")
	if err == nil {
		t.Errorf("tpot.client is no metric: got %v, %v", limits, percentiles)
	}
	limits, percentiles, err = ParseLimits(" ttft=500ms, ttft:p99<=1s ,e2e:p99.9=5s")
	if err != nil || len(limits) != 1 || limits[0].String() != "ttft=500ms" {
		t.Fatalf("got %v, %v", limits, err)
	}
	if len(percentiles) != 2 || percentiles[0].String() != "ttft:p99=1s" || percentiles[1].String() != "e2e:p99.9=5s" || percentiles[1].Share != 999_000 {
		t.Errorf("got %v", percentiles)
	}
	for _, text := range []string{
		"", "ttft", "ttft:99=1s", "ttft:p=1s", "ttft:p0=1s", "ttft:p100=1s", "ttft:p0.99=1s", "ttft:p99.99999=1s",
		"ttft:p-1=1s", "ttft:p99=0s", "ttft:p99=1", "tpott:p99=1s", "ttft:p99=1s,ttft:p99=2s", ":p99=1s", "ttft:p9_9=1s",
	} {
		if l, p, err := ParseLimits(text); err == nil {
			t.Errorf("%q: got %v, %v", text, l, p)
		}
	}
}

func TestParseShare(t *testing.T) {
	f := func(text string, want int64) {
		t.Helper()
		got, err := ParseShare("--share", text)
		if (err == nil) != (want > 0) || err == nil && got != want {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "--share: ") {
			t.Errorf("%q: %v", text, err)
		}
	}
	f("95%", 950_000)
	f(" 99.9 % ", 999_000)
	f("99.9999", 999_999)
	f("100", million)
	f("0.5%", 5_000)
	for _, text := range []string{"0.95", "0", "0%", "101%", "100.0001", "-5", "1e1", "", "%", "99,9", "99999999999999999999"} {
		f(text, 0)
	}
}

// goodput counts 20 requests: 1 failed; of the others, TTFT keeps its limit in 18
// and breaks it in 1; TPOT keeps it in 14, breaks it in 1, 2 have a single token and
// 2 are unknown. One request breaks both: 1 + 1 missed, 2 unknown, 16 good.
func goodput() *report.Goodput {
	return &report.Goodput{
		SLO: []string{"ttft=500ms", "tpot=50ms"}, Denominator: 20, Good: 16, Missed: 2, Unknown: 2,
		Conditions: []report.Condition{
			{Limit: "ttft=500ms", Side: "client", Met: 18, Missed: 1},
			{Limit: "tpot=50ms", Side: "client", Met: 14, Missed: 1, NotApplicable: 2, Unknown: 2},
		},
	}
}

func TestTogether(t *testing.T) {
	f := func(share string, want ...Verdict) {
		t.Helper()
		ppm, err := ParseShare("", share)
		if err != nil {
			t.Fatal(err)
		}
		got := together(goodput(), ppm)
		if len(got) != 3 {
			t.Fatalf("got %+v", got)
		}
		for i, l := range got {
			if l.Within+l.Beyond+l.Unknown+l.NotApplicable != 20 {
				t.Errorf("%s: the parts do not add up: %+v", l.Limit, l)
			}
			if l.Verdict != want[i] || (l.Reason != "") != (want[i] == Unknown) || (l.Fix != "") != (want[i] == Unknown) {
				t.Errorf("%s of %s: got %s (%s), want %s", share, l.Limit, l.Verdict, l.Reason, want[i])
			}
		}
	}
	// TTFT 18/20 = 90 %; TPOT with the single tokens 16/20 = 80 % to 18/20; both 16/20 to 18/20
	f("80%", Met, Met, Met)
	f("80.0001%", Met, Unknown, Unknown)
	f("90%", Met, Unknown, Unknown)
	f("90.0001%", NotMet, NotMet, NotMet)
}

func TestPercentile(t *testing.T) {
	f := func(i int, share int64, want Verdict, low, high float64) {
		t.Helper()
		l := percentile(goodput(), i, Percentile{query.Limit{Metric: "tpot", Max: 5e7}, share})
		if l.Verdict != want || l.Low.V != low || l.High.V != high {
			t.Errorf("p%s: got %s, %v to %v, want %s, %v to %v", percent(share), l.Verdict, l.Low.V, l.High.V, want, low, high)
		}
	}
	// of the 18 requests with more than one token: 14 within, 2 unknown
	f(1, 770_000, Met, 14.0/18, 16.0/18)
	f(1, 780_000, Unknown, 14.0/18, 16.0/18)
	f(1, 890_000, NotMet, 14.0/18, 16.0/18)
	f(0, 900_000, Met, 0.9, 0.9) // the failed request is beyond
	f(0, 900_001, NotMet, 0.9, 0.9)
}

func TestChange(t *testing.T) {
	cell := func(n int64, mean, std float64, side string) *report.Cell {
		return &report.Cell{Metrics: map[string]report.Metric{"ttft": {N: n, Mean: mean, Std: std, Unit: unit.Nanosecond, Side: side}}}
	}
	base := cell(100, 100, 10, "client")
	f := func(run *report.Cell, threshold int64, want Verdict, low, high float64, fix string) {
		t.Helper()
		c := change("ttft", base, run, threshold)
		if c.Verdict != want || math.Abs(c.Low.V-low) > 5e-6 || math.Abs(c.High.V-high) > 5e-6 || c.Low.Known != (low != 0) {
			t.Errorf("got %s, %v to %v (%s), want %s, %v to %v", c.Verdict, c.Low, c.High, c.Reason, want, low, high)
		}
		if (c.Reason != "") != (want == Unknown) || !strings.Contains(c.Fix, fix) {
			t.Errorf("%s: reason %q, fix %q", c.Verdict, c.Reason, c.Fix)
		}
	}
	// q = 1.1: 1.959964·√(1 + 1.21·1)/100 = 0.029137
	slower := cell(100, 110, 10, "client")
	f(slower, 50_000, NotMet, 0.070863, 0.129137, "")
	f(slower, 130_000, Met, 0.070863, 0.129137, "")
	f(slower, 120_000, Unknown, 0.070863, 0.129137, "about 3 times") // (0.029137/0.02)² = 2.12
	// q = 0.9: 1.959964·√(1 + 0.81)/100 = 0.026369
	f(cell(100, 90, 10, "client"), 0, Met, -0.126369, -0.073631, "")
	f(cell(29, 200, 1, "client"), 0, Unknown, 0, 0, "30 requests")
	f(cell(100, 200, 1, "server"), 0, Unknown, 0, 0, "one side")
	f(cell(0, 0, 0, "client"), 0, Unknown, 0, 0, "both record")
	f(cell(100, 110, math.NaN(), "client"), 0, Unknown, 0, 0, "another metric")
	base = cell(100, 0, 0, "client")
	f(slower, 0, Unknown, 0, 0, "another metric")
}

// TestQuantiles: of q₁ = 110 in [100, 125] and q₀ = 100 in [90, 115] the ratio is
// within (11000 - √(121e6 - 100·115·120·85)) / (115·85) = 0.928538 and
// (11000 + √(121e6 - 125·90·95·110)) / (90·110) = 1.298389.
func TestQuantiles(t *testing.T) {
	cell := func(q float64, low, high any) *report.Cell {
		return &report.Cell{Metrics: map[string]report.Metric{"ttft": {
			N: 500, Mean: 7, Unit: unit.Nanosecond, Quantiles: map[string]float64{"0.99": q}, Intervals: map[string][2]any{"0.99": {low, high}},
		}}}
	}
	f := func(base, run *report.Cell, threshold int64, want Verdict, low, high float64, reason string) {
		t.Helper()
		c := change("ttft:p99", base, run, threshold)
		if c.Name() != "ttft:p99" || c.Stat != "0.99" || c.Verdict != want || math.Abs(c.Low.V-low) > 1e-6 || math.Abs(c.High.V-high) > 1e-6 || !strings.Contains(c.Reason, reason) || c.Mean.V != 7 {
			t.Errorf("got %+v, want %s, %v to %v", c, want, low, high)
		}
	}
	base, run := cell(100, 90.0, 115.0), cell(110, 100.0, 125.0)
	f(base, run, 300_000, Met, -0.071462, 0.298389, "")
	f(base, run, 50_000, Unknown, -0.071462, 0.298389, "lies within the interval")
	f(base, cell(300, 290.0, 310.0), 50_000, NotMet, 1.597715, 2.349565, "")
	f(base, cell(110, 100.0, nil), 300_000, Unknown, 0, 0, "too few")
	f(cell(100, 90.0, 200.0), run, 300_000, Unknown, 0, 0, "too few")
	f(cell(0, 0.0, 0.0), run, 300_000, Unknown, 0, 0, "not above 0")
	for text, want := range map[string]int{"ttft, ttft:p99": 2, "ttft:p99.9": 1, "ttft:p98": 0, "ttft:": 0, "itl:p99": 0, "ttft:p99,ttft:p99": 0} {
		if list, err := ParseCompare(text); len(list) != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %q, %v", text, list, err)
		}
	}
}

// asked is a session that answers with one report and notes what it is asked.
type asked struct {
	queries []query.Query
	report  *report.Report
}

func (a *asked) Run(_ context.Context, q *query.Query) (*report.Report, error) {
	a.queries = append(a.queries, *q)
	return a.report, nil
}

func TestJudge(t *testing.T) {
	limits, percentiles, err := ParseLimits("ttft=500ms,tpot=50ms,ttft:p90=500ms")
	if err != nil {
		t.Fatal(err)
	}
	run := report.Run{Label: "a", Cell: report.Cell{Goodput: goodput()}}
	s := &asked{report: &report.Report{Runs: []report.Run{run, {Label: "steps"}}}}
	rule := &Rule{Limits: limits, Percentiles: percentiles, Share: 800_000}
	r, err := Judge(context.Background(), s, &query.Query{By: []string{"model"}}, rule, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.queries) != 2 || len(s.queries[0].SLO) != 2 || len(s.queries[1].SLO) != 1 || s.queries[1].By == nil {
		t.Errorf("asked %+v", s.queries)
	}
	if r.Verdict != Unknown || r.Runs[0].Verdict != Met || r.Runs[1].Verdict != Unknown || len(r.Runs[0].Limits) != 4 {
		t.Errorf("got %+v", r)
	}
	s.report.Runs = nil
	if r, _ = Judge(context.Background(), s, &query.Query{}, rule, nil); r.Verdict != Unknown || r.Reason == "" {
		t.Errorf("without runs: got %+v", r)
	}
}

// TestGroups: a group is judged by the rule of the run, against the same group of the
// baseline, in whatever order; what only one of the two has is unknown.
func TestGroups(t *testing.T) {
	group := func(model string, good, n int64, mean float64) report.Group {
		return report.Group{By: map[string]string{"model": model}, Cell: report.Cell{
			Requests: report.Requests{Total: n},
			Goodput:  &report.Goodput{SLO: []string{"ttft=500ms"}, Denominator: n, Good: good, Missed: n - good, Conditions: []report.Condition{{Limit: "ttft=500ms", Met: good, Missed: n - good}}},
			Metrics:  map[string]report.Metric{"ttft": {N: n, Mean: mean, Std: mean / 100, Unit: unit.Nanosecond}},
		}}
	}
	limits, _, err := ParseLimits("ttft=500ms")
	if err != nil {
		t.Fatal(err)
	}
	run := report.Run{Label: "a", Cell: group("", 180, 200, 150).Cell, Groups: []report.Group{group("a", 100, 100, 100), group("b", 80, 100, 200), group("c", 100, 100, 1)}}
	old := report.Run{Label: "old", Cell: group("", 200, 200, 150).Cell, Groups: []report.Group{group("d", 1, 40, 7), group("b", 100, 100, 100), group("a", 100, 100, 100)}}
	rule := &Rule{Limits: limits, Share: 900_000, Compare: []string{"ttft"}, Threshold: 50_000}
	r, err := Judge(context.Background(), &asked{report: &report.Report{Runs: []report.Run{run}}}, &query.Query{By: []string{"model"}}, rule, &report.Report{Runs: []report.Run{old}})
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		model         string
		n             int64
		limit, change Verdict
	}{{"a", 100, Met, Met}, {"b", 100, NotMet, NotMet}, {"c", 100, Met, Unknown}, {"d", 0, "", Unknown}}
	got := r.Runs[0].Groups
	if len(got) != len(want) || r.Runs[0].Verdict != NotMet || r.Runs[0].Limits[0].Verdict != Met || r.By[0] != "model" {
		t.Fatalf("got %+v", r)
	}
	for i, w := range want {
		g := got[i]
		limit := Verdict("")
		if len(g.Limits) == 1 {
			limit = g.Limits[0].Verdict
		}
		if g.By["model"] != w.model || g.Requests != w.n || limit != w.limit || g.Changes[0].Verdict != w.change || g.Verdict != worse(w.change, cmp.Or(limit, Met)) {
			t.Errorf("got %+v, want %+v", g, w)
		}
	}
	if c := got[3].Changes[0]; c.Value.Known || c.BaseValue.V != 7 || c.Unit != unit.Nanosecond || c.Reason == "" {
		t.Errorf("a group of the baseline alone: %+v", c)
	}
}
