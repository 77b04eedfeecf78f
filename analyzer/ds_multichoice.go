package analyzer

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/trace"
)

// wholes are the requests that have several choices, each a row: a query judges
// the request and keeps or removes all of its rows.
type multichoice struct {
	choices  *kernel.Choices
	rows     map[int32][]int32 // by the number of each of their rows: those of its request, the one that it is counted with first
	arrivals map[int32]int64   // by the number of that one; none where no arrival is known
}

// findWholes puts the rows of requests of several choices together. Kernels that
// have folded such rows without it, while they were read, have to begin anew.
func (s *Set) findWholes() {
	c := new(kernel.Choices)
	view := func(r *Batch) *kernel.View {
		return &kernel.View{Batch: r.open(), RunIndex: r.slot, Links: s.links, Base: r.number}
	}
	for _, r := range s.requests {
		if s.links != nil || r.has(trace.Choice) {
			c.Find(view(r))
		}
	}
	if c.None() {
		return
	}
	s.keepRows()
	for _, r := range s.requests {
		c.Add(view(r))
	}
	c.Join()
	s.multi = &multichoice{c, make(map[int32][]int32), make(map[int32]int64)}
	c.Each(func(rows []int32, arrival int64, known bool) {
		for _, n := range rows {
			s.multi.rows[n] = rows
		}
		if known {
			s.multi.arrivals[rows[0]] = arrival
		}
	})
}

// first reports whether the request of row n is counted with it.
func (w *multichoice) first(n int32) bool {
	if w == nil {
		return true
	}
	rows := w.rows[n]
	return rows == nil || rows[0] == n
}

// arrival returns when the request of row n arrives, which itself arrives at the
// given time, if that is known.
func (w *multichoice) arrival(n int32, at int64, known bool) (int64, bool) {
	if w == nil || w.rows[n] == nil {
		return at, known
	}
	at, known = w.arrivals[w.rows[n][0]]
	return at, known
}

// choices returns what kernels need to join rows to requests; nil where every row
// is one.
func (s *Set) choices() *kernel.Choices {
	if s.multi == nil {
		return nil
	}
	return s.multi.choices
}
