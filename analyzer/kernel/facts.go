package kernel

import (
	"math"

	"servescope/analyzer/query"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
)

// Facts holds what earlier passes learned; it is broadcast to every worker before
// the next pass and can be encoded as JSON. Pass is 0 in the first pass.
type Facts struct {
	Pass int
	Runs []RunFacts
	// Private holds facts of one kernel for its own next pass, by kernel name.
	Private map[string][]byte

	// Store takes values that do not fit the memory of states; nil: there is no store.
	// It belongs to one process. Answers do not depend on it.
	Store stat.Store `json:"-"`

	// Memory is how many bytes of values a state holds before it packs them and sends
	// packed values to the store; 0: MaxMemory. Answers do not depend on it.
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

// Bound returns the part [from, to) of a clock that q is about: all of it if q has no
// interval, nothing if the interval has no place on the clock. Clocks of single
// requests have no bounds.
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

// Bound is the part [From, To) of a clock that a query is about.
type Bound struct {
	Clock    string // as Axis names it
	From, To int64
}

// Axis names the time axis of a clock: wall clocks of several hosts are taken to be
// in step.
func Axis(c trace.Clock) string {
	if c.Kind == trace.Wall {
		return trace.Wall.String()
	}
	return c.String()
}

// MaxMemory caps the bytes of unpacked values per state: beyond it, packing costs no
// more than touching fresh memory.
const MaxMemory = 24 << 20
