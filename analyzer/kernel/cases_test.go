package kernel

import (
	"math"
	"testing"

	"servescope/analyzer/metric"
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

var _ = trace.OK
