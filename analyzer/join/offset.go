package join

import (
	"math"

	"servescope/analyzer/trace"
)

// Offset bounds how far one clock is ahead of another. Messages sent on one
// clock and received on the other give the bounds, because no message arrives
// before it is sent:
//
//	max(t_inner(reply) − t_outer(reply)) ≤ offset ≤ min(t_inner(request) −
//
// t_outer(request))
//
// over all requests that both saw, widened at both ends by the resolution of
// both clocks. A clock that runs faster than the other makes the interval too
// narrow, and rows that belong to different requests make it empty.
type Offset struct {
	Low, High       int64 // ns by which the inner clock is ahead; Low > High: no offset fits
	HasLow, HasHigh bool  // whether a message gives the bound
	N               int64 // requests that give bounds
	// In is the sum over the NIn requests whose start both saw of inner minus
	// outer start. Out is the sum over the NOut requests whose first token both
	// saw of outer minus inner first token. Both are in ns on their own clocks,
	// relative to Base.
	In, Out   float64
	NIn, NOut int64
	Base      int64
}

// Empty reports whether no offset fits all messages.
func (o *Offset) Empty() bool { return o.HasLow && o.HasHigh && o.Low > o.High }

// Bounded reports whether the offset lies between two bounds.
func (o *Offset) Bounded() bool { return o.HasLow && o.HasHigh && o.Low <= o.High }

// Width returns the length of the interval of a bounded offset in ns.
func (o *Offset) Width() int64 { return o.High - o.Low }

// Between returns the mean time in ns that a request takes from the outer side
// to the inner one, the mean time that its first token takes back, and the
// error of both. It aligns the clocks by the middle of a bounded offset.
func (o *Offset) Between() (in, out, wrong float64) {
	middle := float64(o.Low-o.Base) + float64(float64(o.High-o.Low)/2)
	return o.In/float64(o.NIn) - middle, o.Out/float64(o.NOut) + middle, float64(o.High-o.Low) / 2
}

// comparableClocks reports whether two clocks can have an offset. A clock that
// starts with each request has none.
func comparableClocks(a, b trace.Clock) bool {
	return a.Kind != trace.RequestClock && b.Kind != trace.RequestClock
}

// add adds a request that two sides saw.
func (o *Offset) add(outer, inner *sight) {
	slack := outer.resolution + inner.resolution
	bounds := o.upper(outer.start, inner.start, slack)
	reply := inner.first
	if inner.side == trace.Prefill {
		reply = inner.prefilled
	}
	bounds = o.lower(outer.first, reply, slack) || bounds
	if inner.side != trace.Prefill {
		bounds = o.lower(outer.last, inner.last, slack) || bounds
	}
	if bounds {
		o.N++
	}
	if outer.start.known && inner.start.known {
		if d, ok := minus(inner.start.t, outer.start.t); ok {
			if o.NIn == 0 && o.NOut == 0 {
				o.Base = d
			}
			o.In += float64(d - o.Base)
			o.NIn++
		}
	}
	if outer.first.known && inner.first.known && inner.side != trace.Prefill {
		if d, ok := minus(inner.first.t, outer.first.t); ok {
			if o.NIn == 0 && o.NOut == 0 {
				o.Base = d
			}
			o.Out += float64(o.Base - d)
			o.NOut++
		}
	}
}

// addNodes adds a request that two nodes served. The decode node starts when it
// has the KV cache, which the prefill node has computed before.
func (o *Offset) addNodes(decode, prefill *sight) {
	if o.lower(decode.admitted.or(decode.first), prefill.prefilled, prefill.resolution+decode.resolution) {
		o.N++
	}
}

// upper adds a message from the outer side to the inner one.
func (o *Offset) upper(sent, received stamp, slack int64) bool {
	d, ok := minus(received.t, sent.t)
	if !sent.known || !received.known || !ok {
		return false
	}
	if d += slack; !o.HasHigh || d < o.High {
		o.High, o.HasHigh = d, true
	}
	return true
}

// lower adds a message from the inner side to the outer one.
func (o *Offset) lower(received, sent stamp, slack int64) bool {
	d, ok := minus(sent.t, received.t)
	if !sent.known || !received.known || !ok {
		return false
	}
	if d -= slack; !o.HasLow || d > o.Low {
		o.Low, o.HasLow = d, true
	}
	return true
}

// minus returns a − b, and whether it is far from the limits of int64.
func minus(a, b int64) (int64, bool) {
	d := float64(a) - float64(b)
	return a - b, d < math.MaxInt64/4 && d > math.MinInt64/4
}
