// Package kernel computes metrics: one file per group of metrics. A kernel
// folds batches into a State; states of goroutines, Web Workers and cluster
// shards merge; a state may ask for another pass over the data and broadcast
// what it learned. Results do not depend on the order of Update and Merge.
package kernel

import (
	"math"

	"servescope/analyzer/join"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
)

// View is a batch with the verdict of the query on each row.
type View struct {
	*trace.Batch
	RunIndex int32    // index of the batch's run in the report
	Choices  *Choices // joins the rows of requests of several choices; nil where there are none
	Ends     *Ends    // finds the engine steps that gave the tokens of requests; nil where there are none
	Group    []int32  // index of the row's group; -1: the query removed the row, whatever the time. Without --by every group is 0

	// Links says which rows are of one request, and what each is to it; nil where
	// every row is one. Base is the number of the batch's first row in it.
	Links *join.Links
	Base  int32

	Memory *Memory // that the rows are read into, if it is set

	rows      *rows // read once for all kernels; nil before
	read      []row // the same; nil where they are many
	summaries []summary
}

// Memory is where the rows of a view are read. One goroutine may give it to one
// view after the other: that of the view before is not used any more then.
type Memory struct {
	rows      rows
	read      []row
	summaries [2]summary
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

	// Store takes what does not fit the memory of states; nil: there is none. It is
	// of one process, and what it gives back is the same as if nothing had been
	// stored.
	Store stat.Store `json:"-"`

	// Memory is how many bytes of values a state holds before it packs them, and what
	// is packed before it goes to the store; 0: MostMemory. Answers do not depend on it.
	Memory int64 `json:"-"`
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
	Sized                bool    // requests tell the tokens of each chunk, or have one in each: as many as chunks
	Bounds               []Bound // of the query's interval, by clock; where the query sets one they are known before the first pass
}

// Bound is the part [From, To) of a clock that a query is about.
type Bound struct {
	Clock    string // as Axis names it
	From, To int64
}

// Axis names the clock whose time is that of c: wall clocks of several hosts
// are taken to be in step.
func Axis(c trace.Clock) string {
	if c.Kind == trace.Wall {
		return trace.Wall.String()
	}
	return c.String()
}

// Bound returns the part [from, to) of a clock that q is about: everything
// without an interval, nothing on a clock that the interval has no place on.
// Clocks of single requests have no bounds.
func (f *RunFacts) Bound(q *query.Query, c trace.Clock) (from, to int64) {
	if !q.Timed() || c.Kind == trace.RequestClock {
		return math.MinInt64, math.MaxInt64
	}
	for _, b := range f.Bounds {
		if b.Clock == Axis(c) {
			return b.From, b.To
		}
	}
	return 0, 0
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

// elsewhere is the window of what lies outside of the query's interval. It is
// kept apart only to be counted: no cell holds it.
const elsewhere = NoWindow + 1
