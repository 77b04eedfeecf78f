package join

import (
	"sort"

	"servescope/analyzer/trace"
)

// Part is a batch of rows. Parts hold the rows of all inputs in order, and rows
// are numbered across parts. The batch is read-only.
type Part struct {
	*trace.Batch
	Run   int32 // number of the run: rows of different runs are never linked
	Input int32 // number of the input that it was read from
	First int32 // number of its first row
}

// view is a part with the columns that linking needs.
type view struct {
	Part
	ids, groups     trace.Texts
	side            trace.Dicts
	attempt, choice trace.Ints
	most, output    trace.Ints
	beams           trace.Bools
	source          int32 // number of the first of its sources; there is one source for each side
	columns         stampColumns
}

func viewOf(p Part) view {
	return view{
		Part: p, ids: p.Texts(trace.RequestID), groups: p.Texts(trace.JoinGroup), side: p.Dicts(trace.SideCol),
		attempt: p.Ints(trace.Attempt), choice: p.Ints(trace.Choice),
		most: p.Ints(trace.MaxTokens), output: p.Ints(trace.OutputTokens), beams: p.Bools(trace.BeamSearch),
		columns: stampColumnsOf(p.Batch),
	}
}

// sideOf returns the side of row i of the part as its source states it.
func (v *view) sideOf(i int) trace.Side {
	if c, ok := v.side.At(i); ok {
		return trace.Side(c)
	}
	return v.Part.Batch.Run.Side
}

// rows finds rows by their numbers.
type rows struct {
	views []view
	n     int32
}

// at returns the view of row r and its index in it.
func (x *rows) at(r int32) (*view, int) {
	k := sort.Search(len(x.views), func(k int) bool { return x.views[k].First > r }) - 1
	v := &x.views[k]
	return v, int(r - v.First)
}

// id returns the request id of row r, if the row has an id and not only a
// position.
func (x *rows) id(r int32) ([]byte, bool) {
	v, i := x.at(r)
	if v.Part.Batch.Run.Positions {
		return nil, false
	}
	return v.ids.At(i)
}

// side returns the side of row r as its source states it.
func (x *rows) side(r int32) trace.Side {
	v, i := x.at(r)
	return v.sideOf(i)
}

// source returns the number of the source of row r: one record of one input,
// seen by one side. Within a source an id names one request.
func (x *rows) source(r int32) int32 {
	v, i := x.at(r)
	return v.source + int32(v.sideOf(i))
}

// apart reports whether two rows of one source with one id are different
// choices or attempts of one request.
func (x *rows) apart(a, b int32) bool {
	v, i := x.at(a)
	w, j := x.at(b)
	return value(v.attempt, i) != value(w.attempt, j) || value(v.choice, i) != value(w.choice, j)
}

// value returns value i of c, or 0 if it is null.
func value(c trace.Ints, i int) int64 {
	n, _ := c.At(i)
	return n
}

// named reports whether row i has a name that may link it.
func (v *view) named(i int) bool {
	if _, ok := v.groups.At(i); ok {
		return true
	}
	_, ok := v.ids.At(i)
	return ok
}

// several reports whether the part has rows of different sides.
func (v *view) several() bool {
	for i := 1; i < v.Rows; i++ {
		if v.sideOf(i) != v.sideOf(0) {
			return true
		}
	}
	return false
}

// stampColumns are the columns of a batch that order the events of a request.
type stampColumns struct {
	start       [4]trace.Ints // sent, received, queued, admitted
	prefilled   trace.Ints
	first, last trace.Ints
	finished    trace.Ints
	resolution  trace.Ints
	clock       trace.Dicts
}

func stampColumnsOf(b *trace.Batch) stampColumns {
	return stampColumns{
		start:     [4]trace.Ints{b.Ints(trace.Sent), b.Ints(trace.Received), b.Ints(trace.Queued), b.Ints(trace.Admitted)},
		prefilled: b.Ints(trace.PrefillEnd), first: b.Ints(trace.FirstToken), last: b.Ints(trace.LastToken),
		finished: b.Ints(trace.Finished), resolution: b.Ints(trace.Resolution), clock: b.Dicts(trace.ClockCol),
	}
}
