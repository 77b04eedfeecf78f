package analyzer

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/trace"
)

// joinChoices joins the rows of requests of several choices as sel selects them,
// or returns nil where every row is a request of its own. Kernels that have
// folded such rows without it, while they were read, have to begin anew.
func (s *Session) joinChoices(sel *selection) *kernel.Choices {
	c := new(kernel.Choices)
	for _, r := range s.rows {
		if s.joins != nil || r.batch.Has(trace.Choice) {
			c.Find(&kernel.View{Batch: r.batch, RunIndex: r.slot, Links: s.joins, Base: r.number})
		}
	}
	if c.None() {
		return nil
	}
	for i, r := range s.rows {
		c.Add(&kernel.View{Batch: r.batch, RunIndex: r.slot, Group: sel.of(i), Links: s.joins, Base: r.number})
	}
	c.Join()
	return c
}
