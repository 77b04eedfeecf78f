// Package latency computes the metrics that have one value per request. TTFT and
// other values of the start of a request belong to the window of its send, the rest
// to the window of its end.
//
// Values are kept at the finest place only; coarser cells are unions. Where a place
// has too many values they are counted in buckets, and a second pass fetches those
// that order statistics need (refine.go).
package latency

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
)

type latency struct {
	def  *metric.Definition
	only cell.Only
}

// New returns the kernel of the latencies that only names, nil being all,
// under def.
func New(def *metric.Definition, only cell.Only) kernel.Kernel { return latency{def, only} }

func (latency) Name() string { return "latency" }

func (latency) Lists() bool { return false }

func (k latency) New(q *query.Query, facts *kernel.Facts) kernel.State {
	s := new(state)
	s.Base = cell.NewBase(k.def, q, facts)
	s.budget = cell.BudgetOf(facts)
	s.only, s.skip = k.only, k.only.Skipped()
	if code := facts.Private[k.Name()]; len(code) > 0 {
		s.refine(code)
	}
	return s
}
