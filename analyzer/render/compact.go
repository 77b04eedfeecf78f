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
		return pointer(c.Throughput.Values["tps"])
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
