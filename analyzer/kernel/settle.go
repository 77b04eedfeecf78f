package kernel

import "servescope/analyzer/metric"

// Settler is a State with work that its Next and Finish do if nobody has done it
// before, and that can be done for several states at a time. It changes nothing
// that the state says. It is called after the last Update and Merge.
type Settler interface{ Settle() }

// Settle sorts the values of each side of a run that are in one place. Others are
// united for each cell before they are sorted.
func (s *latencyState) Settle() {
	if s.wanted != nil {
		return
	}
	type part struct{ run, side int32 }
	places := make(map[part]int)
	for p := range s.cells.byPlace {
		places[part{p.run, p.side}]++
	}
	for p, cell := range s.cells.byPlace {
		if places[part{p.run, p.side}] > 1 {
			continue
		}
		for slot := range cell.values {
			cell.values[slot].Settle()
		}
	}
}

// plateau is the steady window of a run, or why it has none.
type plateau struct {
	window [2]int64
	why    metric.Reason
}

// Settle looks for the steady windows.
func (s *concurrencyState) Settle() {
	s.finishing(func(run int32, info *runInfo) { s.plateau(run, info) })
}

// plateau returns the steady window of a run as requests alone tell it.
func (s *concurrencyState) plateau(run int32, info *runInfo) plateau {
	p, ok := s.plateaus[run]
	if !ok {
		p.window, p.why = steadyOf(s.flight(run, -1, info.counting()).sweep(nil), info)
		if s.plateaus == nil {
			s.plateaus = make(map[int32]plateau)
		}
		s.plateaus[run] = p
	}
	return p
}
