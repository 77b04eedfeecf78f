package cell

import (
	"servescope/analyzer/join"
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/trace"
)

// Batch is a view that a state folds.
type Batch struct {
	*request.Rows
	base     *Base
	Read     []request.Row // the rows, or nil where each is read when it is asked for
	row      request.Row   // the one last read so
	RunIndex int32         // of the run
	axes     []axis        // by code of the clock + 1; the first is for rows without a clock
	Axis     axis          // of the row last read
	code     int32         // of its clock
	timed    bool          // the query is about an interval or windows
}

// Next returns row i; it is valid until the next call, and must not be changed. selected is false for rows that the query removed.
func (x *Batch) Next(i int) (w *request.Row, selected bool) {
	if x.Read != nil {
		w = &x.Read[i]
	} else {
		x.row = x.At(i)
		w = &x.row
	}
	if w.Role == join.Repeats { // another row says it all
		w.Sibling = true
		return w, false
	}
	code, own := x.Rows.Clock.At(i)
	if !own {
		code = -1
	}
	if x.code != code {
		x.code, x.Axis = code, x.axes[code+1]
	}
	if w.Role == join.Linked && x.timed {
		x.follow(i)
	}
	return w, x.Group[i] >= 0
}

// Place returns the place of the row last read at time t. What has no time is
// in no window, and in the query's interval if the row's arrival is.
func (x *Batch) Place(w *request.Row, group int32, t int64) Place {
	p := Place{kernel.NoWindow, x.RunIndex, group, w.Slot()}
	switch {
	case x.Axis.fixed:
		p.Window = x.Axis.at
	case !w.Placed:
	case t != request.None:
		p.Window = x.Axis.Window(t)
	case w.Arrival() != request.None && x.Axis.Window(w.Arrival()) == Elsewhere:
		p.Window = Elsewhere
	}
	return p
}

// follow puts row i where the query places the request that it is linked to, at
// the arrival of the row that counts it, unless both are on one clock. All of a
// request is then in one window, on every side.
func (x *Batch) follow(i int) {
	own, _ := x.Links.At(x.First + int32(i))
	b, j := x.Links.At(x.Links.Lead(x.First + int32(i)))
	clock := request.ClockOf(b, j)
	if clock == x.ClockAt(i) && (clock.Source != "" || own.File == b.File) { // as join judges clocks
		return
	}
	to := x.base.AxisOf(x.RunIndex, clock)
	a := request.ArrivalsOf(b)
	x.Axis = axis{fixed: true, at: kernel.NoWindow}
	if t, ok := a.At(j); ok {
		x.Axis.at = to.Window(t)
	}
	x.code = -2 // the next row has a clock of its own
}

// Unjoined counts the sides of the run that the request of row i has no row of.
func (x *Batch) Unjoined(i int, lack *[request.NumSides]int64) {
	if x.Links == nil || !x.Links.Joined() {
		return
	}
	present := join.Sides(1) << x.Links.Side(x.First+int32(i))
	for _, m := range x.Links.Rows(x.First + int32(i)) {
		present |= 1 << x.Links.Side(m)
	}
	seen := x.Links.Seen(x.RunIndex)
	for side := range trace.Side(request.NumSides) {
		if seen.Has(side) && !present.Has(side) {
			lack[side]++
		}
	}
}
