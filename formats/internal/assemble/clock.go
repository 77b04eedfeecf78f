package assemble

import "servescope/analyzer/trace"

// epoch is the smallest stamp in ns that is taken for time since 1970:
// 2001-09-09. A monotonic clock would need 31 years to reach it.
const epoch = int64(1e18)

// clock decides on the row's clock and makes stamps null that are not on it.
func (w *Writer) clock(r *Row) trace.ClockKind {
	c := w.Clock
	if t := r.Text(trace.ClockCol); t != nil {
		own, ok := trace.ParseClock(string(t))
		if ok {
			c = own
		} else {
			w.Note(badClock, r.Offset)
		}
	}
	if absolute(c.Kind) {
		small, large := w.dropUnset(r)
		if c.Kind == trace.Wall && small > 0 {
			c.Kind = trace.Monotonic
			if large == 0 {
				w.Note(notEpoch, r.Offset)
			} else if w.Note(mixedClocks, r.Offset); separate(r) {
				c.Kind = trace.Wall
			}
		}
	}
	r.Unset(trace.ClockCol)
	if c != w.Run.Clock || c != (trace.Clock{}) {
		r.SetText(trace.ClockCol, []byte(c.String()))
	}
	return c.Kind
}

// dropUnset makes stamps null that cannot be on a clock that began long ago, and
// counts the others: those too small for time since 1970, and those not.
func (w *Writer) dropUnset(r *Row) (small, large int) {
	count := func(v int64) {
		if v < epoch {
			small++
		} else {
			large++
		}
	}
	for c := trace.ScheduledSend; c <= trace.Finished; c++ {
		switch v, ok := r.Int(c); {
		case !ok:
		case v <= 0:
			r.Unset(c)
			w.Note(UnknownStamp, r.Offset)
		default:
			count(v)
		}
	}
	if v, ok := tokenStamp(r); ok && r.HasTokens {
		count(v)
	}
	return small, large
}

// tokenStamp returns the first known stamp of a token.
func tokenStamp(r *Row) (int64, bool) {
	if r.HasTokens {
		for _, v := range r.Tokens {
			if v > 0 {
				return v, true
			}
		}
	}
	return r.Int(trace.FirstToken)
}

// separate makes the stamps null that are not on the clock of the tokens, or
// without tokens not on the wall clock. It reports whether that is the wall clock.
func separate(r *Row) (wall bool) {
	v, ok := tokenStamp(r)
	wall = !ok || v >= epoch
	for c := trace.ScheduledSend; c <= trace.Finished; c++ {
		if v, ok := r.Int(c); ok && (v >= epoch) != wall {
			r.Unset(c)
		}
	}
	return wall
}

// EpochLikeStamp reports whether a stamp in ns could be a time since 1970.
func EpochLikeStamp(v int64) bool { return v >= epoch }

// EpochLike reports whether all stamps of a row that are known could be times
// since 1970; it is true for a row without stamps.
func EpochLike(r *Row) bool {
	for c := trace.ScheduledSend; c <= trace.Finished; c++ {
		if v, ok := r.Int(c); ok && v > 0 && v < epoch {
			return false
		}
	}
	if r.HasArrival && r.Arrival > 0 && r.Arrival < epoch {
		return false
	}
	v, ok := tokenStamp(r)
	return !ok || v <= 0 || v >= epoch
}
