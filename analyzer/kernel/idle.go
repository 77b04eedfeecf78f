package kernel

import (
	"sort"

	"servescope/analyzer/kernel/request"
)

// Idle is when all engines of a run say that no request runs or waits, in order of
// time.
type Idle []IdleLine

// IdleLine is a line by which all engines are idle.
type IdleLine struct {
	T      int64 // when it is
	Oldest int64 // the latest line of the engine that has been silent for longest
	Busy   int64 // the line before by which not all are idle; None where another idle line is between
}

// End returns when a request is over that is last seen at the given time and of
// which no end is recorded: at the first line by which all engines are idle, each
// with a line behind the request, where the line before, no earlier than the
// request, is busy; else at the second such line, for the first may come before
// the request has reached an engine.
func (x Idle) End(seen int64) (int64, bool) {
	i := sort.Search(len(x), func(i int) bool { return x[i].Oldest > seen })
	switch {
	case i < len(x) && x[i].Busy != request.None && x[i].Busy >= seen:
		return x[i].T, true
	case i+1 < len(x):
		return x[i+1].T, true
	}
	return 0, false
}
