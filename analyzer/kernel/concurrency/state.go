package concurrency

import (
	"servescope/analyzer/join"
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
)

type state struct {
	cell.State[flight, *flight]
	swept map[int32]*swept       // by run, of those asked for since the state last changed
	byRun map[int32][]cell.Place // the cells, since the state last changed; nil: not needed yet
}

func (s *state) Update(v *kernel.View) {
	s.swept, s.byRun = nil, nil
	x := s.Begin(v)
	for i := range v.Rows {
		if w, selected := x.Next(i); selected && !w.Sibling && w.Role != join.Linked {
			s.Cells.At(cell.Place{Window: kernel.NoWindow, Run: x.RunIndex, Group: x.Group[i], Side: w.Slot()}, 0).add(w.Request(), s.Def)
		}
	}
}

func (s *state) Merge(other kernel.State) error {
	o, ok := other.(*state)
	if !ok {
		return cell.MergeError(s, other)
	}
	s.swept, s.byRun = nil, nil
	return s.MergeCells(&o.State)
}

func (s *state) LoadState(src []byte) error {
	s.swept, s.byRun = nil, nil
	return s.State.LoadState(src)
}

// Next adds the steady windows to facts.
func (s *state) Next(facts *kernel.Facts) bool {
	again := s.Learn(facts)
	s.Finishing(func(run int32, info *cell.Run) {
		if p := s.sweep(run, info).plateau; p.why == metric.None {
			f := &facts.Runs[run] // of the same side, unless the query selects another
			f.HasSteady = f.Clock == info.Side(int(info.CountingSide())).Clock
			f.SteadyFrom, f.SteadyTo = p.window[0], p.window[1]
		}
	})
	return again
}

// places returns the cells of a run.
func (s *state) places(run int32) []cell.Place {
	if s.byRun == nil {
		s.byRun = make(map[int32][]cell.Place, len(s.Runs))
		for p := range s.Cells.ByPlace {
			s.byRun[p.Run] = append(s.byRun[p.Run], p)
		}
	}
	return s.byRun[run]
}

// flight returns all requests of a group of one side; group -1 is all. What is
// in one place is not copied.
func (s *state) flight(run, group int32, side trace.Side) *flight {
	var list []*flight
	for _, p := range s.places(run) {
		if p.Side == int32(side) && (group < 0 || p.Group == group) {
			list = append(list, s.Cells.ByPlace[p])
		}
	}
	if len(list) == 1 {
		return list[0]
	}
	all := new(flight)
	for _, f := range list {
		all.Merge(f)
	}
	return all
}

// Sort sorts the times of each place.
func (s *state) Sort() {
	for _, f := range s.Cells.ByPlace {
		f.starts.Sort()
		f.ends.Sort()
	}
}

// Settle looks for the steady windows and sweeps over W.
func (s *state) Settle() {
	s.Finishing(func(run int32, info *cell.Run) { s.sweep(run, info) })
}

// sweep returns what a run's requests alone tell.
func (s *state) sweep(run int32, info *cell.Run) *swept {
	p := s.swept[run]
	if p == nil {
		all := s.flight(run, -1, info.CountingSide())
		sweep := all.sweep(nil)
		p = new(swept)
		p.plateau.window, p.plateau.why = steadyOf(sweep, info)
		if len(all.open) == 0 {
			w := inFlight(info, s.Over(run), request.None)
			p.over = overOf(&w, sweep, curvePoints)
		}
		if s.swept == nil {
			s.swept = make(map[int32]*swept)
		}
		s.swept[run] = p
	}
	return p
}

// plateau is the steady window of a run, or why it has none.
type plateau struct {
	window [2]int64
	why    metric.Reason
}

// swept holds what a sweep over all requests of a run found: the steady
// window, and, where the log leaves none open, what is over W.
type swept struct {
	plateau plateau
	over    stat.Summary
}
