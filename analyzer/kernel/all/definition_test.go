package all

import (
	"math"
	"testing"

	"servescope/analyzer/kernel/kerneltest"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
)

// d2 is 60 s with TTFT ≤ 1 s and TPOT ≤ 50 ms: 5 good, 1 of one token, 2 slow, 2
// failed.
func d2() []kerneltest.Request {
	var rows []kerneltest.Request
	for i := range int64(5) {
		rows = append(rows, kerneltest.Evented(kerneltest.Streamed(1000*i, 11, 1000*i+500, 1000*i+700)))
	}
	rows = append(rows, kerneltest.Evented(kerneltest.Streamed(0, 1, 600)), kerneltest.Evented(kerneltest.Streamed(0, 11, 1500, 1600)), kerneltest.Evented(kerneltest.Streamed(0, 11, 500, 60_000)))
	for i := range rows {
		rows[i].Client, rows[i].Finish = rows[i].N, rows[i].Last
	}
	for range 2 {
		bad := kerneltest.Of(trace.Failed)
		bad.Finish = 100
		rows = append(rows, bad)
	}
	return rows
}

func TestD2Goodput(t *testing.T) {
	q := &query.Query{SLO: []query.Limit{{Metric: "ttft", Max: 1000 * kerneltest.MS}, {Metric: "tpot", Max: 50 * kerneltest.MS}}}
	g := runOf(t, metric.Default, q, kerneltest.WallMeta(), d2()...).Goodput
	if g.Good != 6 || g.Denominator != 10 || g.Missed != 4 || g.Share.V != 0.6 || math.Abs(g.Rate.V-0.1) > 1e-12 {
		t.Errorf("%+v", g)
	}
	if g.MissedBy["ttft"] != 1 || g.MissedBy["tpot"] != 1 || g.MissedBy["failed"] != 2 {
		t.Errorf("missed by %v", g.MissedBy)
	}
	for name, good := range map[string]int64{
		"vllm-2024": 6, "vllm-2026": 6, "aiperf": 5, "genai-perf": 5, "inference-perf": 5, "inference-perf-server": 5,
	} {
		g := runOf(t, kerneltest.Definition(t, name), q, kerneltest.WallMeta(), d2()...).Goodput
		if g.Good != good || g.Denominator != 8 || g.Share.V != float64(good)/8 || math.Abs(g.Rate.V-float64(good)/60) > 1e-12 {
			t.Errorf("%s: %+v", name, g)
		}
	}
	if g := runOf(t, kerneltest.Definition(t, "inference-perf"), q, kerneltest.WallMeta(), d2()...).Goodput; g.Share.V != 0.625 {
		t.Errorf("inference-perf: %v of the successful are good", g.Share.V)
	}
}

// TestD2GoodputClock: a failed request that times out at 110 s extends the clock
// of inference-perf's throughput, but not the clock of its goodput.
func TestD2GoodputClock(t *testing.T) {
	rows := d2()
	rows[len(rows)-1].Finish = 110_000
	q := &query.Query{SLO: []query.Limit{{Metric: "ttft", Max: 1000 * kerneltest.MS}, {Metric: "tpot", Max: 50 * kerneltest.MS}}}
	c := runOf(t, kerneltest.Definition(t, "inference-perf"), q, kerneltest.WallMeta(), rows...)
	if math.Abs(c.Goodput.Rate.V-5.0/60) > 1e-12 {
		t.Errorf("goodput %+v", c.Goodput.Rate)
	}
	kerneltest.Value(t, c, "request_rate", 8.0/110)
}

// TestD3ConcurrencyByBuckets: two requests that never overlap share a second.
func TestD3ConcurrencyByBuckets(t *testing.T) {
	at := func(send, end int64) kerneltest.Request {
		r := kerneltest.Evented(kerneltest.Streamed(send, 2, send+100, end))
		r.Finish = end
		return r
	}
	for name, want := range map[string]float64{"default": 1, "vllm-2026": 1, "vllm-2024": 2} {
		if c := cellOf(t, kerneltest.Definition(t, name), at(0, 400), at(500, 900)); c.Concurrency.Max.V != want {
			t.Errorf("%s: at most %v, want %v", name, c.Concurrency.Max.V, want)
		}
	}
	kerneltest.Value(t, cellOf(t, kerneltest.Definition(t, "sglang"), at(0, 400), at(500, 900)), "concurrency_little", 0.8/0.9)
	// Seconds 0 to 2, 1, 1 to 3 and 3 of the run: three in second 1.
	c := cellOf(t, kerneltest.Definition(t, "vllm-2024"), at(0, 2500), at(1100, 1900), at(1999, 3000), at(3100, 3200))
	kerneltest.Near(t, "max", c.Concurrency.Max.V, 3)
}

// TestD5Duration: 600 tokens; a time-out does not extend W, nor AIPerf's
// duration, but inference-perf's; MLPerf divides by the longest latency.
func TestD5Duration(t *testing.T) {
	last := kerneltest.Streamed(50_000, 599, 55_000, 60_000)
	bad := kerneltest.Of(trace.Failed)
	bad.Finish = 110_000
	rows := []kerneltest.Request{kerneltest.Streamed(0, 1, 10_000), last, bad}
	for i := range rows[:2] {
		rows[i].Client, rows[i].Finish = rows[i].N, rows[i].Last
	}
	c := cellOf(t, metric.Default, rows...)
	kerneltest.Value(t, c, "tps", 10)
	kerneltest.Value(t, c, "tps_whole", 600.0/110)
	if c.Throughput.To.Int != 60_000*kerneltest.MS {
		t.Errorf("W ends at %d", c.Throughput.To.Int)
	}
	for name, want := range map[string]float64{
		"aiperf": 10, "genai-perf": 10, "inference-perf": 600.0 / 110, "vllm-2024": 600.0 / 110, "mlperf": 60, "databricks": 10,
	} {
		kerneltest.Value(t, cellOf(t, kerneltest.Definition(t, name), rows...), "tps_decode", want)
	}
}

// TestDefinitionsWeigh: GuideLLM's requests weigh their tokens, in means and in
// quantiles.
func TestDefinitionsWeigh(t *testing.T) {
	short, long := kerneltest.Streamed(0, 2, 100, 200), kerneltest.Streamed(0, 8, 100, 170)
	short.Finish, long.Finish = 210, 180
	c := cellOf(t, kerneltest.Definition(t, "guidellm"), short, long)
	kerneltest.Mean(t, c, "tpot", 2, (200.0+170)/10) // of 100 and 21.25, by 2 and 8
	if q := c.Metrics["tpot"].Quantiles; q["0.5"] != 21.25*float64(kerneltest.MS) || q["0.9"] != 100*float64(kerneltest.MS) {
		t.Errorf("tpot %v", q)
	}
	if m := c.Metrics["chunk_gap"]; math.Abs(m.Mean-(100+70)/8.0*float64(kerneltest.MS)) > 1e-3 || m.Requests != 2 || m.Quantiles["0.5"] != 10*float64(kerneltest.MS) {
		t.Errorf("itl %+v", m)
	}
	kerneltest.Near(t, "std", c.Metrics["tpot"].Std, math.Sqrt(0.2*63*63+0.8*15.75*15.75)*float64(kerneltest.MS))
}

// TestDefinitionsNull: what a log cannot give is null, with the reason.
func TestDefinitionsNull(t *testing.T) {
	r := kerneltest.Streamed(0, 3, 100, 110, 120)
	for name, of := range map[string]map[string]string{
		"aiperf":         {"tpot": "no_client_count", "output_tokens": "no_client_count"},
		"genai-perf":     {"tpot": "no_client_count", "chunk_gap": "not_defined"},
		"inference-perf": {"tpot": "no_client_count", "ntpot": "no_client_count"},
		"llmperf":        {"tpot": "not_defined", "chunk_gap": "not_recorded", "tps_e2e": "no_client_count"},
		"vllm-2026":      {"ttft": "not_recorded", "chunk_gap": "not_recorded", "tpot": "not_recorded"},
		"mlperf":         {"chunk_gap": "not_defined"},
	} {
		c := cellOf(t, kerneltest.Definition(t, name), r)
		for metric, reason := range of {
			kerneltest.Null(t, c, metric, reason)
		}
	}
	zero := kerneltest.Streamed(0, 3, 100, 100, 120) // two chunks read at once
	zero.Client = 3
	kerneltest.Null(t, cellOf(t, kerneltest.Definition(t, "aiperf"), zero), "chunk_gap", "order")
	kerneltest.Mean(t, cellOf(t, kerneltest.Definition(t, "aiperf"), zero), "tpot", 1, 10)
	one := kerneltest.Streamed(0, 1, 100)
	one.Client, one.Finish = 1, 100
	kerneltest.Null(t, cellOf(t, kerneltest.Definition(t, "inference-perf"), one), "ttft", "n_lt_2")
	kerneltest.Null(t, cellOf(t, kerneltest.Definition(t, "mlperf"), one), "tpot", "n_lt_2")
	empty := kerneltest.Of(trace.Empty)
	empty.N, empty.Finish, empty.Client = 0, 50, 0
	two := kerneltest.Streamed(0, 2, 50, 100)
	two.Client, two.Finish = 2, 100
	kerneltest.Mean(t, cellOf(t, kerneltest.Definition(t, "inference-perf"), empty, two), "ntpot", 2, 25) // 0 is averaged in
}

// TestDefinitionsOwnCounts: what a tool's own file counts is its N; where the file
// tells two counts, the tool's choice.
func TestDefinitionsOwnCounts(t *testing.T) {
	r := kerneltest.Streamed(0, 10, 100, 110)
	r.Tokens = []int64{5, 5}
	meta := kerneltest.WallMeta()
	meta.DefaultDefinition = "inference-perf"
	kerneltest.Mean(t, runOf(t, kerneltest.Definition(t, "inference-perf"), &query.Query{}, meta, r), "output_tokens", 1, 10)
	r.Client = 9
	kerneltest.Mean(t, runOf(t, kerneltest.Definition(t, "inference-perf"), &query.Query{}, meta, r), "output_tokens", 1, 9)
	kerneltest.Mean(t, runOf(t, kerneltest.Definition(t, "inference-perf-server"), &query.Query{}, meta, r), "output_tokens", 1, 10)
	kerneltest.Null(t, cellOf(t, kerneltest.Definition(t, "genai-perf"), kerneltest.Streamed(0, 10, 100, 110)), "output_tokens", "no_client_count")
}

// TestDefinitionsWhole: loadgen's quotients and means are whole nanoseconds.
func TestDefinitionsWhole(t *testing.T) {
	c := cellOf(t, kerneltest.Definition(t, "mlperf"), kerneltest.Streamed(0, 4, 100, 120), kerneltest.Streamed(0, 4, 100, 110))
	// 20 ms and 10 ms over 3: 6 666 666 and 3 333 333, their mean 4 999 999.5.
	if got := c.Metrics["tpot"].Mean; got != 4_999_999 {
		t.Errorf("mean of whole ns %v", got)
	}
}

// TestDefinitionsPeak: vLLM counts chunks by seconds from the first send.
func TestDefinitionsPeak(t *testing.T) {
	r := kerneltest.Evented(kerneltest.Streamed(700, 30, 1600, 1650, 1699, 1700, 1800))
	c := cellOf(t, kerneltest.Definition(t, "vllm-2026"), r)
	kerneltest.Value(t, c, "tps_peak", 3)
}
