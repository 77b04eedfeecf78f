package breakdown

import (
	"servescope/analyzer/decompose"
	"servescope/analyzer/kernel"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
)

// EachParts calls f with the time to first token of each row of v that is a
// request and has one, taken apart as the report's decomposition does. p is valid
// during the call.
func EachParts(v *kernel.View, f func(i int, p *decompose.Parts)) {
	own := *v
	own.Group = make([]int32, v.Rows)
	s := New(metric.Default).New(new(query.Query), new(kernel.Facts)).(*state)
	x := s.Begin(&own)
	columns := decompose.ColumnsOf(v.Batch)
	rows := make([]decompose.Row, 1, 8)
	others := linkedRows(v.Links, v.Base)
	var p decompose.Parts
	for i := range v.Rows {
		w, _ := x.Next(i)
		if w.Sibling {
			continue
		}
		columns.Row(i, &rows[0])
		rows[0].Side = w.Side
		rows = inward(others(i, rows[:1]))
		if s.takeApart(w.Request(), rows, &p) == metric.None {
			f(i, &p)
		}
	}
}
