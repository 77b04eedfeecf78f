package kernel

// celled is the state of a kernel that keeps contents by place and nothing
// else. It implements all of State but Update and Finish, and Merge but for the
// check that the other state is of the same kernel.
type celled[T any, P content[T]] struct {
	base
	cells cells[T, P]
}

func (s *celled[T, P]) merge(o *celled[T, P]) error {
	s.base.merge(&o.base)
	s.cells.merge(&o.cells)
	return nil
}

// AppendState implements State.
func (s *celled[T, P]) AppendState(dst []byte) []byte {
	return s.cells.appendTo(s.base.appendTo(dst))
}

// LoadState implements State.
func (s *celled[T, P]) LoadState(src []byte) error {
	r := &reader{src: src}
	s.base.load(r)
	s.cells.load(r)
	return r.done()
}

// Size implements State.
func (s *celled[T, P]) Size() int64 { return s.cells.size() }

// Next implements State: it asks for another pass if windows could not be placed.
func (s *celled[T, P]) Next(facts *Facts) bool { return s.learn(facts) }

// Overflow returns the number of requests (of the kernels of tokens: gaps or
// tokens) that are in no window because a report holds no more windows.
func (s *celled[T, P]) Overflow() int64 {
	s.cells.prune()
	return s.cells.lost
}

// Cut returns the first window, by its start, of which something is left out
// because a report holds no more windows, and whether there is one.
func (s *celled[T, P]) Cut() (window int64, capped bool) {
	s.cells.prune()
	return s.cells.cut.window, s.cells.full
}

// united returns the union of the contents of the given places.
func (s *celled[T, P]) united(places []place) P {
	sum := P(new(T))
	if s.cells.fresh != nil {
		sum = s.cells.fresh()
	}
	for _, p := range places {
		sum.merge(s.cells.byPlace[p])
	}
	return sum
}
