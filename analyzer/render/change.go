package render

import (
	"fmt"
	"strings"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// addChange adds the largest change of a mean from one window to the next, by its parts,
// for the set of entries that most requests have.
func addChange(b *builder, r *report.Run, lead string) {
	if len(r.Changes) == 0 {
		return
	}
	c := &r.Changes[0]
	name := func(from int64) string {
		for i := range r.Windows {
			if w := &r.Windows[i]; w.From == from {
				return windowCell(b, r, w).text
			}
		}
		return unit.FormatDuration(from)
	}
	about := fmt.Sprintf("from %s (n %d) to %s (n %d)", name(c.From), c.NFrom, name(c.To), c.NTo)
	s := section{title: c.Of + " by stage, largest change", lead: nextTo(lead, strings.Join(nonEmpty(with(c.Side, " side"), about), ", "))}
	g := &grid{align: "l", head: []cell{text("stage"), text("before"), text("after"), text("change"), text("share")}}
	add := func(name string, d *report.Difference, why []string) {
		change := b.valueCell(d.Change)
		if d.Change.Known && d.Change.V > 0 {
			change.text = "+" + change.text
		}
		first := text(name)
		b.remark(&first, why)
		g.rows = append(g.rows, []cell{first, b.valueCell(d.Before), b.valueCell(d.After), change, b.valueCell(d.Share)})
	}
	for i := range c.Entries {
		stage, why := stageName(c.Entries[i].Leaves)
		add(stage, &c.Entries[i], why)
	}
	add("residual", &c.Residual, nil)
	add("total", &c.Total, nil)
	s.grid = g
	b.sections = append(b.sections, s)
}
