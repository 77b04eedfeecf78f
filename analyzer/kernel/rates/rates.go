// Package rates computes throughput, and the models that it is compared with.
// Requests belong to the window of their send, completions to the window of their
// end, tokens to the window of their own time.
package rates

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
)

type rates struct{ def *metric.Definition }

// New returns the kernel of throughput under def.
func New(def *metric.Definition) kernel.Kernel { return rates{def} }

func (rates) Name() string { return "rates" }

func (rates) Lists() bool { return true }

func (k rates) New(q *query.Query, facts *kernel.Facts) kernel.State {
	s := new(state)
	s.Base = cell.NewBase(k.def, q, facts)
	s.Cells.Fresh = newFlow
	return s
}
