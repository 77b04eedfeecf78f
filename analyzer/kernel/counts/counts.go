// Package counts counts requests by status. A request belongs to the window of its
// send or arrival.
package counts

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
)

type requests struct{ def *metric.Definition }

// New returns the kernel that counts requests under def.
func New(def *metric.Definition) kernel.Kernel { return requests{def} }

func (requests) Name() string { return "requests" }

func (requests) Lists() bool { return false }

func (k requests) New(q *query.Query, facts *kernel.Facts) kernel.State {
	s := new(state)
	s.Base = cell.NewBase(k.def, q, facts)
	return s
}
