package render

import (
	"strconv"
	"strings"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// figures are the columns of a compact table: the median and the tail of the
// metrics that most readers look for.
var figures = []struct{ metric, rank, head string }{
	{"ttft", "0.5", "ttft p50"}, {"ttft", "0.99", "p99"},
	{"tpot", "0.5", "tpot p50"}, {"tpot", "0.99", "p99"},
	{"e2e", "0.5", "e2e p50"}, {"e2e", "0.99", "p99"},
}

// compact adds a table with one row per cell: the same figures below each other,
// each column in one unit.
func (b *builder) compact(title, lead string, heads []string, rows []where) {
	if len(rows) == 0 {
		return
	}
	g := &grid{align: strings.Repeat("l", len(heads))}
	for _, h := range heads {
		g.head = append(g.head, text(h))
	}
	units := make([]cell, len(heads))
	for range rows {
		g.rows = append(g.rows, nil)
	}
	for i, r := range rows {
		g.rows[i] = append(g.rows[i], r.labels...)
	}
	column := func(head string, f func(c *report.Cell) cell) {
		g.head = append(g.head, text(head))
		units = append(units, text(""))
		for i, r := range rows {
			g.rows[i] = append(g.rows[i], f(r.cell))
		}
	}
	column("n", func(c *report.Cell) cell { return text(strconv.FormatInt(c.Requests.Total, 10)) })
	column("ok", func(c *report.Cell) cell { return text(strconv.FormatInt(c.Requests.OK, 10)) })
	scaled := func(head string, u unit.Unit, f func(c *report.Cell) *float64) {
		var vals []*float64
		for _, r := range rows {
			vals = append(vals, f(r.cell))
		}
		scale := unit.Common(u, known(vals)...)
		column(head, func(c *report.Cell) cell { return fixed(scale, f(c)) })
		units[len(units)-1] = text(scale.Symbol)
	}
	for _, f := range figures {
		scaled(f.head, rows[0].cell.Metrics[f.metric].Unit, func(c *report.Cell) *float64 {
			m := c.Metrics[f.metric]
			if v, ok := m.Quantiles[f.rank]; ok && m.N > 0 {
				return &v
			}
			return nil
		})
	}
	scaled("output", unit.TokenRate, func(c *report.Cell) *float64 {
		return pointer(c.Throughput.Values["tps_decode"])
	})
	scaled("good", unit.Ratio, func(c *report.Cell) *float64 {
		if c.Goodput == nil {
			return nil
		}
		return pointer(c.Goodput.Share)
	})
	if len(b.rep.Query.SLO) == 0 {
		g.dropLast()
		units = units[:len(units)-1]
	}
	g.rows = append([][]cell{units}, g.rows...)
	b.sections = append(b.sections, section{title: title, lead: lead, grid: g})
}

// pointer returns the value of v, or nil.
func pointer(v report.Value) *float64 {
	if f, ok := v.Float(); ok {
		return &f
	}
	return nil
}

// dropLast removes the last column.
func (g *grid) dropLast() {
	g.head = g.head[:len(g.head)-1]
	for i, row := range g.rows {
		g.rows[i] = row[:len(row)-1]
	}
}

// runs adds the sections of several runs side by side: an overview, then a
// table per metric with a row per run, then what is particular to each run.
func (b *builder) runs() {
	var rows []where
	var cells []*report.Cell
	for i := range b.rep.Runs {
		r := &b.rep.Runs[i]
		rows = append(rows, where{[]cell{{text: r.Label, code: true}}, &r.Cell})
		cells = append(cells, &r.Cell)
	}
	b.common()
	b.compact("overview", "", []string{"run"}, rows)
	head, values := stats(ranks(cells...))
	for _, name := range metricNames(cells...) {
		b.sideBySide(name, rows, head, values)
	}
	for i := range b.rep.Runs {
		b.details(&b.rep.Runs[i])
	}
}

// common adds what all runs share to the head.
func (b *builder) common() {
	first := b.rep.Runs[0]
	for _, r := range b.rep.Runs[1:] {
		if r.Format != first.Format || r.Side != first.Side {
			first.Format, first.Side = "", ""
		}
		if r.Model != first.Model || r.Engine != first.Engine || r.Version != first.Version {
			first.Model, first.Engine, first.Version = "", "", ""
		}
	}
	first.Label = strconv.Itoa(len(b.rep.Runs))
	b.describe(&first)
	b.head[0].key = "runs"
}

// sideBySide adds the table of one metric with a row per run, in one unit.
func (b *builder) sideBySide(name string, rows []where, head []string, values func(*report.Metric) []*float64) {
	g := &grid{align: "l", head: []cell{text("run"), text("n")}}
	for _, h := range head {
		g.head = append(g.head, text(h))
	}
	var all []float64
	var u unit.Unit
	for _, r := range rows {
		if m := r.cell.Metrics[name]; m.N > 0 {
			all = append(all, known(values(&m))...)
			u = m.Unit
		}
	}
	if len(all) == 0 {
		return
	}
	scale := unit.Common(u, all...)
	for _, r := range rows {
		m := r.cell.Metrics[name]
		row := append([]cell{}, r.labels...)
		if m.N == 0 {
			row = append(row, text("0"), cell{text: "—", note: b.note(b.why(name, &m))})
			for range len(head) - 1 {
				row = append(row, text("—"))
			}
		} else {
			row = append(row, b.count(&m))
			for _, v := range values(&m) {
				row = append(row, fixed(scale, v))
			}
		}
		g.rows = append(g.rows, row)
	}
	b.sections = append(b.sections, section{title: name, lead: "in " + scale.Symbol, grid: g})
}
