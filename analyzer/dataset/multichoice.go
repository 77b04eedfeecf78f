package dataset

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/trace"
)

// Multichoice is the requests that have several choices, each a row: a query judges
// the request and keeps or removes all of its rows.
type Multichoice struct {
	Choices  *request.Choices
	Rows     map[int32][]int32 // by the number of each of their rows: the rows of its request, first the row by which it is counted
	Arrivals map[int32]int64   // by the number of that one; none where no arrival is known
}

// findMultichoice groups the rows of requests with several choices. Kernels that have
// folded such rows while they were read, without these groups, must start again.
func findMultichoice(s *Set) {
	c := new(request.Choices)
	view := func(r *Batch) *kernel.View {
		return &kernel.View{Batch: r.Open(), RunIndex: r.Slot, Links: s.Links, Base: r.Number}
	}
	for _, r := range s.Requests {
		if s.Links != nil || r.Has(trace.Choice) {
			c.Find(view(r))
		}
	}
	if c.None() {
		return
	}
	keepRows(s)
	for _, r := range s.Requests {
		c.Add(view(r))
	}
	c.Join()
	s.Multi = &Multichoice{c, make(map[int32][]int32), make(map[int32]int64)}
	c.Each(func(rows []int32, arrival int64, known bool) {
		for _, n := range rows {
			s.Multi.Rows[n] = rows
		}
		if known {
			s.Multi.Arrivals[rows[0]] = arrival
		}
	})
}

// First reports whether the request of row n is counted with it.
func (m *Multichoice) First(n int32) bool {
	if m == nil {
		return true
	}
	rows := m.Rows[n]
	return rows == nil || rows[0] == n
}

// Arrival returns when the request of row n arrives, which itself arrives at the
// given time, if that is known.
func (m *Multichoice) Arrival(n int32, at int64, known bool) (int64, bool) {
	if m == nil || m.Rows[n] == nil {
		return at, known
	}
	at, known = m.Arrivals[m.Rows[n][0]]
	return at, known
}
