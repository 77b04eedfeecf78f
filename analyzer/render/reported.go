package render

import (
	"slices"
	"strings"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// manyFigures is how many figures are listed one by one; of more, each
// distribution is a row.
const manyFigures = 40

// addReported adds the producer's own figures where there are no requests, and what
// the audit of them came to. Beside other runs (lead names the run) tables of
// all of them hold the figures.
func addReported(b *builder, r *report.Run, lead string) {
	if r.Requests.Total == 0 && r.Requests.Filtered == 0 && lead == "" {
		var single []*report.Reported
		g := &grid{align: "l", head: []cell{text("figure"), text("theirs")}}
		if len(r.Reported) > manyFigures {
			single = addDistributions(b, r)
		} else {
			for i := range r.Reported {
				single = append(single, &r.Reported[i])
			}
		}
		for _, f := range single {
			g.rows = append(g.rows, []cell{{text: claimName(f), code: true}, text(unit.Format(f.Unit, f.Value))})
		}
		if len(g.rows) > 0 {
			b.sections = append(b.sections, section{title: "reported", lead: "by the producer", grid: g})
		}
	}
	addAudit(b, r, lead)
}

// claimName returns the producer's name of a figure, marked where a bare name stands for
// a mean, as the name of a histogram does.
func claimName(f *report.Reported) string {
	low := strings.ToLower(f.Key)
	if f.Stat != "mean" || strings.Contains(low, "mean") || strings.Contains(low, "avg") || strings.Contains(low, "average") {
		return f.Key
	}
	return f.Key + " mean"
}

// claimColumns are the statistics of a table of distributions.
var claimColumns = []string{"mean", "0.5", "0.9", "0.95", "0.99", "max"}

// addDistributions adds a table with a row per distribution and returns the other
// figures.
func addDistributions(b *builder, r *report.Run) (single []*report.Reported) {
	g := &grid{align: "l", head: []cell{text("distribution"), text("unit")}}
	for _, stat := range claimColumns {
		g.head = append(g.head, text(statName(stat)))
	}
	var row []*float64
	var of *report.Reported
	flush := func() {
		if of == nil {
			return
		}
		scale := unit.Common(of.Unit, known(row)...)
		cells := []cell{text(of.Metric), text(scale.Symbol)}
		for _, v := range row {
			cells = append(cells, fixed(scale, v))
		}
		g.rows = append(g.rows, cells)
		of = nil
	}
	for i := range r.Reported {
		f := &r.Reported[i]
		if f.Metric == "" || f.Stat == "value" {
			single = append(single, f)
			continue
		}
		if of == nil || of.Metric != f.Metric {
			flush()
			of, row = f, make([]*float64, len(claimColumns))
		}
		if j := slices.Index(claimColumns, f.Stat); j >= 0 && row[j] == nil {
			row[j] = &f.Value
		}
	}
	flush()
	if len(g.rows) > 0 {
		b.sections = append(b.sections, section{title: "reported", lead: "by the producer", grid: g})
	}
	return single
}

// bareColumns is how many figures a table of producers' figures has side by side
// at most, and bareWidth how wide their headings are together.
const (
	bareColumns = 5
	bareWidth   = 54
)

// addBare adds the figures that producers give and no run lets us compute, as
// tables with a row per run.
func addBare(b *builder, rows []where) {
	var order []*report.Reported
	keys, computed := map[string]bool{}, map[string]bool{}
	for i := range b.rep.Runs {
		for j := range b.rep.Runs[i].Reported {
			f := &b.rep.Runs[i].Reported[j]
			computed[f.Key] = computed[f.Key] || f.Ours.Known
			if f.Metric != "" && !keys[f.Key] && shown(f) {
				keys[f.Key] = true
				order = append(order, f)
			}
		}
	}
	order = slices.DeleteFunc(order, func(f *report.Reported) bool { return computed[f.Key] })
	for i := len(order) - 1; i >= 0; i-- {
		if slices.ContainsFunc(order[:i], func(f *report.Reported) bool { return saysTheSame(b, f, order[i]) }) {
			order = slices.Delete(order, i, i+1)
		}
	}
	title, lead := "reported by the producers", "without per-request data to check"
	for len(order) > 0 {
		n, room := 0, bareWidth
		for n < len(order) && n < bareColumns && (n == 0 || room > 0) {
			if room -= len(bareName(order[n])) + 2; room >= 0 || n == 0 {
				n++
			}
		}
		b.sections = append(b.sections, section{title: title, lead: lead, grid: bareTable(b, rows, order[:n])})
		title, lead, order = "", "", order[n:]
	}
}

// saysTheSame reports whether every run has two figures of one statistic with one
// value: a producer's median is its percentile 50 under another key.
func saysTheSame(b *builder, f, g *report.Reported) bool {
	if f.Metric != g.Metric || f.Stat != g.Stat || f.Unit != g.Unit {
		return false
	}
	for i := range b.rep.Runs {
		x, y := claim(&b.rep.Runs[i], f.Key), claim(&b.rep.Runs[i], g.Key)
		if (x == nil) != (y == nil) || x != nil && *x != *y {
			return false
		}
	}
	return true
}

// claim returns what a run reports under a key, or nil.
func claim(r *report.Run, key string) *float64 {
	var v *float64
	for i := range r.Reported {
		if r.Reported[i].Key == key {
			v = &r.Reported[i].Value
		}
	}
	return v
}

// bareName is the heading of a column of a figure.
func bareName(f *report.Reported) string { return strings.TrimSpace(f.Metric + " " + statName(f.Stat)) }

// shown reports whether a figure has a place in a table with a row per run.
func shown(f *report.Reported) bool {
	return slices.Contains([]string{"value", "mean", "0.5", "0.99"}, f.Stat)
}

func bareTable(b *builder, rows []where, figures []*report.Reported) *grid {
	g := &grid{align: "l", head: []cell{text("run")}, rows: [][]cell{{text("")}}}
	for _, r := range rows {
		g.rows = append(g.rows, append([]cell{}, r.labels...))
	}
	for _, f := range figures {
		g.head = append(g.head, text(bareName(f)))
		column := make([]*float64, len(rows))
		for i := range column {
			column[i] = claim(&b.rep.Runs[i], f.Key)
		}
		scale := unit.Common(f.Unit, known(column)...)
		g.rows[0] = append(g.rows[0], text(scale.Symbol))
		for i, v := range column {
			g.rows[i+1] = append(g.rows[i+1], fixed(scale, v))
		}
	}
	return g
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
