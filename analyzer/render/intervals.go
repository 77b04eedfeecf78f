package render

import (
	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// addIntervals adds the confidence intervals of the principal metrics' quantiles:
// what another run of the same system may well have shown.
func addIntervals(b *builder, c *report.Cell) {
	all := ranks(c)
	g := &grid{align: "ll", head: []cell{text("95 % interval"), text("unit")}}
	for _, rank := range all {
		g.head = append(g.head, text(percentile(rank)))
	}
	for _, name := range principal {
		m := c.Metrics[name]
		if m.N == 0 || len(m.Intervals) == 0 {
			continue
		}
		var bounds []float64
		for _, rank := range all {
			low, high := interval(&m, rank)
			bounds = append(bounds, known([]*float64{low, high})...)
		}
		scale := unit.Common(m.Unit, bounds...)
		row := []cell{text(name), text(scale.Symbol)}
		for _, rank := range all {
			row = append(row, text(between(scale, &m, rank)))
		}
		g.rows = append(g.rows, row)
	}
	if len(g.rows) > 0 {
		b.sections = append(b.sections, section{grid: g})
	}
}

// interval returns the bounds of a quantile, nil where the sample gives none.
func interval(m *report.Metric, rank string) (low, high *float64) {
	bounds := m.Intervals[rank]
	if v, ok := bounds[0].(float64); ok {
		low = &v
	}
	if v, ok := bounds[1].(float64); ok {
		high = &v
	}
	return low, high
}

// between prints an interval.
func between(s unit.Scale, m *report.Metric, rank string) string {
	switch low, high := interval(m, rank); {
	case low != nil && high != nil:
		return s.Short(*low) + "–" + s.Short(*high)
	case low != nil:
		return "≥" + s.Short(*low)
	case high != nil:
		return "≤" + s.Short(*high)
	}
	return "—"
}
