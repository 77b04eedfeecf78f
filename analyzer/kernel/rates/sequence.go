package rates

import (
	"math"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/trace"
)

// sequence is a request as rates see it.
type sequence struct {
	*cell.Batch
	row      *request.Row
	emission request.Emission
	i        int // in the batch
	group    int32
	replica  string
}

// request returns the request of the sequence, mostly itself.
func (y *sequence) request(def *metric.Definition) *sequence {
	if y.row.MultiChoice == nil {
		return y
	}
	q := *y
	q.row = y.row.Request()
	q.emission = request.EmissionOf(q.row, request.Chunks{Base: request.None}, metric.NotRecorded, def)
	return &q
}

// inside returns which of the tokens come in the query's interval: [from, to).
func (y *sequence) inside() (from, to int64) {
	a, e := &y.Axis, &y.emission
	to = e.N
	if a.To != math.MaxInt64 {
		to = e.Before(a.To)
	}
	if a.From != math.MinInt64 {
		from = min(e.Before(a.From), to)
	}
	return from, to
}

// occupancy reads columns that only rates need: when the sequence of a row took a
// place in the running batch, and for how long it was not scheduled in it.
type occupancy struct {
	admitted, prefill  trace.Ints
	stall, preemptions trace.Ints
}

func occupancyOf(v *kernel.View) occupancy {
	return occupancy{v.Ints(trace.Admitted), v.Ints(trace.DPrefill), v.Ints(trace.DStall), v.Ints(trace.Preemptions)}
}

// admission returns when row i, whose first token came at first, was admitted, or
// none. Where that is not stamped its prefill, measured by the engine, lies before
// the first token.
func (o *occupancy) admission(i int, first int64) int64 {
	at := request.Get(o.admitted, i)
	if d := request.Get(o.prefill, i); at == request.None && d >= 0 && d <= request.Day {
		at = first - d
	}
	if at > first { // stamps contradict each other
		return request.None
	}
	return at
}

// stalled returns the decode time of row i in which it was not scheduled, or
// none. What was never preempted never stalled.
func (o *occupancy) stalled(i int) int64 {
	if d := request.Get(o.stall, i); d >= 0 {
		return d
	}
	if request.Get(o.preemptions, i) == 0 {
		return 0
	}
	return request.None
}
