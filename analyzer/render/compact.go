package render

import (
	"slices"
	"strconv"
	"strings"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// figures are the columns of a compact table: the median and the tail of the
// metrics that most readers look for.
var figures = []string{"ttft", "tpot", "e2e"}

// addCompact adds a table with one row per cell: the same figures below each other,
// each column in one unit.
func addCompact(b *builder, title, lead string, heads []string, rows []where) {
	busy := func(r where) bool { return r.cell.Requests.Total > 0 || r.cell.Throughput.Values["tps"].V > 0 }
	stepping := func(r where) bool { return len(r.cell.Steps) > 0 }
	if !slices.ContainsFunc(rows, busy) && (len(rows) == 0 || slices.ContainsFunc(rows, stepping)) { // there are steps alone
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
	scaled := func(u unit.Unit, heads []string, fs ...func(c *report.Cell) *float64) {
		scale, any := scaleOf(u, rows, fs)
		for i, f := range fs {
			column(heads[i], func(c *report.Cell) cell { return fixed(scale, f(c)) })
			if any {
				units[len(units)-1] = text(scale.Symbol)
			}
		}
	}
	for _, name := range figures {
		scaled(rows[0].cell.Metrics[name].Unit, []string{name + " p50", "p99"}, quantile(name, "0.5"), quantile(name, "0.99"))
	}
	scaled(unit.TokenRate, []string{"output"}, func(c *report.Cell) *float64 { return pointer(c.Throughput.Values["tps"]) })
	scaled(unit.Ratio, []string{"good"}, func(c *report.Cell) *float64 {
		if c.Goodput == nil {
			return nil
		}
		return pointer(c.Goodput.Share)
	})
	if len(b.rep.Query.SLO) == 0 {
		g.dropLast()
		units = units[:len(units)-1]
	}
	if slices.ContainsFunc(units, func(c cell) bool { return c.text != "" }) {
		g.rows = append([][]cell{units}, g.rows...)
	}
	b.sections = append(b.sections, section{title: title, lead: lead, grid: g})
}

// scaleOf returns one scale for figures of all rows, and whether any is known.
func scaleOf(u unit.Unit, rows []where, fs []func(c *report.Cell) *float64) (unit.Scale, bool) {
	var vals []*float64
	for _, r := range rows {
		for _, f := range fs {
			vals = append(vals, f(r.cell))
		}
	}
	have := known(vals)
	return unit.Common(u, have...), len(have) > 0
}

// quantile returns how to get a quantile of a metric from a cell.
func quantile(name, rank string) func(c *report.Cell) *float64 {
	return func(c *report.Cell) *float64 {
		m := c.Metrics[name]
		if v, ok := m.Quantiles[rank]; ok && m.N > 0 {
			return &v
		}
		return nil
	}
}

// pointer returns the value of v, or nil.
func pointer(v report.Value) *float64 {
	if f, ok := v.Float(); ok {
		return &f
	}
	return nil
}
