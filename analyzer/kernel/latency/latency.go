package latency

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
)

// latency computes the metrics that have one value per request. Values are kept
// at the finest place only; coarser cells are unions. Where a place has too many
// they are counted, and those that order statistics need are fetched in a second
// pass: see fetch. TTFT and what else lies at the start of a request belong to
// the window of its send, the rest to that of its end.
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
