package all

import (
	"math"
	"testing"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/kerneltest"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
)

// TestP21PooledAndPerRequest is also worked vector D1.
func TestP21PooledAndPerRequest(t *testing.T) {
	var chunks []int64
	for i := range int64(101) {
		chunks = append(chunks, 10*i)
	}
	c := cellOf(t, metric.Default, kerneltest.Streamed(0, 2, 0, 100), kerneltest.Streamed(0, 101, chunks...))
	kerneltest.Mean(t, c, "chunk_gap", 101, 1100.0/101)
	kerneltest.Mean(t, c, "tpot", 2, 55)
	g := c.Metrics["chunk_gap"]
	if g.Quantiles["0.99"] != 10e6 || g.Max != 100e6 || g.Requests != 2 {
		t.Errorf("p99 %v, max %v of %d requests", g.Quantiles["0.99"], g.Max, g.Requests)
	}
}

func TestP24PeakIsNotBelowMean(t *testing.T) {
	var chunks, tokens []int64
	for i := range int64(20) {
		chunks, tokens = append(chunks, 100*(i+1)), append(tokens, 5)
	}
	r := kerneltest.Streamed(0, 100, chunks...)
	r.Tokens = tokens
	c := cellOf(t, metric.Default, r)
	kerneltest.Value(t, c, "tps", 50)
	kerneltest.Value(t, c, "tps_peak", 50)
	short := cellOf(t, metric.Default, kerneltest.Streamed(0, 2, 100, 900))
	if v := short.Throughput.Values["tps_peak"]; v.Known || v.Reason != "bucket_longer_than_run" {
		t.Errorf("peak of 0.9 s: %+v", v)
	}
	// Whatever the tokens, the clock and the unknowns.
	for seed := range int64(60) {
		r := kerneltest.Request{}
		r = kerneltest.Streamed(337*seed, 0, 337*seed+seed*13)
		r.Gaps = []int64{}
		for i := range 5 + seed {
			r.Gaps = append(r.Gaps, (i*i*seed*7919)%701)
			r.Last += r.Gaps[i]
		}
		r.N = seed * 3
		if r.Last-r.Send < 1000 {
			continue
		}
		c := cellOf(t, metric.Default, r)
		if peak, mean := c.Throughput.Values["tps_peak"], c.Throughput.Values["tps"]; !peak.Known || peak.V < mean.V*(1-1e-12) {
			t.Errorf("seed %d: peak %+v below mean %+v", seed, peak, mean)
		}
	}
}

// TestP25Speeds is also worked vector D10.
func TestP25Speeds(t *testing.T) {
	c := cellOf(t, metric.Default, kerneltest.Streamed(0, 101, 1000, 2000))
	kerneltest.Mean(t, c, "tps_e2e", 1, 50.5)
	kerneltest.Mean(t, c, "tps_decode", 1, 100)
	kerneltest.Mean(t, c, "tps_request", 1, 100)
}

func TestP26WholeAndBetween(t *testing.T) {
	var rows []kerneltest.Request
	for i := range int64(10) {
		rows = append(rows, kerneltest.Streamed(0, 1, 10_000+1000*i))
	}
	c := cellOf(t, metric.Default, rows...)
	kerneltest.Value(t, c, "request_rate_ok", 10.0/19)
	kerneltest.Value(t, c, "request_rate_completions", 1)
	if from, to := c.Throughput.From, c.Throughput.To; from.Int != 0 || to.Int != 19_000*kerneltest.MS {
		t.Errorf("W = [%d, %d]", from.Int, to.Int)
	}
}

func TestP85FailedOutOfLatency(t *testing.T) {
	var rows []kerneltest.Request
	for i := range int64(8) {
		r := kerneltest.Streamed(i*1000, 2, i*1000+500, i*1000+1000)
		r.Finish = r.Last
		rows = append(rows, r)
	}
	for range 2 {
		bad := kerneltest.Of(trace.Failed)
		bad.Finish = 60_000
		rows = append(rows, bad)
	}
	q := &query.Query{SLO: []query.Limit{{Metric: "e2e", Max: 2000 * kerneltest.MS}}}
	c := runOf(t, metric.Default, q, kerneltest.WallMeta(), rows...)
	kerneltest.Mean(t, c, "e2e", 8, 1000)
	kerneltest.Value(t, c, "request_rate_ok", 1)
	kerneltest.Value(t, c, "request_rate_ok_whole", 8.0/60)
	if c.Goodput.Denominator != 10 || c.Goodput.Share.V != 0.8 || c.Metrics["e2e"].Excluded["failed"] != 2 {
		t.Errorf("%+v, left out %v", c.Goodput, c.Metrics["e2e"].Excluded)
	}
}

func TestP88SteadyWindow(t *testing.T) {
	// 64 slots: the first requests at 0, then one for one, for 40 s; ramps down.
	var rows []kerneltest.Request
	for slot := range int64(64) {
		for at := int64(0); at < 40_000; {
			d := 1000 + 37*slot%500
			r := kerneltest.Streamed(at, 2, at+d/2, at+d)
			r.Finish = at + d
			rows = append(rows, r)
			at += d
		}
	}
	out := run(t, metric.Default, &query.Query{}, []kerneltest.View{{B: kerneltest.Build(kerneltest.WallMeta(), rows...)}}, kerneltest.Whole)
	c := out.Cell(0, -1, kernel.NoWindow).Concurrency
	if c.Max.V != 64 || !c.SteadyFrom.Known || c.SteadyFrom.Int != 0 || c.SteadyTo.Int < 39_000*kerneltest.MS {
		t.Errorf("max %v, steady [%+v, %+v]", c.Max.V, c.SteadyFrom, c.SteadyTo)
	}
	// Open arrivals have no plateau by design, few requests show none.
	var open []kerneltest.Request
	for i := range int64(200) {
		at := 50*i + (i*i*7919)%400
		open = append(open, kerneltest.Streamed(at, 2, at+200, at+200+(i*104729)%1500))
	}
	for reason, rows := range map[string][]kerneltest.Request{"open_loop": open, "few_requests": rows[:29]} {
		c := cellOf(t, metric.Default, rows...).Concurrency
		if c.SteadyFrom.Known || c.SteadyFrom.Reason != reason {
			t.Errorf("%+v, want null for %s", c.SteadyFrom, reason)
		}
	}
	// A limit that the client states and that binds half of the time is enough.
	meta := &trace.RunMeta{Config: []trace.Pair{{Key: "max_concurrency", Value: "64"}}}
	if c := runOf(t, metric.Default, &query.Query{}, meta, rows...).Concurrency; !c.SteadyFrom.Known {
		t.Errorf("with a limit: %+v", c.SteadyFrom)
	}
}

func TestP90FewValues(t *testing.T) {
	var rows []kerneltest.Request
	for _, v := range []int64{10, 20, 30, 40, 50, 60, 70, 80, 90, 1000} {
		rows = append(rows, kerneltest.Streamed(0, 1, v))
	}
	m := cellOf(t, metric.Default, rows...).Metrics["ttft"]
	for q, want := range map[string]float64{"0.5": 55, "0.9": 181, "0.95": 590.5, "0.99": 918.1} {
		if got := m.Quantiles[q] / float64(kerneltest.MS); math.Abs(got-want) > 1e-9 {
			t.Errorf("q%s: %v, want %v", q, got, want)
		}
	}
	c := cellOf(t, metric.Default, rows...)
	kerneltest.Noted(t, c, "ttft", "few_values: p95, p99, p99.9 of 10 values")
	// Order statistics 2 and 9 of 10 enclose the median with 97.9 %, 3 and 8 with 89 % only.
	if got := m.Intervals["0.5"]; got != [2]any{20e6, 90e6} {
		t.Errorf("interval of the median: %v", got)
	}
	if got := m.Intervals["0.99"]; got[1] != nil {
		t.Errorf("ten values do not bound p99 from above: %v", got)
	}
}
