package kernel

import (
	"testing"

	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// TestOccupancy: r1 is admitted at 50 and decodes in [100, 900) with a stall of
// 200; r2 is admitted at 400 and decodes in [500, 1000); W = [0, 1000] ms.
func TestOccupancy(t *testing.T) {
	a, b := streamed(0, 81, 100, 900), streamed(0, 26, 500, 1000)
	a.admitted, a.stall, b.admitted, b.preempted = 50, 200, 400, 0
	c := cellOf(t, metric.Default, a, b)
	value(t, c, "batch_decode", 1.3)
	value(t, c, "batch_decode_active", 1.1)
	value(t, c, "batch_running", 0.85+0.6)

	// The prefill that the engine measured stands in for a stamp of admission.
	a.admitted, a.prefill = -1, 50
	c = cellOf(t, metric.Default, a, b)
	value(t, c, "batch_running", 0.85+0.6)
	a.prefill = -1
	c = cellOf(t, metric.Default, a, b)
	value(t, c, "batch_running", 0.6)
	saying(t, c, "the admission of 1 sequence is not recorded", "batch_running")
	b.admitted = -1
	noRate(t, cellOf(t, metric.Default, a, b), "batch_running", "not_recorded")

	// A preempted sequence that does not tell its stalls makes them unknown.
	b.preempted = 1
	noRate(t, cellOf(t, metric.Default, a, b), "batch_decode_active", "not_recorded")
}

// TestRunningBeforeDecoding: a sequence that is admitted at 500 and decodes in
// [2100, 2300) runs in windows of time that hold none of its tokens.
func TestRunningBeforeDecoding(t *testing.T) {
	a := streamed(0, 3, 2100, 2300)
	a.admitted = 500
	out := run(t, metric.Default, &query.Query{Window: 1000 * ms}, []view{{b: build(wallMeta(), a)}}, whole)
	value(t, out.Cell(0, -1, NoWindow), "batch_running", 1800.0/2300)
	value(t, out.Cell(0, -1, 0), "batch_running", 0.5)
	value(t, out.Cell(0, -1, 1000*ms), "batch_running", 1)
	value(t, out.Cell(0, -1, 2000*ms), "batch_running", 1)
}

// TestStallsHaveNoPlace: the whole run knows the sum of the stalls, windows that
// share a sequence do not, and neither does an interval that cuts it.
func TestStallsHaveNoPlace(t *testing.T) {
	a, b := streamed(0, 81, 100, 900), streamed(1000, 26, 1500, 2000)
	a.stall, b.stall = 200, 0
	out := run(t, metric.Default, &query.Query{Window: 500 * ms}, []view{{b: build(wallMeta(), a, b)}}, whole)
	value(t, out.Cell(0, -1, NoWindow), "batch_decode_active", (1300-200)/2000.0)
	noRate(t, out.Cell(0, -1, 0), "batch_decode_active", "preempted")
	noRate(t, out.Cell(0, -1, 500*ms), "batch_decode_active", "preempted")
	value(t, out.Cell(0, -1, 1500*ms), "batch_decode_active", 1)
	for _, to := range []int64{600, 950} {
		q := &query.Query{From: &query.Instant{NS: 0}, To: &query.Instant{NS: to * ms}}
		c := runOf(t, metric.Default, q, wallMeta(), a, b)
		if to < 900 {
			noRate(t, c, "batch_decode_active", "preempted")
		} else {
			value(t, c, "batch_decode_active", 600.0/950)
		}
	}
}

// TestBatchOfMeasuredDecode: spans have no stamp of the last token but the decode
// time of the engine, which gives B, TPOT in the model and the time of tokens.
func TestBatchOfMeasuredDecode(t *testing.T) {
	r := of(trace.OK)
	r.side, r.first, r.finish, r.n, r.decode = trace.Server, 200, 530, 11, 300
	c := cellOf(t, metric.Default, r)
	value(t, c, "batch_decode", 300.0/500)
	value(t, c, "tpot_weighted", 30*float64(ms))
	value(t, c, "tps_total_model", 20)
	value(t, c, "identity_ratio", 10.0/11)
	out := run(t, metric.Default, &query.Query{Window: 250 * ms}, []view{{b: build(wallMeta(), r)}}, whole)
	value(t, out.Cell(0, -1, 0), "batch_decode", 50.0/250)
	value(t, out.Cell(0, -1, 0), "tps", 2/0.25)      // tokens at 200, 230, 260, …, 500
	value(t, out.Cell(0, -1, 250*ms), "tps", 8/0.25) // the last one begins a window of no length
}

// noRate checks that a rate has no value, and why.
func noRate(t *testing.T, c *report.Cell, name, reason string) {
	t.Helper()
	if v, ok := c.Throughput.Values[name]; !ok || v.Known || v.Reason != reason {
		t.Errorf("%s: %+v, want null for %q", name, v, reason)
	}
}
