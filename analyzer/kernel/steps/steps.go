// Package steps sums up what engines say of their own steps, by run, group and
// window. Its state is fed with batches of the steps table alone, in one pass after
// the passes over requests.
package steps

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/query"
)

// New returns the kernel. It is not in all.All, whose kernels fold requests.
func New() kernel.Kernel { return steps{} }

type steps struct{}

func (steps) Name() string { return "steps" }

func (steps) Lists() bool { return false }

func (steps) New(q *query.Query, facts *kernel.Facts) kernel.State {
	return &state{Base: cell.NewBase(nil, q, facts), series: make(map[cell.SeriesKey]*series), other: make(map[int32]int64)}
}
