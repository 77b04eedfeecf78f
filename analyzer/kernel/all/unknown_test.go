package all

import (
	"testing"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/kerneltest"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
)

// Unknown is never 0: the tests of this file take away what a figure needs.

// TestTPOTOfOneInstantIsNull: tokens of one chunk, or of chunks with equal
// stamps, have no time per token, and no objective is met by it.
func TestTPOTOfOneInstantIsNull(t *testing.T) {
	total := kerneltest.Streamed(0, 9, 100)
	total.Finish = 150 // the stream closes later: no token took that time
	rows := []kerneltest.Request{kerneltest.Streamed(0, 9, 100), kerneltest.Streamed(0, 2, 100, 100), total}
	c := cellOf(t, metric.Default, rows...)
	for _, name := range []string{"tpot", "tps_request", "tps_decode"} {
		kerneltest.Null(t, c, name, "no_span")
		if got := c.Metrics[name].Excluded["no_span"]; got != 3 {
			t.Errorf("%s: %d excluded for no_span, want 3", name, got)
		}
	}
	if m := c.Metrics["tpot_from_total"]; m.N != 0 {
		t.Errorf("tpot_from_total: %+v", m)
	}
	if v := c.Throughput.Values["tpot_weighted"]; v.Known {
		t.Errorf("tpot_weighted is %v", v.V)
	}
	q := &query.Query{SLO: []query.Limit{{Metric: "tpot", Max: 50 * kerneltest.MS}}}
	if g := runOf(t, metric.Default, q, kerneltest.WallMeta(), rows...).Goodput; g.Good != 0 || g.Unknown != 3 {
		t.Errorf("goodput of requests without TPOT: %+v", g)
	}
	// vLLM's client divides its own latencies: it writes 0.
	kerneltest.Mean(t, cellOf(t, kerneltest.Definition(t, "vllm-2026"), kerneltest.Evented(kerneltest.Streamed(0, 9, 100))), "tpot", 1, 0)
}

// TestEngineTTFTIsNeverBare: the engine's first token after queueing gives
// ttft_engine and nothing else.
func TestEngineTTFTIsNeverBare(t *testing.T) {
	r := kerneltest.Streamed(0, 3, 100, 150, 200)
	r.Side, r.Event, r.Answer = trace.Engine, 100, 100
	b := kerneltest.Build(kerneltest.WallMeta(), r)
	q := &query.Query{SLO: []query.Limit{{Metric: "ttft", Max: 5000 * kerneltest.MS}}}
	c := run(t, metric.Default, q, []kerneltest.View{{B: b}}, kerneltest.Whole).Cell(0, -1, kernel.NoWindow)
	kerneltest.Mean(t, c, "ttft_engine", 1, 100)
	for _, name := range []string{"ttft", "ttfot", "first_event", "ttft_server", "ttft_client"} {
		kerneltest.Null(t, c, name, "not_recorded")
	}
	if g := c.Goodput; g.Unknown != 1 || g.Good != 0 || g.Denominator != 1 || g.ShareLow.V != 0 || g.ShareHigh.V != 1 {
		t.Errorf("goodput by ttft: %+v", g)
	}
	l := request.LatenciesOf(b, metric.Default)
	l.Load(0)
	if v, known := l.TTFT(); known {
		t.Errorf("the column says %d", v)
	}
	if v, known := l.TPOT(); !known || v != 50e6 {
		t.Errorf("TPOT is %v, %v", v, known)
	}
	values, known := make([]float64, 1), make([]bool, 1)
	column := request.Column(metric.Default)
	if column("ttft", &kernel.View{Batch: b}, values, known); known[0] {
		t.Errorf("a filter by ttft sees %v", values[0])
	}
	if column("ttft.engine", &kernel.View{Batch: b}, values, known); !known[0] || values[0] != 100e6 {
		t.Errorf("a filter by ttft.engine sees %v, %v", values[0], known[0])
	}
	q.SLO[0].Metric = "ttft_engine"
	if g := run(t, metric.Default, q, []kerneltest.View{{B: b}}, kerneltest.Whole).Cell(0, -1, kernel.NoWindow).Goodput; g.Good != 1 {
		t.Errorf("goodput by ttft.engine: %+v", g)
	}
}

// TestPromptOfEmptyCounts: the prompt of a response without a token is known.
func TestPromptOfEmptyCounts(t *testing.T) {
	empty := kerneltest.Of(trace.Empty)
	empty.Prompt, empty.Cached, empty.Finish = 30, 10, 5
	other := kerneltest.Streamed(0, 2, 100, 200)
	other.Prompt, other.Cached = 10, 0
	c := cellOf(t, metric.Default, empty, other)
	kerneltest.Mean(t, c, "prompt_tokens", 2, 20)
	kerneltest.Mean(t, c, "cached_tokens", 2, 5)
	kerneltest.Mean(t, c, "output_tokens", 1, 2)
}

// TestCachedBeyondPromptIsInconsistent: a prompt cannot be cached more often
// than it has tokens.
func TestCachedBeyondPromptIsInconsistent(t *testing.T) {
	bad, good := kerneltest.Streamed(0, 2, 100, 1000), kerneltest.Streamed(0, 2, 100, 500)
	bad.Prompt, bad.Cached = 4, 9
	good.Prompt, good.Cached = 4, 3
	c := cellOf(t, metric.Default, bad, good)
	kerneltest.Mean(t, c, "cached_tokens", 1, 3)
	if got := c.Metrics["cached_tokens"].Excluded["inconsistent"]; got != 1 {
		t.Errorf("%d excluded as inconsistent", got)
	}
	kerneltest.Value(t, c, "tps_end_to_end", 12)
	kerneltest.Value(t, c, "tps_end_to_end_computed", 5) // 4 - 3 of the prompt that tells, 4 of output
	kerneltest.Saying(t, c, "1 request does not tell its cached tokens", "tps_end_to_end_computed", "cached_token_share")
	kerneltest.UnknownValue(t, cellOf(t, metric.Default, bad), "inconsistent", "tps_end_to_end_computed", "cached_token_share")
	good.Cached = request.None
	kerneltest.UnknownValue(t, cellOf(t, metric.Default, good), "not_recorded", "tps_end_to_end_computed", "cached_token_share")
}

// blind returns a request with stamps and without a count of tokens.
func blind(send, first, last int64) kerneltest.Request {
	r := kerneltest.Streamed(send, -1, first, last)
	r.Gaps, r.Prompt = nil, 5
	return r
}

// TestUnknownCountsAreNull: W is [0, 4] s; 10 prompt tokens are known, and not
// a single output token.
func TestUnknownCountsAreNull(t *testing.T) {
	c := cellOf(t, metric.Default, blind(0, 1000, 2000), blind(1000, 2000, 4000))
	kerneltest.UnknownValue(t, c, "n_unknown", "tps", "tps_ok", "tps_whole", "tps_peak", "tps_decode", "tps_end_to_end", "tps_end_to_end_computed",
		"prefill_token_share", "decode_token_share", "tpot_weighted", "tps_total_model", "tps_replica_model", "identity_ratio", "weighting_ratio")
	kerneltest.Value(t, c, "tps_prompt", 2.5)
	kerneltest.Value(t, c, "request_rate", 0.5)
	kerneltest.Value(t, c, "batch_decode", 0.75) // 1 s and 2 s of 4 s
}

// TestPartlyUnknownCountsAreNoted: one of three counts is known, 50 tokens; the
// model is about that request alone.
func TestPartlyUnknownCountsAreNoted(t *testing.T) {
	known := blind(1000, 2000, 4000)
	known.N = 50
	c := cellOf(t, metric.Default, blind(0, 1000, 2000), blind(1000, 2000, 4000), known)
	kerneltest.Value(t, c, "tps_prompt", 15.0/4)
	kerneltest.Value(t, c, "tps_end_to_end", 65.0/4)
	for _, name := range []string{"tps", "tps_ok", "tps_whole", "tps_decode"} {
		kerneltest.Value(t, c, name, 12.5)
	}
	kerneltest.Saying(t, c, "2 requests have an unknown number", "tps", "tps_ok", "tps_whole", "tps_decode", "tps_peak", "tps_end_to_end", "decode_token_share")
	kerneltest.Value(t, c, "tps_total_model", 49.0/4)
	kerneltest.Value(t, c, "identity_ratio", 49.0/50)
	kerneltest.Value(t, c, "weighting_ratio", 49.0/50) // one sequence: no dispersion
	kerneltest.Saying(t, c, "2 sequences", "tps_total_model", "identity_ratio", "weighting_ratio", "tpot_weighted")
}

// TestUnknownCountsInWindows: a request of unknown length is missing in every
// window that it decodes in, also in windows after its arrival.
func TestUnknownCountsInWindows(t *testing.T) {
	known := kerneltest.Streamed(0, 3, 500, 1500, 2500)
	out := run(t, metric.Default, &query.Query{Window: 1000 * kerneltest.MS}, []kerneltest.View{{B: kerneltest.Build(kerneltest.WallMeta(), blind(0, 1200, 3500), known)}}, kerneltest.Whole)
	kerneltest.Saying(t, out.Cell(0, -1, 1000*kerneltest.MS), "1 request has", "tps", "tps_ok")
	kerneltest.Saying(t, out.Cell(0, -1, 2000*kerneltest.MS), "1 request has", "tps", "tps_ok")
	kerneltest.UnknownValue(t, out.Cell(0, -1, 3000*kerneltest.MS), "n_unknown", "tps", "tps_ok", "tps_decode", "tps_end_to_end")
	if v := out.Cell(0, -1, 0).Throughput.Values["tps"]; !v.Known || v.V != 1 || v.Note != "" {
		t.Errorf("before its first token: %+v", v)
	}
	kerneltest.Saying(t, out.Cell(0, -1, kernel.NoWindow), "1 request has", "tps")
}

// TestFailedWithoutCount: a failed request that showed a token emitted some; one
// that showed none is short of nothing.
func TestFailedWithoutCount(t *testing.T) {
	shown, none := kerneltest.Of(trace.Failed), kerneltest.Of(trace.Failed)
	shown.First, shown.Finish, none.Finish = 300, 800, 800
	c := cellOf(t, metric.Default, kerneltest.Streamed(0, 11, 100, 1000), shown, none)
	kerneltest.Saying(t, c, "1 request has", "tps")
	if v := c.Throughput.Values["tps_ok"]; v.V != 11 || v.Note != "" {
		t.Errorf("tps_ok: %+v", v)
	}
}

// TestUnknownPromptsAreNoted: two of three prompts are unknown.
func TestUnknownPromptsAreNoted(t *testing.T) {
	r := kerneltest.Streamed(0, 2, 100, 1000)
	r.Prompt, r.Cached = 7, 2
	c := cellOf(t, metric.Default, r, kerneltest.Streamed(0, 2, 100, 900), kerneltest.Streamed(0, 2, 100, 900))
	kerneltest.Value(t, c, "tps_prompt", 7)
	kerneltest.Value(t, c, "tps_end_to_end", 13)
	kerneltest.Value(t, c, "prefill_token_share", 7.0/9) // of the one request that tells both: 7 and 2
	kerneltest.Value(t, c, "decode_token_share", 2.0/9)
	kerneltest.Saying(t, c, "2 requests are of unknown length", "tps_prompt", "tps_end_to_end", "tps_end_to_end_computed", "prefill_token_share")
}

// TestModelWithoutTPOTIsNull: whatever a null is divided by, nothing comes out.
func TestModelWithoutTPOTIsNull(t *testing.T) {
	c := cellOf(t, metric.Default, kerneltest.Streamed(0, 4, 100), kerneltest.Streamed(0, 6, 200))
	kerneltest.UnknownValue(t, c, "no_span", "tpot_weighted", "tps_total_model", "identity_ratio", "weighting_ratio")
	one := kerneltest.Of(trace.OK)
	one.Stream, one.First, one.Last, one.Finish, one.N = 0, -1, -1, 500, 20
	c = cellOf(t, metric.Default, one)
	kerneltest.UnknownValue(t, c, "not_recorded", "tpot_weighted", "batch_decode", "tps_total_model", "identity_ratio", "weighting_ratio")
}

// TestWeightingIsOverTheModelsRequests: a failed request decodes as well, so
// its TPOT is among those whose mean the ratio is about: 10 and 30 ms.
func TestWeightingIsOverTheModelsRequests(t *testing.T) {
	failed := kerneltest.Streamed(0, 11, 100, 400)
	failed.Status = trace.Failed
	c := cellOf(t, metric.Default, kerneltest.Streamed(0, 11, 100, 200), failed)
	b := 1.0 // 100 and 300 ms of 400 ms
	kerneltest.Value(t, c, "weighting_ratio", b/0.020/(22/0.4))
	kerneltest.Value(t, c, "identity_ratio", 20.0/22)
}

// TestCompletionsOfSeveralClocks: ends on clocks that cannot be compared have no
// first and no last.
func TestCompletionsOfSeveralClocks(t *testing.T) {
	var rows []kerneltest.Request
	for i := range int64(20) {
		r := kerneltest.Streamed(1000*i, 2, 1000*i+100, 1000*i+200)
		r.Clock = []string{"monotonic/a", "monotonic/b"}[i%2]
		rows = append(rows, r)
	}
	c := cellOf(t, metric.Default, rows...)
	kerneltest.UnknownValue(t, c, "clock", "request_rate", "request_rate_ok", "request_rate_ok_whole", "request_rate_completions", "tps", "tps_whole", "tps_peak", "concurrency_mean")
}

// TestRequestsOfNoClock: requests whose clock cannot be compared with the clock of the
// other requests have no part in W.
func TestRequestsOfNoClock(t *testing.T) {
	lost := kerneltest.Streamed(0, 2, 100, 200)
	lost.Clock = "request"
	c := cellOf(t, metric.Default, kerneltest.Streamed(0, 2, 100, 2000), lost)
	kerneltest.UnknownValue(t, c, "clock", "request_rate", "tps", "tps_prompt", "concurrency_mean", "batch_decode", "request_rate_completions")
}

// TestFewCompletions: two requests that end together make no rate.
func TestFewCompletions(t *testing.T) {
	var rows []kerneltest.Request
	for i := range int64(10) {
		rows = append(rows, kerneltest.Streamed(0, 2, 100, 1000+100*i))
	}
	kerneltest.Value(t, cellOf(t, metric.Default, rows...), "request_rate_completions", 10)
	kerneltest.UnknownValue(t, cellOf(t, metric.Default, rows[:9]...), "few_requests", "request_rate_completions")
}

// TestPeakIsOfOneSecond: six tokens of the last 1.4 s are no rate of a second:
// the second (2, 3] holds four, and the rest of 0.4 s two.
func TestPeakIsOfOneSecond(t *testing.T) {
	c := cellOf(t, metric.Default, kerneltest.Streamed(0, 8, 500, 1500, 2100, 2300, 2500, 2700, 3200, 3400))
	kerneltest.Value(t, c, "tps_peak", 4)
}

// TestLittleLeavesOpenRequestsOut: an open request has no residence; the sweep
// holds it in flight to the end of W.
func TestLittleLeavesOpenRequestsOut(t *testing.T) {
	open := kerneltest.Of(trace.Open)
	open.First, open.Last, open.N = 100, 200, 2
	done := kerneltest.Streamed(0, 11, 100, 1000)
	done.Finish = 1000
	c := cellOf(t, metric.Default, done, open)
	kerneltest.Value(t, c, "concurrency_mean", 2)
	kerneltest.Value(t, c, "concurrency_little", 1)
	kerneltest.Saying(t, c, "1 request ", "concurrency_little")
	kerneltest.Saying(t, c, "trust concurrency_mean", "concurrency_little")
}

// TestObjectiveOfAnotherSide: a server log cannot tell what its clients saw.
func TestObjectiveOfAnotherSide(t *testing.T) {
	var rows []kerneltest.Request
	for range 4 {
		r := kerneltest.Streamed(0, 11, 100, 1000)
		r.Side = trace.Server
		rows = append(rows, r)
	}
	rows[3].Status = trace.Failed
	q := &query.Query{SLO: []query.Limit{{Metric: "ttft_client", Max: 300 * kerneltest.MS}}}
	g := runOf(t, metric.Default, q, kerneltest.WallMeta(), rows...).Goodput
	if g.Unknown != 3 || g.Missed != 1 || g.Denominator != 4 || g.ShareLow.V != 0 || g.ShareHigh.V != 0.75 {
		t.Errorf("%+v", g)
	}
	if g.Share.Known || g.Rate.Known || g.Rate.Reason != "unknown_verdicts" {
		t.Errorf("share %+v, rate %+v", g.Share, g.Rate)
	}
}

// TestTokenLatencyOfSingleTokens: as many chunks as tokens carry one each, so
// that gaps are latencies of tokens; one request of which that is not known
// takes it away from the cells that hold its gaps, and from no other.
func TestTokenLatencyOfSingleTokens(t *testing.T) {
	even, other := kerneltest.Streamed(0, 3, 100, 120, 160), kerneltest.Streamed(0, 3, 1100, 1130, 1190)
	c := cellOf(t, metric.Default, even, other, kerneltest.Streamed(0, 1, 50))
	kerneltest.Mean(t, c, "token_latency", 4, 37.5)
	if m := c.Metrics["token_latency"]; m.Quantiles["0.5"] != 35e6 || m.Requests != 2 || m.Excluded["n_lt_2"] != 1 || m.Unit != "ns/token" {
		t.Errorf("%+v", m)
	}
	bursts := other
	bursts.N = 7 // over three chunks
	kerneltest.Null(t, cellOf(t, metric.Default, even, bursts), "token_latency", "not_recorded")
	bursts.N = 3
	bursts.Source = trace.FromRequested // not a count
	kerneltest.Null(t, cellOf(t, metric.Default, even, bursts), "token_latency", "not_recorded")
	for _, cut := range []func(func() kernel.State, []kerneltest.View) kernel.State{kerneltest.Whole, func(fresh func() kernel.State, views []kerneltest.View) kernel.State {
		a, b := fresh(), fresh()
		b.Update(views[0].Of())
		if err := a.LoadState(b.AppendState(nil)); err != nil {
			t.Fatal(err)
		}
		return a
	}} {
		out := run(t, metric.Default, &query.Query{Window: 1000 * kerneltest.MS}, []kerneltest.View{{B: kerneltest.Build(kerneltest.WallMeta(), even, bursts)}}, cut)
		kerneltest.Mean(t, out.Cell(0, -1, 0), "token_latency", 2, 30)
		kerneltest.Null(t, out.Cell(0, -1, 1000*kerneltest.MS), "token_latency", "not_recorded")
		kerneltest.Null(t, out.Cell(0, -1, kernel.NoWindow), "token_latency", "not_recorded")
	}
}

// TestObjectiveOnClientWait: the client's wait is judged by its own rows, also
// where the server gives the latencies.
func TestObjectiveOnClientWait(t *testing.T) {
	client, server := kerneltest.Streamed(50, 2, 100, 200), kerneltest.Streamed(60, 2, 90, 190)
	client.Scheduled, server.Side = 0, trace.Server
	q := &query.Query{SLO: []query.Limit{{Metric: "client_wait", Max: 40 * kerneltest.MS}}}
	if g := runOf(t, metric.Default, q, kerneltest.WallMeta(), client, server).Goodput; g.Missed != 1 || g.Denominator != 1 {
		t.Errorf("%+v", g)
	}
}

// TestSpreadTokensAreNoted: where between its first and last token a request
// emitted the others is assumed, which matters to windows only.
func TestSpreadTokensAreNoted(t *testing.T) {
	r := kerneltest.Streamed(0, 9, 200, 1800)
	r.Gaps = nil
	out := run(t, metric.Default, &query.Query{Window: 1000 * kerneltest.MS}, []kerneltest.View{{B: kerneltest.Build(kerneltest.WallMeta(), r)}}, kerneltest.Whole)
	kerneltest.Saying(t, out.Cell(0, -1, 0), "1 request are spread evenly", "tps", "tps_ok", "tps_decode")
	kerneltest.Saying(t, out.Cell(0, -1, 1000*kerneltest.MS), "1 request are spread evenly", "tps")
	if v := out.Cell(0, -1, kernel.NoWindow).Throughput.Values["tps"]; v.Note != "" || v.V != 5 {
		t.Errorf("of the run: %+v", v)
	}
}

// TestModelCountsUndatedRequests: 10 tokens of a request without the stamp of
// its first one are in the measured rate, and not in the model: 10 of 21.
func TestModelCountsUndatedRequests(t *testing.T) {
	undated := kerneltest.Streamed(0, 10, 500)
	undated.First, undated.Last, undated.Finish, undated.Gaps = -1, 900, 900, nil
	c := cellOf(t, metric.Default, kerneltest.Streamed(0, 11, 100, 1000), undated)
	kerneltest.Value(t, c, "identity_ratio", 10.0/21)
	kerneltest.Value(t, c, "batch_decode", 0.9)
	kerneltest.Saying(t, c, "1 request does not tell when", "identity_ratio", "weighting_ratio", "tps_total_model", "batch_decode", "tpot_weighted")
}

// TestBeamHasNoTPOT: the tokens of beams that lost are in no count. What a tool
// computes all the same it computes.
func TestBeamHasNoTPOT(t *testing.T) {
	meta := kerneltest.WallMeta()
	meta.Config = []trace.Pair{{Key: "use_beam_search", Value: "true"}}
	r := kerneltest.Evented(kerneltest.Streamed(0, 11, 100, 200))
	r.Finish = 200
	c := runOf(t, metric.Default, new(query.Query), meta, r)
	for _, name := range []string{"tpot", "tpot_from_total", "tps_request", "tps_decode"} {
		kerneltest.Null(t, c, name, "beam")
	}
	for _, name := range []string{"tpot_weighted", "tps_total_model", "identity_ratio", "weighting_ratio"} {
		if v, ok := c.Throughput.Values[name]; !ok || v.Known || v.Reason != "beam" {
			t.Errorf("%s: %+v", name, v)
		}
	}
	kerneltest.Value(t, c, "batch_decode", 0.5) // (200 - 100) of 200 ns: it is decoding all the same
	kerneltest.Mean(t, c, "ttft", 1, 100)
	if m := runOf(t, kerneltest.Definition(t, "vllm-2024"), new(query.Query), meta, r).Metrics["tpot"]; m.N != 1 {
		t.Errorf("vllm-2024: %+v", m)
	}
	meta.Config[0].Value = "false"
	kerneltest.Mean(t, runOf(t, metric.Default, new(query.Query), meta, r), "tpot", 1, 10)
}

// TestBeamOfOneRequest: where single requests use beam search, they have no TPOT, and the
// other requests keep theirs.
func TestBeamOfOneRequest(t *testing.T) {
	beam, other := kerneltest.Streamed(0, 11, 100, 500), kerneltest.Streamed(0, 11, 100, 300)
	beam.Beam = true
	beam.Finish, other.Finish = 600, 400
	c := cellOf(t, metric.Default, beam, other)
	for name, want := range map[string]float64{"tpot": 20, "tpot_from_total": 30} {
		kerneltest.Mean(t, c, name, 1, want)
		if m := c.Metrics[name]; m.Excluded["beam"] != 1 || len(m.Excluded) != 1 {
			t.Errorf("%s: %v", name, m.Excluded)
		}
	}
	kerneltest.Mean(t, c, "ttft", 2, 100)
	kerneltest.Mean(t, c, "e2e", 2, 400)
	kerneltest.Value(t, c, "tpot_weighted", 20e6)
	kerneltest.Value(t, c, "batch_decode", 1.2) // (400 + 200) of 500 ms: it is decoding all the same
	kerneltest.Value(t, c, "identity_ratio", 10.0/22)
	kerneltest.Saying(t, c, "sequences of beam search are left out", "tpot_weighted", "identity_ratio", "weighting_ratio", "tps_total_model")
	if g := runOf(t, metric.Default, &query.Query{SLO: []query.Limit{{Metric: "tpot", Max: 50 * kerneltest.MS}}}, kerneltest.WallMeta(), beam, other).Goodput; g.Good != 1 || g.Unknown != 1 {
		t.Errorf("%+v", g)
	}
	beam, other = kerneltest.Evented(beam), kerneltest.Evented(other)
	kerneltest.Mean(t, cellOf(t, kerneltest.Definition(t, "vllm-2024"), beam, other), "tpot", 2, 40)
}
