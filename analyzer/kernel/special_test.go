package kernel

import (
	"testing"

	"servescope/analyzer/metric"
	"servescope/analyzer/trace"
)

// TestSpecialWorkloads: speculative decoding, reasoning, a prefix cache and
// preemption each have figures where they are recorded, and none elsewhere.
func TestSpecialWorkloads(t *testing.T) {
	r := streamed(0, 10, 100, 130, 160)
	r.accepted, r.drafted, r.verified = 6, 12, 3 // three steps of three tokens
	r.prompt, r.cached = 1000, 250
	r.preempted, r.reasoning = 2, 4
	other := streamed(0, 2, 100, 150)
	other.accepted, other.drafted, other.verified = 0, 12, 2
	other.prompt, other.cached = 3000, 2250
	other.preempted, other.reasoning = 0, 0
	plain := streamed(0, 2, 100, 150)
	c := cellOf(t, metric.Default, r, other, plain)
	mean(t, c, "accept_length", 2, 2) // 3 and 1
	mean(t, c, "accept_rate", 2, 0.25)
	mean(t, c, "cached_tokens", 2, 1250)
	mean(t, c, "computed_tokens", 2, 750)
	mean(t, c, "cached_share", 2, 0.5) // 1/4 and 3/4
	value(t, c, "cached_token_share", 2500.0/4000)
	mean(t, c, "preemptions", 2, 1)
	mean(t, c, "reasoning_tokens", 2, 2)
	if n := c.Metrics["preemptions"].Excluded["not_recorded"]; n != 1 {
		t.Errorf("%d requests tell nothing of preemptions", n)
	}
	c = cellOf(t, metric.Default, plain)
	for _, name := range []string{"accept_length", "accept_rate", "cached_tokens", "computed_tokens", "cached_share", "preemptions", "reasoning_tokens"} {
		null(t, c, name, "not_recorded")
	}
	if v := c.Throughput.Values["cached_token_share"]; v.Known || v.Reason != "not_recorded" {
		t.Errorf("cached share of nothing: %+v", v)
	}
	wrong := streamed(0, 2, 100, 150)
	wrong.prompt, wrong.cached, wrong.accepted, wrong.drafted = 10, 20, 9, 4
	c = cellOf(t, metric.Default, wrong)
	null(t, c, "cached_share", "inconsistent")
	null(t, c, "computed_tokens", "inconsistent")
	null(t, c, "accept_rate", "inconsistent")
	idle := streamed(0, 1, 100)
	idle.accepted, idle.drafted, idle.verified = 0, 0, 0 // no step took place
	null(t, cellOf(t, metric.Default, idle), "accept_length", "no_span")
	silent := of(trace.Empty)
	silent.prompt, silent.cached = 100, 50 // its prompt is there
	mean(t, cellOf(t, metric.Default, silent), "cached_share", 1, 0.5)
}
