// Package kernel is the contract of what computes metrics. A Kernel folds views of
// batches into a State; states of goroutines, Web Workers and cluster shards merge;
// a state may ask for another pass over the data and broadcast what it learned.
// Results do not depend on the order of Update and Merge.
//
// Each kernel is a folder. Package all lists the kernels that fill a report. Kernels
// share package request, which holds one request as kernels see it, and package cell,
// which holds the cells that kernels fill; package kerneltest helps to test them.
package kernel

import (
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
)

// View is a batch as kernels fold it.
type View = request.View

// Kernel describes one group of metrics.
type Kernel interface {
	Name() string
	// Lists says whether Update needs the batches' chunk_gaps and chunk_tokens.
	Lists() bool
	// New returns an empty state for the pass that facts belongs to.
	New(q *query.Query, facts *Facts) State
}

// State holds what a kernel has found so far. Update and Merge are called by one
// goroutine at a time. Merge is associative and commutative, and
// state(A+B) equals state(A) merged with state(B), also after
// AppendState/LoadState.
type State interface {
	Update(v *View)
	Merge(other State) error
	AppendState(dst []byte) []byte
	LoadState(src []byte) error
	Size() int64
	// Next adds what the state learned to facts and reports whether the kernel
	// wants another pass with them.
	Next(facts *Facts) bool
	// Finish writes the results.
	Finish(out Output)

	// Sort sorts the values of the state and changes nothing that it says. States
	// that are sorted before they are merged or encoded merge faster.
	Sort()
	// Settle does a part of the work of Next and Finish in advance, so that several
	// states can be settled at a time. It changes nothing that the state says. It is
	// called after the last Update and Merge, or not at all.
	Settle()
	// Late reports whether windows could not be placed: another pass places them.
	Late() bool
	// Cut returns the first window, by its start, of which something is left out
	// because a report holds no more windows, and whether there is one.
	Cut() (window int64, capped bool)
	// Dropped returns how many rows of each run are in no table because there are
	// more tables than a report holds, and how many a report holds.
	Dropped() (rows map[int32]int64, most int)
}

// Defaults has the methods of State that most states need nothing in. States embed
// it.
type Defaults struct{}

// Next asks for no other pass.
func (Defaults) Next(*Facts) bool { return false }

// Sort does nothing.
func (Defaults) Sort() {}

// Settle does nothing.
func (Defaults) Settle() {}

// Late reports false.
func (Defaults) Late() bool { return false }

// Cut reports that nothing is left out.
func (Defaults) Cut() (window int64, capped bool) { return 0, false }

// Dropped returns no rows.
func (Defaults) Dropped() (rows map[int32]int64, most int) { return nil, 0 }

// Output takes the results of Finish. Cell returns the cell of a run, group
// and window, creating it; group -1 is the whole run, window NoWindow the whole
// time, any other window its start in ns on the run's clock.
type Output interface {
	Cell(run, group int32, window int64) *report.Cell
	Run(run int32) *report.Run
	// Idle returns when the engines of a run hold no request; nil where nothing
	// tells.
	Idle(run int32) Idle
}

// NoWindow is the window of cells that span the whole run.
const NoWindow = int64(-1) << 63
