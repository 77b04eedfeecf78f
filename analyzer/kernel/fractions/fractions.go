// Package fractions computes the mean numerators and denominators of TPOT, ITL and
// E2E per token, for the comparison of definition sets.
package fractions

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
)

// Quotient holds the mean parts of a quotient per request, over the requests that
// have it: (To - From) / By, the times in ns since the start.
type Quotient struct {
	N        int64 // requests, or their sequences
	From, To float64
	By       float64
}

// Run holds the quotients of a run under a definition set: TPOT, the pace that a tool
// calls ITL, and E2E by N.
type Run struct{ TPOT, ITL, E2E Quotient }

// New returns a kernel that computes the fractions of every run under
// def. Its results go to out, by run, in Finish: a report has no place for them.
func New(def *metric.Definition, out map[int32]Run) kernel.Kernel {
	return fractions{def, out}
}

type fractions struct {
	def *metric.Definition
	out map[int32]Run
}

func (fractions) Name() string { return "fractions" }

func (k fractions) Lists() bool { return k.def.ITL != nil && k.def.ITL.Chunks }

func (k fractions) New(q *query.Query, facts *kernel.Facts) kernel.State {
	s := &state{out: k.out}
	s.Base = cell.NewBase(k.def, q, facts)
	return s
}
