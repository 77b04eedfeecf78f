package join

import (
	"slices"

	"servescope/analyzer/trace"
)

// records links the rows of records that name no request: what a record says of
// several sides is of one. Such rows follow one another and have one offset.
func (l *linker) records() {
	var rows []int32
	var sides Sides
	var input int32
	var at int64
	flush := func() {
		if len(rows) > 1 {
			l.unite(rows, Room)
		}
		rows, sides = rows[:0], 0
	}
	for k := range l.views {
		v := &l.views[k]
		offsets := v.Ints(trace.Offset)
		for i := range v.Rows {
			off, ok := offsets.At(i)
			if side := v.sideOf(i); !ok || v.named(i) {
				flush()
				continue
			} else if off != at || v.Input != input || sides.Has(side) {
				flush()
			}
			at, input = off, v.Input
			rows, sides = append(rows, v.First+int32(i)), sides|1<<v.sideOf(i)
		}
	}
	flush()
}

// named reports whether row i has a name that it may be linked by.
func (v *view) named(i int) bool {
	if _, ok := v.groups.At(i); ok {
		return true
	}
	_, ok := v.ids.At(i)
	return ok
}

// nameless reports whether there are records of several sides in a batch that
// names no request.
func (x *rows) nameless() bool {
	return slices.ContainsFunc(x.views, func(v view) bool {
		return !v.Has(trace.RequestID) && !v.Has(trace.JoinGroup) && v.Has(trace.Offset) && v.several()
	})
}

// several reports whether rows of the part are of different sides.
func (v *view) several() bool {
	for i := 1; i < v.Rows; i++ {
		if v.sideOf(i) != v.sideOf(0) {
			return true
		}
	}
	return false
}
