package render

import (
	"fmt"
	"slices"
	"strings"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// partGrid returns the table of the parts of the time per token: a row per term,
// below it what it consists of, then the residual and the total.
func partGrid(b *builder, t *report.Breakdown, columns []beside, scale unit.Scale) *grid {
	g := &grid{align: "l", head: []cell{text("part"), text("mean"), text("share")}}
	for _, c := range columns {
		g.head = append(g.head, text(c.head))
	}
	row := func(name cell, of func(*report.Breakdown) report.Value) {
		v := of(t)
		cells := []cell{name, fixed(scale, pointer(v)), text("—")}
		if v.Known && t.Total.V > 0 {
			cells[2] = text(percent.Format(v.V/t.Total.V) + " %")
		}
		for _, c := range columns {
			cells = append(cells, fixed(scale, pointer(of(c.table))))
		}
		g.rows = append(g.rows, cells)
	}
	for i := range t.Terms {
		addTermRows(b, t, i, scale, row)
	}
	for i := range t.Entries {
		if e := &t.Entries[i]; e.Term == "" {
			name, why := mergedName(e.Leaves)
			row(notedCell(b, name, why), func(t *report.Breakdown) report.Value { return t.Entries[i].Mean })
		}
	}
	why := ""
	if may := t.Residual.MayContain; len(may) > 0 && t.Residual.Mean.V != 0 {
		why = "may contain " + strings.ReplaceAll(strings.Join(may, ", "), "_", " ")
	}
	row(notedCell(b, "residual", why), func(t *report.Breakdown) report.Value { return t.Residual.Mean })
	row(text("TPOT"), func(t *report.Breakdown) report.Value { return t.Total })
	return g
}

// percent is the scale of a column of shares.
var percent = unit.Scale{Factor: 0.01, Prec: 1}

func notedCell(b *builder, name, why string) cell {
	c := text(name)
	if why != "" {
		c.note = b.note(why)
	}
	return c
}

// addTermRows adds the row of a term, and rows of its parts where it has several.
func addTermRows(b *builder, t *report.Breakdown, i int, scale unit.Scale, row func(cell, func(*report.Breakdown) report.Value)) {
	x := &t.Terms[i]
	var parts []int
	for j := range t.Entries {
		if e := &t.Entries[j]; e.Term == x.Name && e.Mean.V != 0 {
			parts = append(parts, j)
		}
	}
	name := strings.ReplaceAll(strings.TrimPrefix(x.Name, "t_"), "_", " ")
	why := ""
	if !x.Mean.Known {
		if len(parts) == 0 && x.Mean.Reason == "not_recorded" {
			return
		}
		why = reason(x.Mean.Reason)
		if x.Low.Known && x.High.Known {
			why += fmt.Sprintf(": between %s and %s %s", scale.Format(x.Low.V), scale.Format(x.High.V), scale.Symbol)
		}
	}
	row(notedCell(b, name, why), func(t *report.Breakdown) report.Value { return t.Terms[i].Mean })
	split := memoNamed(t.Memos, "communication_transfer") != nil && x.Name == "t_communication"
	if alone := len(parts) == 0 || len(parts) == 1 && t.Entries[parts[0]].Leaves[0] == x.Leaves[0]; alone && !split && x.Mean.Known {
		return
	}
	for _, j := range parts {
		leaf := t.Entries[j].Leaves[0]
		if leaf == "communication" && split {
			addDivided(b, t, row)
			continue
		}
		row(text("  "+partNamed(leaf)), func(t *report.Breakdown) report.Value { return t.Entries[j].Mean })
	}
}

// addDivided adds what the class communication was spent on.
func addDivided(b *builder, t *report.Breakdown, row func(cell, func(*report.Breakdown) report.Value)) {
	for _, x := range [][2]string{{"communication_transfer", "transfer"}, {"communication_wait", "waiting"}, {"communication_unsplit", "send, receive"}} {
		m := memoNamed(t.Memos, x[0])
		if m == nil || m.Mean.V == 0 && m.Name == "communication_unsplit" {
			continue
		}
		name := x[1] + map[string]string{"upper": ", at most", "lower": ", at least"}[m.Bound]
		row(text("  "+name), func(t *report.Breakdown) report.Value {
			if m := memoNamed(t.Memos, x[0]); m != nil {
				return m.Mean
			}
			return report.Null("not_recorded")
		})
	}
}

// partNames spells out parts whose names are abbreviations.
var partNames = map[string]string{"communication": "collectives", "host_exec": "host execution"}

func partNamed(leaf string) string {
	if s, ok := partNames[leaf]; ok {
		return s
	}
	return strings.ReplaceAll(leaf, "_", " ")
}

// mergedName names an entry of several terms. A long name is left to a footnote.
func mergedName(leaves []string) (name, why string) {
	names := slices.Clone(leaves)
	for i := range names {
		names[i] = partNamed(names[i])
	}
	if len(names) > 2 {
		return fmt.Sprintf("%d parts (not separable)", len(names)), strings.Join(names, ", ")
	}
	return strings.Join(names, " + ") + " (not separable)", ""
}
