package render

import (
	"fmt"
	"slices"
	"strings"

	"servescope/analyzer/gate"
	"servescope/analyzer/unit"
)

// gateGroups adds the verdicts of the groups of a run: a row for each group and
// limit, then for each group and figure that is compared.
func (b *builder) gateGroups(r *gate.Run, by []string, baseline string) {
	limits, changes := newGroupGrid(by, "rl", "n", "limit", "required", "within", "verdict"), newGroupGrid(by, "l", "figure", "baseline", "run", "change", "95 % interval", "verdict")
	for i := range r.Groups {
		g := &r.Groups[i]
		for k := range g.Limits {
			l := &g.Limits[k]
			limits.add(g, by, l.Limit, l.Reason, l.Fix, fmt.Sprint(g.Requests), l.Limit,
				"≥"+unit.Format(unit.Ratio, l.Required.V), b.bounds(l.Low, l.High), verdicts[l.Verdict])
		}
		for k := range g.Changes {
			c := &g.Changes[k]
			changes.add(g, by, c.Name(), c.Reason, c.Fix, c.Name(),
				b.value(c.BaseValue), b.value(c.Value), signed(c.Change), signed(c.Low)+" … "+signed(c.High), verdicts[c.Verdict])
		}
	}
	of := " by " + strings.Join(by, ", ")
	if len(limits.rows) > 0 {
		b.sections = append(b.sections, section{title: "service level" + of, grid: &limits.grid, lines: limits.why})
	}
	if len(changes.rows) > 0 {
		b.sections = append(b.sections, section{title: "change" + of, lead: mayGrow(&r.Groups[0].Changes[0], baseline), grid: &changes.grid, lines: changes.why})
	}
}

// groupGrid is a table of groups, and why some of its verdicts are unknown, each
// reason once.
type groupGrid struct {
	grid
	why []pair
}

func newGroupGrid(by []string, align string, columns ...string) *groupGrid {
	g := &groupGrid{grid: grid{align: strings.Repeat("l", len(by)) + align}}
	for _, name := range slices.Concat(by, columns) {
		g.head = append(g.head, text(name))
	}
	return g
}

// add adds a row, and why its verdict is unknown, if it is.
func (t *groupGrid) add(g *gate.Group, by []string, name, reason, fix string, values ...string) {
	var row []cell
	for _, dim := range by {
		row = append(row, label(g.By[dim]))
	}
	for _, v := range values {
		row = append(row, text(v))
	}
	t.rows = append(t.rows, row)
	for _, p := range undecided(nil, name, reason, fix) {
		if !slices.ContainsFunc(t.why, func(q pair) bool { return q.key == p.key && q.value[0].text == p.value[0].text }) {
			t.why = append(t.why, p)
		}
	}
}
