package kernel

import (
	"math"

	"servescope/analyzer/trace"
)

// axis places stamps of a batch in windows of time. Windows of a wall clock are
// aligned to multiples of their length since the epoch, those of other clocks
// to the run's first send.
type axis struct {
	length   int64 // of a window; 0: no windows
	origin   int64
	from, to int64 // [from, to): the query's interval; stamps outside are in no window
	late     bool  // facts are missing: nothing is placed in this pass
	other    bool  // the rows' clock is not the run's: they are in no window
}

// axis returns the axis of a view's rows.
func (b *base) axis(v *View) axis {
	clock := v.Run.Clock
	for _, name := range v.Dicts(trace.ClockCol).Values {
		if c, ok := trace.ParseClock(name); ok && clock.Kind == trace.RequestClock {
			clock = c
		}
	}
	if clock.Kind == trace.RequestClock {
		return axis{}
	}
	return b.axisOf(v.RunIndex, clock.Kind == trace.Wall, clock.String())
}

// axisOf returns the axis of a run for rows on the given clock.
func (b *base) axisOf(run int32, wall bool, clock string) axis {
	a := axis{length: b.q.Window, from: math.MinInt64, to: math.MaxInt64}
	if a.length <= 0 {
		a.length = 0
		return a
	}
	var f RunFacts
	if int(run) < len(b.facts.Runs) {
		f = b.facts.Runs[run]
	}
	relative := b.q.From != nil && b.q.From.Relative || b.q.To != nil && b.q.To.Relative
	if !wall || relative {
		if !f.HasTimes {
			a.late, a.length = b.facts.Pass == 0, 0
			return a
		}
		if !wall {
			a.origin, a.other = f.FirstSend, clock != f.Clock
		}
	}
	if b.q.From != nil {
		a.from = b.q.From.NS
		if b.q.From.Relative {
			a.from += f.FirstSend
		}
	}
	if b.q.To != nil {
		a.to = b.q.To.NS
		if b.q.To.Relative {
			a.to += f.FirstSend
		}
	}
	return a
}

// window returns the start of the window that t is in, or NoWindow.
func (a *axis) window(t int64) int64 {
	if a.length == 0 || a.other || t < a.from || t >= a.to {
		return NoWindow
	}
	return t - floorMod(t-a.origin, a.length)
}

// same reports whether t is in the given window, without a division.
func (a *axis) same(window, t int64) bool {
	if window == NoWindow {
		return a.window(t) == NoWindow
	}
	return t >= window && t-window < a.length && t >= a.from && t < a.to
}

// windows returns the starts of the windows that W of a run covers, the
// earliest maxCells of them.
func (b *base) windows(run int32) []int64 {
	info := b.runs[run]
	side := &info.sides[info.counting()]
	w := info.over(b.def)
	if !w.placed {
		return nil
	}
	a := b.axisOf(run, isWall(side.clock), side.clock)
	if a.length == 0 {
		return nil
	}
	var list []int64
	first, last := a.window(max(w.from, a.from)), min(w.to, a.to-1)
	for t := first; t != NoWindow && t <= last && len(list) < maxCells; t += a.length {
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
