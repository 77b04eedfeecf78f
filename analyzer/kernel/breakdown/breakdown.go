// Package breakdown decomposes the time to first token of every request into its
// stages. The total is TTFT by the default definition, whatever the definition of
// the report.
//
// The parts of every request are kept, as varints, at the finest place only: which
// requests form a tail is known at the end.
package breakdown

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
)

type decomposition struct{ asked *metric.Definition }

// New returns the kernel of the decomposition of TTFT, beside a report
// under asked.
func New(asked *metric.Definition) kernel.Kernel { return decomposition{asked} }

func (decomposition) Name() string { return "decomposition" }

func (decomposition) Lists() bool { return false }

func (k decomposition) New(q *query.Query, facts *kernel.Facts) kernel.State {
	s := &state{asked: k.asked}
	s.Base = cell.NewBase(metric.Default, q, facts)
	return s
}
