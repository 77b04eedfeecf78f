package cell

import "servescope/analyzer/kernel"

// State is the state of a kernel that keeps contents by place and nothing
// else. It implements all of State but Update and Finish, and Merge but for the
// check that the other state belongs to the same kernel.
type State[T any, P content[T]] struct {
	Base
	Cells Cells[T, P]
}

func (s *State[T, P]) MergeCells(o *State[T, P]) error {
	s.Base.MergeRuns(&o.Base)
	s.Cells.Merge(&o.Cells)
	return nil
}

// AppendState implements State.
func (s *State[T, P]) AppendState(dst []byte) []byte {
	return s.Cells.AppendTo(s.Base.AppendRuns(dst))
}

// LoadState implements State.
func (s *State[T, P]) LoadState(src []byte) error {
	r := &Reader{Src: src}
	s.Base.LoadRuns(r)
	s.Cells.Load(r)
	return r.Done()
}

// Size implements State.
func (s *State[T, P]) Size() int64 { return s.Cells.Size() }

// Next implements State: it asks for another pass if windows could not be placed.
func (s *State[T, P]) Next(facts *kernel.Facts) bool { return s.Learn(facts) }

// Cut returns the first window, by its start, of which something is left out
// because a report holds no more windows, and whether there is one.
func (s *State[T, P]) Cut() (window int64, capped bool) {
	s.Cells.Prune()
	return s.Cells.cut.Window, s.Cells.full
}

// United returns the union of the contents of the given places.
func (s *State[T, P]) United(places []Place) P {
	sum := P(new(T))
	if s.Cells.Fresh != nil {
		sum = s.Cells.Fresh()
	}
	for _, p := range places {
		sum.Merge(s.Cells.ByPlace[p])
	}
	return sum
}
