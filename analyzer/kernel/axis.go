package kernel

import (
	"math"

	"servescope/analyzer/metric"
	"servescope/analyzer/trace"
)

// axis places stamps of a clock in windows of time. Windows of a wall clock are
// aligned to multiples of their length since the epoch, those of other clocks
// to the run's first send.
type axis struct {
	length   int64 // of a window; 0: no windows
	origin   int64
	from, to int64 // [from, to): the query's interval
	late     bool  // facts are missing: nothing is placed in this pass

	fixed bool // every stamp is in window at: that of a request on another clock
	at    int64
}

// axisOf returns the axis of a clock of a run. A clock that is not the run's has
// no windows.
func (b *base) axisOf(run int32, clock trace.Clock) axis {
	var f RunFacts
	if int(run) < len(b.facts.Runs) {
		f = b.facts.Runs[run]
	}
	a := axis{}
	a.from, a.to = f.Bound(b.q, clock)
	if b.q.Window <= 0 || clock.Kind == trace.RequestClock {
		return a
	}
	if clock.Kind != trace.Wall {
		if !f.HasTimes || clock.String() != f.Clock {
			a.late = !f.HasTimes && b.facts.Pass == 0
			return a
		}
		a.origin = f.FirstSend
	}
	a.length = b.q.Window
	return a
}

// divided reports whether stamps are in different windows.
func (a *axis) divided() bool {
	return a.fixed || a.length > 0 || a.from != math.MinInt64 || a.to != math.MaxInt64
}

// window returns the start of the window that t is in, NoWindow where there are
// none, or elsewhere.
func (a *axis) window(t int64) int64 {
	switch {
	case a.fixed:
		return a.at
	case t < a.from || t >= a.to:
		return elsewhere
	case a.length == 0:
		return NoWindow
	}
	return t - floorMod(t-a.origin, a.length)
}

// holds reports whether a window has a part of the query's interval.
func (a *axis) holds(window int64) bool {
	return window < a.to && (window >= a.from || window > a.from-a.length)
}

// same reports whether t is in the given window, without a division.
func (a *axis) same(window, t int64) bool {
	if a.fixed || window <= elsewhere {
		return a.window(t) == window
	}
	return t >= window && t-window < a.length && t >= a.from && t < a.to
}

// stretch returns the window that t is in and its end on the axis.
func (a *axis) stretch(t int64) (window, end int64) {
	switch window = a.window(t); {
	case a.fixed:
		return window, math.MaxInt64
	case window > elsewhere:
		return window, min(a.end(window), a.to)
	case t < a.from:
		return window, a.from
	case t < a.to:
		return window, a.to
	}
	return window, math.MaxInt64
}

// end returns the end of a window, which is the end of time where the sum overflows.
func (a *axis) end(window int64) int64 {
	if window > math.MaxInt64-a.length {
		return math.MaxInt64
	}
	return window + a.length
}

// over returns W of a run: the part of its interval that the query is about.
func (b *base) over(run int32) interval { return b.overSpan(run, b.def.Span) }

// overSpan returns W with the length of the given span, where the query is about
// the whole run.
func (b *base) overSpan(run int32, span metric.Span) interval {
	info := b.runs[run]
	w := info.over(b.def, span)
	if !b.q.Timed() {
		return w
	}
	if w.part = true; !w.placed {
		if w.why == metric.None { // the duration is that of the whole run
			w = interval{why: metric.Clock, part: true}
		}
		return w
	}
	a := b.axisOfSide(run, info)
	in := w.clip(a.from, a.to)
	if x := &info.side(int(info.counting())).selected; !in.placed && (a.to <= w.from || a.from > w.to) {
		in.why = metric.NoToken // requests may be sent behind the last token of all
		if a.to <= w.from || a.from > x.lastSend {
			in.why = metric.NoRequests
		}
	}
	return in
}

// axisOfSide returns the axis of the side that counts a run's requests.
func (b *base) axisOfSide(run int32, info *runInfo) axis {
	clock, _ := trace.ParseClock(info.side(int(info.counting())).clock)
	return b.axisOf(run, clock)
}

// clip returns the part of W that a window covers.
func (b *base) clip(run int32, info *runInfo, w interval, window int64) interval {
	if !w.placed {
		return w
	}
	a := b.axisOfSide(run, info)
	return w.clip(window, a.end(window))
}

// clip returns the part of W in [from, to).
func (w interval) clip(from, to int64) interval {
	w.from, w.to = max(w.from, from), min(w.to, to)
	w.dt, w.why, w.note, w.part = w.to-w.from, metric.None, "", true
	if w.dt <= 0 {
		w.dt, w.why, w.placed = 0, metric.NoSpan, false
	}
	return w
}

// windows returns the starts of the windows that W of a run covers, the
// earliest maxCells of them.
func (b *base) windows(run int32) []int64 {
	w := b.over(run)
	if !w.placed {
		return nil
	}
	a := b.axisOfSide(run, b.runs[run])
	if a.length == 0 {
		return nil
	}
	var list []int64
	first, last := a.window(w.from), min(w.to, a.to-1)
	for t := first; t > elsewhere && t <= last && len(list) < maxCells; t += a.length {
		list = append(list, t)
		if t > math.MaxInt64-a.length {
			break
		}
	}
	return list
}

// floorMod returns the remainder of a/b with the sign of b > 0.
func floorMod(a, b int64) int64 {
	if r := a % b; r < 0 {
		return r + b
	} else {
		return r
	}
}
