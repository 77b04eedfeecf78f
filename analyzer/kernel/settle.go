package kernel

import (
	"servescope/analyzer/metric"
	"servescope/analyzer/stat"
)

// Settler is a State with work that its Next and Finish do if nobody has done it
// before, and that can be done for several states at a time. It changes nothing
// that the state says. It is called after the last Update and Merge.
type Settler interface{ Settle() }

// Sorter is a State whose values are in order before it is written or settled. Sort
// brings them there if nobody has done it, and changes nothing that the state says;
// what is in order on both sides merges faster.
type Sorter interface{ Sort() }

// Sort sorts the values of each place.
func (s *latencyState) Sort() {
	for _, cell := range s.cells.byPlace {
		for slot := range cell.values {
			cell.values[slot].Sort()
		}
	}
}

// Sort sorts the times of each place.
func (s *concurrencyState) Sort() {
	for _, f := range s.cells.byPlace {
		f.starts.Sort()
		f.ends.Sort()
	}
}

// Settle sorts and sums up the values of each side of a run that are in one place. Others are
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
			cell.values[slot].Settle(measures[slot].quotient)
		}
	}
}

// Settle brings the kept values of the digests together.
func (s *tokensState) Settle() {
	for _, p := range s.cells.byPlace {
		for _, d := range p.digests {
			if d != nil {
				d.Settle()
			}
		}
	}
}

// Settle sums up the parts of the requests that give a run's latencies. Without
// windows each place is one cell.
func (s *decompositionState) Settle() {
	for p, c := range s.cells.byPlace {
		info := s.runs[p.run]
		if info != nil && p.window == NoWindow && p.side == int32(info.latency(s.def)) && len(c.bySignature) > 0 {
			c.totals = s.total(c, true)
		}
	}
}

// plateau is the steady window of a run, or why it has none.
type plateau struct {
	window [2]int64
	why    metric.Reason
}

// swept is what all requests of a run tell of how many are in flight: the steady
// window, and, where the log leaves none open, what is over W.
type swept struct {
	plateau plateau
	over    stat.Over
}

// Settle looks for the steady windows and sweeps over W.
func (s *concurrencyState) Settle() {
	s.finishing(func(run int32, info *runInfo) { s.sweep(run, info) })
}

// sweep returns what a run's requests alone tell.
func (s *concurrencyState) sweep(run int32, info *runInfo) *swept {
	p := s.swept[run]
	if p == nil {
		all := s.flight(run, -1, info.counting())
		sweep := all.sweep(nil)
		p = new(swept)
		p.plateau.window, p.plateau.why = steadyOf(sweep, info)
		if len(all.open) == 0 {
			w := info.inFlight(s.over(run), none)
			p.over = w.over(sweep, curvePoints)
		}
		if s.swept == nil {
			s.swept = make(map[int32]*swept)
		}
		s.swept[run] = p
	}
	return p
}
