// Package steptime decomposes the time per token and the time of engine steps, by
// run, group and window. Its state is fed like the state of package steps. It holds
// every step that tells its length, also the steps that the query removes: what the
// sequences of a step waited for lies in the steps before it.
package steptime

import (
	"servescope/analyzer/collective"
	"servescope/analyzer/decompose"
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/query"
)

// New returns the kernel. It is not in all.All, whose kernels fold requests.
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
