package steptime

import (
	"servescope/analyzer/collective"
	"servescope/analyzer/decompose"
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/query"
)

// New returns the kernel that takes the time per token and the time of engine steps apart, by run,
// group and window. It is fed as Steps is. It holds every step that says how long
// it was, also those that the query removes: what the sequences of a step have
// waited for lies in the steps before.
func New() kernel.Kernel { return stepTime{} }

type stepTime struct{}

func (stepTime) Name() string { return "step_time" }

func (stepTime) Lists() bool { return false }

func (stepTime) New(q *query.Query, facts *kernel.Facts) kernel.State {
	return newState(q, facts)
}

func newState(q *query.Query, facts *kernel.Facts) *state {
	return &state{Base: cell.NewBase(nil, q, facts), ranks: make(map[rankKey]*decompose.Timeline), links: make(map[linkKey][]collective.Kernel)}
}
