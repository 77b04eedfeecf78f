package kernel

import (
	"math"
	"strings"
	"testing"

	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

func set(t *testing.T, name string) *metric.Definition {
	t.Helper()
	d, err := metric.LookupDefinition(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// mean checks the number of values of a metric and their mean in ms (or in the
// metric's unit for counts and rates).
func mean(t *testing.T, c *report.Cell, name string, n int64, want float64) {
	t.Helper()
	m, ok := c.Metrics[name]
	got := m.Mean
	if m.Unit == "ns" || m.Unit == "ns/token" {
		got /= float64(ms)
	}
	if !ok || m.N != n || math.Abs(got-want) > 1e-9*math.Max(1, math.Abs(want)) {
		t.Errorf("%s: mean %v of %d (%s), want %v of %d", name, got, m.N, m.Reason, want, n)
	}
}

// null checks that a metric has no value, and why.
func null(t *testing.T, c *report.Cell, name, reason string) {
	t.Helper()
	if m, ok := c.Metrics[name]; !ok || m.N != 0 || m.Reason != reason {
		t.Errorf("%s: n %d, reason %q; want null for %q", name, m.N, m.Reason, reason)
	}
}

// worked is the request of the worked vector: send 0, role chunk 100, reasoning
// token 120, three chunks of 3 at 150, 180, 210, usage 260, done 261.
func worked() req {
	r := streamed(0, 10, 120, 150, 180, 210)
	r.event, r.answer, r.finish = 100, 150, 261
	r.tokens = []int64{1, 3, 3, 3}
	r.kind, r.reasoning, r.client = kindReasoning, 1, 9
	return r
}

// TestWorkedVector holds one request under every definition.
func TestWorkedVector(t *testing.T) {
	c := cellOf(t, metric.Default, worked())
	mean(t, c, "ttft", 1, 120)
	mean(t, c, "ttfot", 1, 150)
	mean(t, c, "thinking_time", 1, 30)
	mean(t, c, "first_event", 1, 100)
	mean(t, c, "e2e", 1, 210)
	mean(t, c, "e2e_stream_end", 1, 261)
	mean(t, c, "output_tokens", 1, 10)
	mean(t, c, "tpot", 1, 10)
	mean(t, c, "tpot_from_total", 1, 141.0/9)
	mean(t, c, "tpot_after_first_chunk", 1, 10)
	mean(t, c, "chunk_gap", 3, 30)
	mean(t, c, "tokens_per_chunk", 3, 3)
	mean(t, c, "token_latency", 9, 10)
	mean(t, c, "tps_request", 1, 100)
	mean(t, c, "tps_decode", 1, 100)
	mean(t, c, "tps_e2e", 1, 10/0.210)

	c = cellOf(t, set(t, "vllm-2026"), worked())
	mean(t, c, "ttft", 1, 100)
	mean(t, c, "e2e", 1, 210)
	mean(t, c, "tpot", 1, 110.0/9)
	mean(t, c, "chunk_gap", 4, 27.5)

	c = cellOf(t, set(t, "vllm-2024"), worked())
	mean(t, c, "ttft", 1, 150)
	mean(t, c, "e2e", 1, 261)
	mean(t, c, "tpot", 1, 111.0/9)
	mean(t, c, "chunk_gap", 2, 30)

	c = cellOf(t, set(t, "sglang"), worked())
	mean(t, c, "ttft", 1, 150)
	mean(t, c, "e2e", 1, 261)
	mean(t, c, "tpot", 1, 111.0/9)
	mean(t, c, "chunk_gap", 2, 30)
	spec := worked()
	spec.accepted = 6
	c = cellOf(t, set(t, "sglang"), spec)
	mean(t, c, "chunk_gap", 6, 10)
}

func TestP01RoleChunk(t *testing.T) {
	r := streamed(0, 3, 214, 230, 246)
	r.event = 5
	c := cellOf(t, metric.Default, r)
	mean(t, c, "ttft", 1, 214)
	mean(t, c, "first_event", 1, 5)
	mean(t, c, "chunk_gap", 2, 16)
	mean(t, c, "tpot", 1, 16)
	null(t, c, "ttft_upper", "first_token_recorded")
	c = cellOf(t, set(t, "vllm-2026"), r)
	mean(t, c, "ttft", 1, 5)
	mean(t, c, "chunk_gap", 3, 241.0/3)
	if got := c.Metrics["ttft"].Definition; got != "vllm-2026" {
		t.Errorf("the definition is %q", got)
	}
	// A source that records events alone: both figures are shown.
	only := streamed(0, 3, 5, 214, 230, 246)
	only.event = 5
	c = cellOf(t, metric.Default, only)
	mean(t, c, "ttft", 1, 5)
	mean(t, c, "ttft_upper", 1, 214)
	noted(t, c, "ttft", "first_event")
	noted(t, c, "ttft_upper", "role_chunk_possible")
	only.gaps, only.last = []int64{0, 16}, 21
	c = cellOf(t, metric.Default, only)
	if n := len(c.Metrics["ttft_upper"].Notes); n > 1 { // few_values alone
		t.Errorf("a first gap of 0 moves nothing: %v", c.Metrics["ttft_upper"].Notes)
	}
}

func noted(t *testing.T, c *report.Cell, name, code string) {
	t.Helper()
	for _, n := range c.Metrics[name].Notes {
		if len(n) > len(code) && n[:len(code)] == code {
			return
		}
	}
	t.Errorf("%s has no note %s: %v", name, code, c.Metrics[name].Notes)
}

// reasoning is case P03: 100 reasoning tokens 20 ms apart, then two of the answer.
func reasoning() req {
	var chunks []int64
	for i := range int64(102) {
		chunks = append(chunks, 100+20*i)
	}
	r := streamed(0, 102, chunks...)
	r.event, r.answer, r.kind, r.reasoning = 90, 2100, kindReasoning, 100
	return r
}

func TestP03Reasoning(t *testing.T) {
	c := cellOf(t, metric.Default, reasoning())
	mean(t, c, "ttft", 1, 100)
	mean(t, c, "ttfot", 1, 2100)
	mean(t, c, "thinking_time", 1, 2000)
	mean(t, c, "output_tokens", 1, 102)
	mean(t, c, "tpot", 1, 20)
	cut := reasoning() // ends inside of thinking
	cut.answer = -1
	c = cellOf(t, metric.Default, cut)
	mean(t, c, "ttft", 1, 100)
	null(t, c, "ttfot", "no_answer_token")
}

func TestP05NoTextIsNotZero(t *testing.T) {
	empty := of(trace.Empty)
	empty.n, empty.finish = 0, 3
	c := cellOf(t, metric.Default, empty, streamed(0, 2, 100, 120))
	mean(t, c, "ttft", 1, 100)
	mean(t, c, "tpot", 1, 20)
	if c.Requests.Empty != 1 || c.Requests.OK != 1 || c.Metrics["ttft"].Excluded["no_token"] != 1 {
		t.Errorf("%+v, ttft leaves out %v", c.Requests, c.Metrics["ttft"].Excluded)
	}
	// The tools write 0 for it and average it in.
	for _, name := range []string{"vllm-2024", "sglang"} {
		mean(t, cellOf(t, set(t, name), empty, evented(streamed(0, 2, 100, 120))), "ttft", 2, 50)
	}
	// A role chunk ends TTFT there, and a source of another kind that shows no
	// event may just not record these: that is unknown. The tool's own result
	// has a 0 where there was none.
	c = cellOf(t, set(t, "vllm-2026"), empty, evented(streamed(0, 2, 100, 120)))
	mean(t, c, "ttft", 1, 100)
	if c.Metrics["ttft"].Excluded["not_recorded"] != 1 {
		t.Errorf("%v", c.Metrics["ttft"].Excluded)
	}
	null(t, cellOf(t, set(t, "vllm-2026"), empty, streamed(0, 2, 100, 120)), "ttft", "not_recorded")
	meta := wallMeta()
	meta.DefaultDefinition = "vllm-2026"
	mean(t, runOf(t, set(t, "vllm-2026"), &query.Query{}, meta, empty, evented(streamed(0, 2, 100, 120))), "ttft", 2, 50)
}

func TestP06EmptyIsNotFailed(t *testing.T) {
	empty := of(trace.Empty)
	empty.n, empty.finish = 0, 50
	c := cellOf(t, metric.Default, empty)
	if want := (report.Requests{Total: 1, Empty: 1}); c.Requests != want {
		t.Errorf("requests %+v", c.Requests)
	}
	mean(t, c, "e2e_stream_end", 1, 50)
	null(t, c, "e2e", "no_token")
	null(t, c, "chunk_gap", "no_token")
	if v := c.Throughput.Values["tps"]; v.Known || v.Reason != "no_token" {
		t.Errorf("tps of a run without tokens: %+v", v)
	}
}

func TestP08ClientWait(t *testing.T) {
	r := streamed(1500, 1, 1700)
	r.scheduled = 0
	c := cellOf(t, metric.Default, r)
	mean(t, c, "client_wait", 1, 1500)
	mean(t, c, "ttft", 1, 200)
	mean(t, c, "ttft_client_from_schedule", 1, 1700)
	mean(t, c, "e2e_from_schedule", 1, 1700)
	r.scheduled = -1
	c = cellOf(t, metric.Default, r)
	null(t, c, "client_wait", "not_recorded")
	null(t, c, "ttft_client_from_schedule", "not_recorded")
	mean(t, c, "ttft", 1, 200)
}

func TestP10OneToken(t *testing.T) {
	c := cellOf(t, metric.Default, streamed(0, 1, 80))
	mean(t, c, "ttft", 1, 80)
	mean(t, c, "e2e", 1, 80)
	null(t, c, "tpot", "n_lt_2")
	null(t, c, "chunk_gap", "n_lt_2")
}

func TestP11FailedStream(t *testing.T) {
	bad := of(trace.Failed)
	bad.event, bad.finish = 10, 16
	q := &query.Query{SLO: []query.Limit{{Metric: "ttft", Max: 500 * ms}}}
	c := runOf(t, metric.Default, q, wallMeta(), bad, streamed(0, 2, 100, 120))
	mean(t, c, "ttft", 1, 100)
	mean(t, c, "first_event", 0, 0)
	if c.Requests.Failed != 1 || c.Goodput.Denominator != 2 || c.Goodput.Good != 1 || c.Goodput.MissedBy["failed"] != 1 {
		t.Errorf("%+v, %+v", c.Requests, c.Goodput)
	}
}

func TestP12GapsWithoutTTFT(t *testing.T) {
	c := cellOf(t, metric.Default, streamed(0, 3, 200, 210, 220))
	mean(t, c, "chunk_gap", 2, 10)
}

func TestP13ChunksOfSeveralTokens(t *testing.T) {
	r := streamed(0, 8, 100, 130, 160)
	r.tokens = []int64{1, 4, 3}
	c := cellOf(t, metric.Default, r)
	mean(t, c, "chunk_gap", 2, 30)
	mean(t, c, "tpot", 1, 60.0/7)
	mean(t, c, "token_latency", 7, 60.0/7)
	if got := c.Metrics["token_latency"].Quantiles["0.5"]; got != 7.5e6 {
		t.Errorf("median token latency %v, want 7.5 ms", got)
	}
	mean(t, c, "tokens_per_chunk", 2, 3.5)
	r.tokens = nil
	null(t, cellOf(t, metric.Default, r), "token_latency", "not_recorded")
	// Decomposition, example k0: send 0 | +4@100 | +4@130.
	k := streamed(0, 8, 100, 130)
	k.tokens = []int64{4, 4}
	c = cellOf(t, metric.Default, k)
	mean(t, c, "tpot", 1, 30.0/7)
	mean(t, c, "tpot_after_first_chunk", 1, 7.5)
	mean(t, c, "token_latency", 4, 7.5)
}

func TestP15RequestedLengthIsNoCount(t *testing.T) {
	r := streamed(0, 11, 100, 300)
	r.max = 1000
	mean(t, cellOf(t, metric.Default, r), "tpot", 1, 20)
	r.n, r.source = -1, trace.FromRequested
	null(t, cellOf(t, metric.Default, r), "tpot", "n_unknown")
	null(t, cellOf(t, metric.Default, r), "output_tokens", "n_unknown")
	r.n = 1000
	null(t, cellOf(t, metric.Default, r), "tpot", "n_unknown")
	mean(t, cellOf(t, set(t, "sglang"), r), "tpot", 1, 200.0/999) // what the tool prints
}

func TestP16FewTokens(t *testing.T) {
	a := of(trace.Empty)
	a.n, a.finish = 0, 50
	c := cellOf(t, metric.Default, a, streamed(0, 1, 80), streamed(0, 2, 80, 100))
	mean(t, c, "tpot", 1, 20)
	if ex := c.Metrics["tpot"].Excluded; ex["no_token"] != 1 || ex["n_lt_2"] != 1 || len(ex) != 2 {
		t.Errorf("left out: %v", ex)
	}
}

func TestP17ServerCount(t *testing.T) {
	run := func(client int64) req {
		r := streamed(0, 1000, 100, 6100)
		r.client = client
		return r
	}
	a, b := cellOf(t, metric.Default, run(1000)), cellOf(t, metric.Default, run(125))
	mean(t, a, "tpot", 1, 6000.0/999)
	mean(t, b, "tpot", 1, 6000.0/999)
	noted(t, b, "output_tokens", "client_count: the client counts 12.50 %")
	for _, n := range a.Metrics["output_tokens"].Notes {
		if strings.HasPrefix(n, "client_count") {
			t.Error("equal counts are no finding")
		}
	}
	only := run(125)
	only.n = -1
	mean(t, cellOf(t, metric.Default, only), "tpot", 1, 6000.0/124)
}

// TestMeasuredDecode: spans of vLLM have the engine's decode time and no stamp of
// the last token. TPOT is decode / (N - 1): the end of the response, 30 ms later,
// is not in it, and a stamp goes before it.
func TestMeasuredDecode(t *testing.T) {
	r := of(trace.OK)
	r.side, r.first, r.finish, r.n, r.decode = trace.Server, 200, 530, 11, 300
	c := cellOf(t, metric.Default, r)
	mean(t, c, "tpot", 1, 30)
	mean(t, c, "tps_decode", 1, 10/0.3)
	mean(t, c, "tpot_from_total", 1, 33)
	r.last = 520
	mean(t, cellOf(t, metric.Default, r), "tpot", 1, 32)
	r.last, r.decode = -1, -1
	null(t, cellOf(t, metric.Default, r), "tpot", "not_recorded")
	r.n, r.decode = 1, 0
	null(t, cellOf(t, metric.Default, r), "tpot", "n_lt_2")
}
