package request

import (
	"servescope/analyzer/trace"
)

// Arrivals tells when the requests of a batch begin, as every kernel sees it.
type Arrivals struct {
	side   trace.Dicts
	own    trace.Side // of rows that name none
	starts [4]trace.Ints
}

// ArrivalsOf returns the arrivals of b, which has a run and must not change
// while they are used.
func ArrivalsOf(b *trace.Batch) Arrivals {
	return Arrivals{b.Dicts(trace.SideCol), b.Run.Side, startsOf(b)}
}

// At returns the stamp by which row i belongs to an interval of time, in ns on
// its clock: where latencies of its side begin, else its send, receipt,
// dispatch or queueing. It reports false where none is recorded.
func (a *Arrivals) At(i int) (int64, bool) {
	side := a.own
	if c, ok := a.side.At(i); ok {
		side = trace.Side(c)
	}
	_, enter := entry(&a.starts, side, i)
	return enter, enter != None
}

// Leavings tells when the requests of a batch end, as every kernel sees it.
type Leavings struct{ rows Rows }

// LeavingsOf returns the ends of b, which has a run and must not change while
// they are used.
func LeavingsOf(b *trace.Batch) *Leavings { return &Leavings{rowsOf(&View{Batch: b})} }

// At returns the stamp by which the end of row i, as its TPOT, belongs to an
// interval of time, in ns on its clock. It reports false where none is recorded,
// or the clock is a clock of the request alone.
func (l *Leavings) At(i int) (int64, bool) {
	w := l.rows.At(i)
	t := w.Leaving()
	return t, w.Placed && t != None
}
