package render

import (
	"strings"

	"servescope/analyzer/report"
)

// addReconciled adds what engines count beside what requests add up to.
func addReconciled(b *builder, r *report.Run, lead string) {
	if len(r.Reconciled) == 0 {
		return
	}
	s := section{title: "engine and requests", lead: nextTo(lead, "the difference is aborted or unlogged")}
	s.grid = &grid{align: "l", head: []cell{text("by the engine"), text("engine"), text("finished"), text("difference"), text("share"), text("unlogged")}}
	for i := range r.Reconciled {
		x := &r.Reconciled[i]
		name := text(strings.ReplaceAll(x.Quantity, "_", " "))
		name.note = b.note(strings.Join(nonEmpty(x.Source, x.Note), ": "))
		row := []cell{name}
		for _, v := range []report.Value{x.Engine, x.Finished, x.Difference, x.Share, x.Rest} {
			v.Note = ""
			row = append(row, b.valueCell(v))
		}
		s.grid.rows = append(s.grid.rows, row)
	}
	b.sections = append(b.sections, s)
}
