package kernel

import (
	"cmp"
	"slices"
	"sort"

	"servescope/analyzer/sorting"
)

// Idler is an Output that knows when the engines of a run hold no request.
type Idler interface {
	Idle(run int32) Idle
}

// Idle is when all engines of a run say that no request runs or waits, in order of
// time.
type Idle []idling

// idling is a line by which all engines are idle: when it is, the latest line of
// the engine that has been silent for longest, and the line before by which not
// all are idle, or none where there is another idle one between.
type idling struct{ t, oldest, busy int64 }

// End returns when a request is over that is last seen at the given time and of
// which no end is recorded: at the first line by which all engines are idle, each
// with a line behind the request, where the line before, no earlier than the
// request, is busy; else at the second such line, for the first may come before
// the request has reached an engine.
func (x Idle) End(seen int64) (int64, bool) {
	i := sort.Search(len(x), func(i int) bool { return x[i].oldest > seen })
	switch {
	case i < len(x) && x[i].busy != none && x[i].busy >= seen:
		return x[i].t, true
	case i+1 < len(x):
		return x[i+1].t, true
	}
	return 0, false
}

// IdleOf returns when all engines of a run hold no request, by the state of Loads;
// nothing where a request may be in an engine that logs nothing of it, or where
// what engines log leaves out requests in their prefill.
func IdleOf(state State, run int32) Idle {
	s, ok := state.(*loadsState)
	if !ok || s.full {
		return nil
	}
	list := slices.DeleteFunc(s.engines(run, -1), func(e engine) bool { return e.gauge == activeGauge })
	if len(list) == 0 || int64(len(list)) < s.exist[run] {
		return nil
	}
	var lines []engineLine
	for i, e := range list {
		if e.gauge != runningGauge || e.mixed || e.clock != list[0].clock {
			return nil
		}
		for _, m := range e.marks.sequences {
			lines = append(lines, engineLine{m.t, i, m.idle})
		}
	}
	sorting.Stable(lines, func(a, b engineLine) int { return cmp.Compare(a.t, b.t) })
	return idleAmong(lines, len(list))
}

// engineLine is what one engine says at an instant.
type engineLine struct {
	t      int64
	engine int
	idle   bool
}

// idleAmong returns the lines by which all n engines are idle.
func idleAmong(lines []engineLine, n int) Idle {
	var out Idle
	idle, latest := make([]bool, n), make([]int64, n)
	for i := range latest {
		latest[i] = none
	}
	count, busy := 0, int64(none)
	for i, l := range lines {
		latest[l.engine] = l.t
		if idle[l.engine] != l.idle {
			idle[l.engine] = l.idle
			if l.idle {
				count++
			} else {
				count--
			}
		}
		switch {
		case i+1 < len(lines) && lines[i+1].t == l.t: // the others of this instant first
		case count == n:
			out = append(out, idling{l.t, slices.Min(latest), busy})
			busy = none
		default:
			busy = l.t
		}
	}
	return out
}
