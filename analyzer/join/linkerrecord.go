package join

import (
	"servescope/analyzer/trace"
)

// records links rows of records that name no request: the rows of one record,
// for several sides, belong to one request. Such rows follow one another and
// have the same offset.
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
