// Package concurrency computes the number of requests in flight over time, by an
// exact sweep over all of them (some 6 bytes a request), and the steady window of a
// run.
package concurrency

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
)

type concurrency struct{ def *metric.Definition }

// New returns the kernel of concurrency under def.
func New(def *metric.Definition) kernel.Kernel { return concurrency{def} }

func (concurrency) Name() string { return "concurrency" }

func (concurrency) Lists() bool { return false }

func (k concurrency) New(q *query.Query, facts *kernel.Facts) kernel.State {
	s := new(state)
	s.Base = cell.NewBase(k.def, q, facts)
	return s
}
