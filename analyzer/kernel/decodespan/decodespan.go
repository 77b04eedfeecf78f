// Package decodespan decomposes the time from the first to the last token of
// requests, per token. Few sources tell what happened in it; where the steps of the
// engine have ends on the clock of the tokens, the kernel finds the steps that gave
// them. The total is TPOT by the default definition.
package decodespan

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
)

type decodeSpan struct{}

// New returns the kernel of the decomposition of TPOT.
func New() kernel.Kernel { return decodeSpan{} }

func (decodeSpan) Name() string { return "decode_span" }

func (decodeSpan) Lists() bool { return true }

func (decodeSpan) New(q *query.Query, facts *kernel.Facts) kernel.State {
	s := new(state)
	s.Base = cell.NewBase(metric.Default, q, facts)
	return s
}
