// Package kernel computes metrics: one file per group of metrics. A kernel
// folds batches into a State; states of goroutines, Web Workers and cluster
// shards merge; a state may ask for another pass over the data and broadcast
// what it learned. Results do not depend on the order of Update and Merge.
package kernel

import (
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// View is a batch with the verdict of the query on each row.
type View struct {
	*trace.Batch
	RunIndex int32    // index of the batch's run in the report
	Choices  *Choices // joins the rows of requests of several choices; nil where there are none
	Group    []int32  // index of the row's group; -1: the query removed the row. Without --by every group is 0
}

// Kernel describes one group of metrics.
type Kernel interface {
	Name() string
	// Lists says whether Update needs the batches' chunk_gaps and chunk_tokens.
	Lists() bool
	// New returns an empty state for the pass that facts belongs to.
	New(q *query.Query, facts *Facts) State
}

// State is what a kernel knows so far. Update and Merge are called by one
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
}

// Facts is what earlier passes learned; it is broadcast to every worker before
// the next pass and can be encoded as JSON. Pass is 0 in the first pass.
type Facts struct {
	Pass int
	Runs []RunFacts
	// Private holds facts of one kernel for its own next pass, by kernel name.
	Private map[string][]byte
}

// RunFacts are facts of one run, on its clock in ns. HasTimes is false when the
// run's requests have no common clock.
type RunFacts struct {
	HasTimes             bool
	Clock                string // the run's clock, as in the clock column
	FirstSend, LastSend  int64
	LastToken            int64
	SteadyFrom, SteadyTo int64
	HasSteady            bool
}

// Output is where Finish puts results. Cell returns the cell of a run, group
// and window, creating it; group -1 is the whole run, window NoWindow the whole
// time, any other window its start in ns on the run's clock.
type Output interface {
	Cell(run, group int32, window int64) *report.Cell
	Run(run int32) *report.Run
}

// NoWindow is the window of cells that span the whole run.
const NoWindow = int64(-1) << 63
