package render

import (
	"fmt"
	"slices"
	"strings"

	"servescope/analyzer/gate"
	"servescope/analyzer/unit"
)

// addGateGroups adds the verdicts of the groups of a run: a row for each group and
// limit, then for each group and figure that is compared.
func addGateGroups(b *builder, r *gate.Run, by []string, baseline string) {
	limits, changes := newGroupGrid(by, "rl", "n", "limit", "required", "within", "verdict"), newGroupGrid(by, "l", "figure", "baseline", "run", "change", "95 % interval", "verdict")
	for i := range r.Groups {
		g := &r.Groups[i]
		for k := range g.Limits {
			l := &g.Limits[k]
			limits.add(g, by, l.Limit, l.Reason, l.Fix, fmt.Sprint(g.Requests), l.Limit,
				"≥"+unit.Format(unit.Ratio, l.Required.V), boundsText(b, l.Low, l.High), verdicts[l.Verdict])
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

// groupGrid is a table of groups, with the reasons of unknown verdicts: each reason once,
// with its groups.
type groupGrid struct {
	grid
	why []pair
	of  []int // groups of each of why
}

// mostNamed is how many groups of one reason are named; the table has them all.
const mostNamed = 8

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
	if reason != "" {
		t.undecided(g, by, name, reason, fix)
	}
}

// undecided adds a group to the groups of a reason. The line of a reason begins with the
// reason, and goes on with the fix and the groups.
func (t *groupGrid) undecided(g *gate.Group, by []string, name, reason, fix string) {
	because := own("unknown: %s; %s; groups:", reason, fix)
	i := slices.IndexFunc(t.why, func(p pair) bool { return p.key == name && p.value[0] == because[0] })
	if i < 0 {
		i = len(t.why)
		t.why, t.of = append(t.why, pair{key: name, value: because, alert: true}), append(t.of, 0)
	}
	line := &t.why[i].value
	switch t.of[i]++; {
	case t.of[i] == 1:
		*line = append(*line, own(" ")...)
	case t.of[i] <= mostNamed:
		*line = append(*line, own("; ")...)
	case t.of[i] == mostNamed+1:
		*line = append(*line, own("; and 1 more")...)
		return
	default:
		(*line)[len(*line)-1] = own("; and %d more", t.of[i]-mostNamed)[0]
		return
	}
	for k, dim := range by {
		if k > 0 {
			*line = append(*line, own(", ")...)
		}
		*line = append(*line, own("%s ", dim)...)
		if value := label(g.By[dim]); value.code {
			*line = append(*line, foreign(value.text)...)
		} else {
			*line = append(*line, own("%s", value.text)...)
		}
	}
}
