package loads

import (
	"cmp"
	"slices"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/request"
)

// IdleOf returns when all engines of a run hold no request, by the state of this package;
// nothing where a request may be in an engine that logs nothing of it, or where
// what engines log leaves out requests in their prefill.
func IdleOf(from kernel.State, run int32) kernel.Idle {
	s, ok := from.(*state)
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
	slices.SortStableFunc(lines, func(a, b engineLine) int { return cmp.Compare(a.t, b.t) })
	return idleAmong(lines, len(list))
}

// engineLine tells whether one engine is idle at an instant.
type engineLine struct {
	t      int64
	engine int
	idle   bool
}

// idleAmong returns the lines by which all n engines are idle.
func idleAmong(lines []engineLine, n int) kernel.Idle {
	var out kernel.Idle
	idle, latest := make([]bool, n), make([]int64, n)
	for i := range latest {
		latest[i] = request.None
	}
	count, busy := 0, int64(request.None)
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
			out = append(out, kernel.IdleLine{T: l.t, Oldest: slices.Min(latest), Busy: busy})
			busy = request.None
		default:
			busy = l.t
		}
	}
	return out
}
