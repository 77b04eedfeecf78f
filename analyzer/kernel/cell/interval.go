package cell

import (
	"servescope/analyzer/metric"
)

// Interval is W, the time that rates are over.
type Interval struct {
	From, To, Whole int64 // W = [from, to]; the whole span ends at whole
	Placed          bool  // from, to and whole are known
	Part            bool  // W is cut to an interval or a window: there is no whole span
	Length          int64 // length that rates divide by
	Note            string
	Reason          metric.Reason // dt is unknown
}

// clip returns the part of W in [from, to).
func (w Interval) clip(from, to int64) Interval {
	w.From, w.To = max(w.From, from), min(w.To, to)
	w.Length, w.Reason, w.Note, w.Part = w.To-w.From, metric.None, "", true
	if w.Length <= 0 {
		w.Length, w.Reason, w.Placed = 0, metric.NoSpan, false
	}
	return w
}
