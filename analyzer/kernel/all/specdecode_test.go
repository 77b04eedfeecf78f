package all

import (
	"testing"

	"servescope/analyzer/kernel/kerneltest"
	"servescope/analyzer/metric"
	"servescope/analyzer/trace"
)

// TestSpecialWorkloads: speculative decoding, reasoning, a prefix cache and
// preemption each have figures where they are recorded, and none elsewhere.
func TestSpecialWorkloads(t *testing.T) {
	r := kerneltest.Streamed(0, 10, 100, 130, 160)
	r.Accepted, r.Drafted, r.Verified = 6, 12, 3 // three steps of three tokens
	r.Prompt, r.Cached = 1000, 250
	r.Preempted, r.Reasoning = 2, 4
	other := kerneltest.Streamed(0, 2, 100, 150)
	other.Accepted, other.Drafted, other.Verified = 0, 12, 2
	other.Prompt, other.Cached = 3000, 2250
	other.Preempted, other.Reasoning = 0, 0
	plain := kerneltest.Streamed(0, 2, 100, 150)
	c := cellOf(t, metric.Default, r, other, plain)
	kerneltest.Mean(t, c, "accept_length", 2, 2) // 3 and 1
	kerneltest.Mean(t, c, "accept_rate", 2, 0.25)
	kerneltest.Mean(t, c, "cached_tokens", 2, 1250)
	kerneltest.Mean(t, c, "computed_tokens", 2, 750)
	kerneltest.Mean(t, c, "cached_share", 2, 0.5) // 1/4 and 3/4
	kerneltest.Value(t, c, "cached_token_share", 2500.0/4000)
	kerneltest.Mean(t, c, "preemptions", 2, 1)
	kerneltest.Mean(t, c, "reasoning_tokens", 2, 2)
	if n := c.Metrics["preemptions"].Excluded["not_recorded"]; n != 1 {
		t.Errorf("%d requests tell nothing of preemptions", n)
	}
	c = cellOf(t, metric.Default, plain)
	for _, name := range []string{"accept_length", "accept_rate", "cached_tokens", "computed_tokens", "cached_share", "preemptions", "reasoning_tokens"} {
		kerneltest.Null(t, c, name, "not_recorded")
	}
	if v := c.Throughput.Values["cached_token_share"]; v.Known || v.Reason != "not_recorded" {
		t.Errorf("cached share of nothing: %+v", v)
	}
	wrong := kerneltest.Streamed(0, 2, 100, 150)
	wrong.Prompt, wrong.Cached, wrong.Accepted, wrong.Drafted = 10, 20, 9, 4
	c = cellOf(t, metric.Default, wrong)
	kerneltest.Null(t, c, "cached_share", "inconsistent")
	kerneltest.Null(t, c, "computed_tokens", "inconsistent")
	kerneltest.Null(t, c, "accept_rate", "inconsistent")
	idle := kerneltest.Streamed(0, 1, 100)
	idle.Accepted, idle.Drafted, idle.Verified = 0, 0, 0 // no step took place
	kerneltest.Null(t, cellOf(t, metric.Default, idle), "accept_length", "no_span")
	silent := kerneltest.Of(trace.Empty)
	silent.Prompt, silent.Cached = 100, 50 // its prompt is there
	kerneltest.Mean(t, cellOf(t, metric.Default, silent), "cached_share", 1, 0.5)
}
