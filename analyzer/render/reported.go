package render

import (
	"fmt"
	"math"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// reported adds the producer's own figures beside ours, and how far apart they
// are. Figures without a counterpart are only counted; beside other runs (lead
// names the run), so are equal ones, and those of bare are left out. Where there
// is nothing else, all are shown.
func (b *builder) reported(r *report.Run, lead string, bare map[string]bool) {
	g := &grid{align: "l", head: []cell{text("reported by the producer"), text("theirs"), text("ours"), text("difference")}}
	alone := r.Requests.Total == 0 && lead == ""
	if alone {
		g.head = g.head[:2]
	}
	var rest, equal int64
	for _, f := range r.Reported {
		switch {
		case alone:
			g.rows = append(g.rows, []cell{{text: f.Key, code: true}, text(unit.Format(f.Unit, f.Value))})
		case bare[f.Key]:
		case f.Metric == "" && !f.Ours.Known:
			rest++
		case lead != "" && f.Ours.Known && difference(f.Value, f.Ours.V) == same:
			equal++
		default:
			g.rows = append(g.rows, b.audit(&f))
		}
	}
	s := section{title: "reported", lead: lead}
	if len(g.rows) > 0 {
		s.grid = g
	}
	if equal > 0 {
		s.lines = append(s.lines, pair{key: same, value: own("%s", plural(equal, "figure"))})
	}
	if rest > 0 {
		s.lines = append(s.lines, pair{key: "no counterpart", value: own("%s; JSON output lists them", plural(rest, "figure"))})
	}
	if s.grid != nil || equal > 0 || rest > 0 && lead == "" {
		b.sections = append(b.sections, s)
	}
}

// audit returns the row of one figure.
func (b *builder) audit(f *report.Reported) []cell {
	c := cell{text: f.Key, code: true}
	if f.Note != "" {
		c.note = b.note(words(f.Note))
	}
	u := f.Unit
	if u == unit.Nanosecond && f.Ours.Known { // producers give TPOT in ms: ms per token
		u = f.Ours.Unit
	}
	row := []cell{c, text(unit.Format(u, f.Value)), b.valueCell(f.Ours), text("")}
	if f.Ours.Known {
		row[3] = text(difference(f.Value, f.Ours.V))
	}
	return row
}

// same is the word for figures that agree to 1e-6 relative.
const same = "equal"

// difference says how far theirs is from ours.
func difference(theirs, ours float64) string {
	switch d := theirs - ours; {
	case math.Abs(d) <= 1e-6*math.Abs(ours):
		return same
	case ours == 0:
		return "differs"
	default:
		return fmt.Sprintf("%+.3g %%", d/math.Abs(ours)*100)
	}
}

// bareColumns is how many figures a table of producers' figures has side by side.
const bareColumns = 5

// bare adds the figures that producers give and no run lets us compute, as
// tables with a row per run, and returns their keys.
func (b *builder) bare(rows []where) map[string]bool {
	var order []*report.Reported
	keys, computed := map[string]bool{}, map[string]bool{}
	for i := range b.rep.Runs {
		for j := range b.rep.Runs[i].Reported {
			f := &b.rep.Runs[i].Reported[j]
			computed[f.Key] = computed[f.Key] || f.Ours.Known
			if f.Metric != "" && !keys[f.Key] {
				keys[f.Key] = true
				order = append(order, f)
			}
		}
	}
	n := 0
	for _, f := range order {
		if computed[f.Key] {
			delete(keys, f.Key)
			continue
		}
		order[n] = f
		n++
	}
	for from := 0; from < n; from += bareColumns {
		b.bareTable(rows, order[from:min(n, from+bareColumns)])
	}
	return keys
}

func (b *builder) bareTable(rows []where, figures []*report.Reported) {
	g := &grid{align: "l", head: []cell{text("run")}, rows: [][]cell{{text("")}}}
	for _, r := range rows {
		g.rows = append(g.rows, append([]cell{}, r.labels...))
	}
	for _, f := range figures {
		g.head = append(g.head, text(f.Metric+" "+statName(f.Stat)))
		column := make([]*float64, len(rows))
		for i := range column {
			for j := range b.rep.Runs[i].Reported {
				if g := &b.rep.Runs[i].Reported[j]; g.Key == f.Key {
					column[i] = &g.Value
				}
			}
		}
		scale := unit.Common(f.Unit, known(column)...)
		g.rows[0] = append(g.rows[0], text(scale.Symbol))
		for i, v := range column {
			g.rows[i+1] = append(g.rows[i+1], fixed(scale, v))
		}
	}
	b.sections = append(b.sections, section{title: "reported by the producers", lead: "without per-request data to check", grid: g})
}

// statName names a statistic: mean, p99; nothing for a plain value.
func statName(stat string) string {
	if parse(stat) > 0 {
		return percentile(stat)
	}
	if stat == "value" {
		return ""
	}
	return stat
}
