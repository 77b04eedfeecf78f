package all

import (
	"strings"
	"testing"

	"servescope/analyzer/kernel/kerneltest"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// worked is the request of the worked vector: send 0, role chunk 100, reasoning
// token 120, three chunks of 3 at 150, 180, 210, usage 260, done 261.
func worked() kerneltest.Request {
	r := kerneltest.Streamed(0, 10, 120, 150, 180, 210)
	r.Event, r.Answer, r.Finish = 100, 150, 261
	r.Tokens = []int64{1, 3, 3, 3}
	r.Kind, r.Reasoning, r.Client = request.KindReasoning, 1, 9
	return r
}

// TestWorkedVector holds one request under every definition.
func TestWorkedVector(t *testing.T) {
	c := cellOf(t, metric.Default, worked())
	kerneltest.Mean(t, c, "ttft", 1, 120)
	kerneltest.Mean(t, c, "ttfot", 1, 150)
	kerneltest.Mean(t, c, "thinking_time", 1, 30)
	kerneltest.Mean(t, c, "first_event", 1, 100)
	kerneltest.Mean(t, c, "e2e", 1, 210)
	kerneltest.Mean(t, c, "e2e_stream_end", 1, 261)
	kerneltest.Mean(t, c, "output_tokens", 1, 10)
	kerneltest.Mean(t, c, "tpot", 1, 10)
	kerneltest.Mean(t, c, "tpot_from_total", 1, 141.0/9)
	kerneltest.Mean(t, c, "tpot_after_first_chunk", 1, 10)
	kerneltest.Mean(t, c, "chunk_gap", 3, 30)
	kerneltest.Mean(t, c, "tokens_per_chunk", 3, 3)
	kerneltest.Mean(t, c, "token_latency", 9, 10)
	kerneltest.Mean(t, c, "tps_request", 1, 100)
	kerneltest.Mean(t, c, "tps_decode", 1, 100)
	kerneltest.Mean(t, c, "tps_e2e", 1, 10/0.210)

	c = cellOf(t, kerneltest.Definition(t, "vllm-2026"), worked())
	kerneltest.Mean(t, c, "ttft", 1, 100)
	kerneltest.Mean(t, c, "e2e", 1, 210)
	kerneltest.Mean(t, c, "tpot", 1, 110.0/9)
	kerneltest.Mean(t, c, "chunk_gap", 4, 27.5)

	c = cellOf(t, kerneltest.Definition(t, "vllm-2024"), worked())
	kerneltest.Mean(t, c, "ttft", 1, 150)
	kerneltest.Mean(t, c, "e2e", 1, 261)
	kerneltest.Mean(t, c, "tpot", 1, 111.0/9)
	kerneltest.Mean(t, c, "chunk_gap", 2, 30)

	c = cellOf(t, kerneltest.Definition(t, "sglang"), worked())
	kerneltest.Mean(t, c, "ttft", 1, 150)
	kerneltest.Mean(t, c, "e2e", 1, 261)
	kerneltest.Mean(t, c, "tpot", 1, 111.0/9)
	kerneltest.Mean(t, c, "chunk_gap", 2, 30)
	spec := worked()
	spec.Accepted = 6
	c = cellOf(t, kerneltest.Definition(t, "sglang"), spec)
	kerneltest.Mean(t, c, "chunk_gap", 6, 10)
}

func TestP01RoleChunk(t *testing.T) {
	r := kerneltest.Streamed(0, 3, 214, 230, 246)
	r.Event = 5
	c := cellOf(t, metric.Default, r)
	kerneltest.Mean(t, c, "ttft", 1, 214)
	kerneltest.Mean(t, c, "first_event", 1, 5)
	kerneltest.Mean(t, c, "chunk_gap", 2, 16)
	kerneltest.Mean(t, c, "tpot", 1, 16)
	kerneltest.Null(t, c, "ttft_upper", "first_token_recorded")
	c = cellOf(t, kerneltest.Definition(t, "vllm-2026"), r)
	kerneltest.Mean(t, c, "ttft", 1, 5)
	kerneltest.Mean(t, c, "chunk_gap", 3, 241.0/3)
	if got := c.Metrics["ttft"].Definition; got != "vllm-2026" {
		t.Errorf("the definition is %q", got)
	}
	// A source that records events alone: both figures are shown.
	only := kerneltest.Streamed(0, 3, 5, 214, 230, 246)
	only.Event = 5
	c = cellOf(t, metric.Default, only)
	kerneltest.Mean(t, c, "ttft", 1, 5)
	kerneltest.Mean(t, c, "ttft_upper", 1, 214)
	kerneltest.Noted(t, c, "ttft", "first_event")
	kerneltest.Noted(t, c, "ttft_upper", "role_chunk_possible")
	only.Gaps, only.Last = []int64{0, 16}, 21
	c = cellOf(t, metric.Default, only)
	if n := len(c.Metrics["ttft_upper"].Notes); n > 1 { // few_values alone
		t.Errorf("a first gap of 0 moves nothing: %v", c.Metrics["ttft_upper"].Notes)
	}
}

// reasoning is case P03: 100 reasoning tokens 20 ms apart, then two of the answer.
func reasoning() kerneltest.Request {
	var chunks []int64
	for i := range int64(102) {
		chunks = append(chunks, 100+20*i)
	}
	r := kerneltest.Streamed(0, 102, chunks...)
	r.Event, r.Answer, r.Kind, r.Reasoning = 90, 2100, request.KindReasoning, 100
	return r
}

func TestP03Reasoning(t *testing.T) {
	c := cellOf(t, metric.Default, reasoning())
	kerneltest.Mean(t, c, "ttft", 1, 100)
	kerneltest.Mean(t, c, "ttfot", 1, 2100)
	kerneltest.Mean(t, c, "thinking_time", 1, 2000)
	kerneltest.Mean(t, c, "output_tokens", 1, 102)
	kerneltest.Mean(t, c, "tpot", 1, 20)
	cut := reasoning() // ends inside of thinking
	cut.Answer = -1
	c = cellOf(t, metric.Default, cut)
	kerneltest.Mean(t, c, "ttft", 1, 100)
	kerneltest.Null(t, c, "ttfot", "no_answer_token")
}

func TestP05NoTextIsNotZero(t *testing.T) {
	empty := kerneltest.Of(trace.Empty)
	empty.N, empty.Finish = 0, 3
	c := cellOf(t, metric.Default, empty, kerneltest.Streamed(0, 2, 100, 120))
	kerneltest.Mean(t, c, "ttft", 1, 100)
	kerneltest.Mean(t, c, "tpot", 1, 20)
	if c.Requests.Empty != 1 || c.Requests.OK != 1 || c.Metrics["ttft"].Excluded["no_token"] != 1 {
		t.Errorf("%+v, ttft leaves out %v", c.Requests, c.Metrics["ttft"].Excluded)
	}
	// The tools write 0 for it and average it in.
	for _, name := range []string{"vllm-2024", "sglang"} {
		kerneltest.Mean(t, cellOf(t, kerneltest.Definition(t, name), empty, kerneltest.Evented(kerneltest.Streamed(0, 2, 100, 120))), "ttft", 2, 50)
	}
	// A role chunk ends TTFT there, and a source of another kind that shows no
	// event may just not record these: that is unknown. The tool's own result
	// has a 0 where there was none.
	c = cellOf(t, kerneltest.Definition(t, "vllm-2026"), empty, kerneltest.Evented(kerneltest.Streamed(0, 2, 100, 120)))
	kerneltest.Mean(t, c, "ttft", 1, 100)
	if c.Metrics["ttft"].Excluded["not_recorded"] != 1 {
		t.Errorf("%v", c.Metrics["ttft"].Excluded)
	}
	kerneltest.Null(t, cellOf(t, kerneltest.Definition(t, "vllm-2026"), empty, kerneltest.Streamed(0, 2, 100, 120)), "ttft", "not_recorded")
	meta := kerneltest.WallMeta()
	meta.DefaultDefinition = "vllm-2026"
	kerneltest.Mean(t, runOf(t, kerneltest.Definition(t, "vllm-2026"), &query.Query{}, meta, empty, kerneltest.Evented(kerneltest.Streamed(0, 2, 100, 120))), "ttft", 2, 50)
}

func TestP06EmptyIsNotFailed(t *testing.T) {
	empty := kerneltest.Of(trace.Empty)
	empty.N, empty.Finish = 0, 50
	c := cellOf(t, metric.Default, empty)
	if want := (report.Requests{Total: 1, Empty: 1}); c.Requests != want {
		t.Errorf("requests %+v", c.Requests)
	}
	kerneltest.Mean(t, c, "e2e_stream_end", 1, 50)
	kerneltest.Null(t, c, "e2e", "no_token")
	kerneltest.Null(t, c, "chunk_gap", "no_token")
	if v := c.Throughput.Values["tps"]; v.Known || v.Reason != "no_token" {
		t.Errorf("tps of a run without tokens: %+v", v)
	}
}

func TestP08ClientWait(t *testing.T) {
	r := kerneltest.Streamed(1500, 1, 1700)
	r.Scheduled = 0
	c := cellOf(t, metric.Default, r)
	kerneltest.Mean(t, c, "client_wait", 1, 1500)
	kerneltest.Mean(t, c, "ttft", 1, 200)
	kerneltest.Mean(t, c, "ttft_client_from_schedule", 1, 1700)
	kerneltest.Mean(t, c, "e2e_from_schedule", 1, 1700)
	r.Scheduled = -1
	c = cellOf(t, metric.Default, r)
	kerneltest.Null(t, c, "client_wait", "not_recorded")
	kerneltest.Null(t, c, "ttft_client_from_schedule", "not_recorded")
	kerneltest.Mean(t, c, "ttft", 1, 200)
}

func TestP10OneToken(t *testing.T) {
	c := cellOf(t, metric.Default, kerneltest.Streamed(0, 1, 80))
	kerneltest.Mean(t, c, "ttft", 1, 80)
	kerneltest.Mean(t, c, "e2e", 1, 80)
	kerneltest.Null(t, c, "tpot", "n_lt_2")
	kerneltest.Null(t, c, "chunk_gap", "n_lt_2")
}

func TestP11FailedStream(t *testing.T) {
	bad := kerneltest.Of(trace.Failed)
	bad.Event, bad.Finish = 10, 16
	q := &query.Query{SLO: []query.Limit{{Metric: "ttft", Max: 500 * kerneltest.MS}}}
	c := runOf(t, metric.Default, q, kerneltest.WallMeta(), bad, kerneltest.Streamed(0, 2, 100, 120))
	kerneltest.Mean(t, c, "ttft", 1, 100)
	kerneltest.Mean(t, c, "first_event", 0, 0)
	if c.Requests.Failed != 1 || c.Goodput.Denominator != 2 || c.Goodput.Good != 1 || c.Goodput.MissedBy["failed"] != 1 {
		t.Errorf("%+v, %+v", c.Requests, c.Goodput)
	}
}

func TestP12GapsWithoutTTFT(t *testing.T) {
	c := cellOf(t, metric.Default, kerneltest.Streamed(0, 3, 200, 210, 220))
	kerneltest.Mean(t, c, "chunk_gap", 2, 10)
}

func TestP13ChunksOfSeveralTokens(t *testing.T) {
	r := kerneltest.Streamed(0, 8, 100, 130, 160)
	r.Tokens = []int64{1, 4, 3}
	c := cellOf(t, metric.Default, r)
	kerneltest.Mean(t, c, "chunk_gap", 2, 30)
	kerneltest.Mean(t, c, "tpot", 1, 60.0/7)
	kerneltest.Mean(t, c, "token_latency", 7, 60.0/7)
	if got := c.Metrics["token_latency"].Quantiles["0.5"]; got != 7.5e6 {
		t.Errorf("median token latency %v, want 7.5 ms", got)
	}
	kerneltest.Mean(t, c, "tokens_per_chunk", 2, 3.5)
	r.Tokens = nil
	kerneltest.Null(t, cellOf(t, metric.Default, r), "token_latency", "not_recorded")
	// Decomposition, example k0: send 0 | +4@100 | +4@130.
	k := kerneltest.Streamed(0, 8, 100, 130)
	k.Tokens = []int64{4, 4}
	c = cellOf(t, metric.Default, k)
	kerneltest.Mean(t, c, "tpot", 1, 30.0/7)
	kerneltest.Mean(t, c, "tpot_after_first_chunk", 1, 7.5)
	kerneltest.Mean(t, c, "token_latency", 4, 7.5)
}

func TestP15RequestedLengthIsNoCount(t *testing.T) {
	r := kerneltest.Streamed(0, 11, 100, 300)
	r.Max = 1000
	kerneltest.Mean(t, cellOf(t, metric.Default, r), "tpot", 1, 20)
	r.N, r.Source = -1, trace.FromRequested
	kerneltest.Null(t, cellOf(t, metric.Default, r), "tpot", "n_unknown")
	kerneltest.Null(t, cellOf(t, metric.Default, r), "output_tokens", "n_unknown")
	r.N = 1000
	kerneltest.Null(t, cellOf(t, metric.Default, r), "tpot", "n_unknown")
	kerneltest.Mean(t, cellOf(t, kerneltest.Definition(t, "sglang"), r), "tpot", 1, 200.0/999) // what the tool prints
}

func TestP16FewTokens(t *testing.T) {
	a := kerneltest.Of(trace.Empty)
	a.N, a.Finish = 0, 50
	c := cellOf(t, metric.Default, a, kerneltest.Streamed(0, 1, 80), kerneltest.Streamed(0, 2, 80, 100))
	kerneltest.Mean(t, c, "tpot", 1, 20)
	if ex := c.Metrics["tpot"].Excluded; ex["no_token"] != 1 || ex["n_lt_2"] != 1 || len(ex) != 2 {
		t.Errorf("left out: %v", ex)
	}
}

func TestP17ServerCount(t *testing.T) {
	run := func(client int64) kerneltest.Request {
		r := kerneltest.Streamed(0, 1000, 100, 6100)
		r.Client = client
		return r
	}
	a, b := cellOf(t, metric.Default, run(1000)), cellOf(t, metric.Default, run(125))
	kerneltest.Mean(t, a, "tpot", 1, 6000.0/999)
	kerneltest.Mean(t, b, "tpot", 1, 6000.0/999)
	kerneltest.Noted(t, b, "output_tokens", "client_count: the client counts 12.50 %")
	for _, n := range a.Metrics["output_tokens"].Notes {
		if strings.HasPrefix(n, "client_count") {
			t.Error("equal counts are no finding")
		}
	}
	only := run(125)
	only.N = -1
	kerneltest.Mean(t, cellOf(t, metric.Default, only), "tpot", 1, 6000.0/124)
}

// TestMeasuredDecode: spans of vLLM have the engine's decode time and no stamp of
// the last token. TPOT is decode / (N - 1): the end of the response, 30 ms later,
// is not in it, and a stamp goes before it.
func TestMeasuredDecode(t *testing.T) {
	r := kerneltest.Of(trace.OK)
	r.Side, r.First, r.Finish, r.N, r.Decode = trace.Server, 200, 530, 11, 300
	c := cellOf(t, metric.Default, r)
	kerneltest.Mean(t, c, "tpot", 1, 30)
	kerneltest.Mean(t, c, "tps_decode", 1, 10/0.3)
	kerneltest.Mean(t, c, "tpot_from_total", 1, 33)
	r.Last = 520
	kerneltest.Mean(t, cellOf(t, metric.Default, r), "tpot", 1, 32)
	r.Last, r.Decode = -1, -1
	kerneltest.Null(t, cellOf(t, metric.Default, r), "tpot", "not_recorded")
	r.N, r.Decode = 1, 0
	kerneltest.Null(t, cellOf(t, metric.Default, r), "tpot", "n_lt_2")
}
