package audit

import (
	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// tolerance is the largest relative difference between equal figures. Times may
// also differ by step, the rounding of stamps to 1 ns, as long as step is at
// most the share coarse of the figure.
const (
	tolerance = 1e-6
	step      = 1.0
	coarse    = 1e-3
)

// Of returns the statistic of a cell that corresponds to c.
func Of(cell *report.Cell, c *trace.Reported) report.Value {
	name := c.Metric
	if m, ok := metric.Lookup(name); ok {
		name = m.Name
	}
	m, ok := cell.Metrics[name]
	if c.Stat == "value" || !ok {
		return total(cell, name)
	}
	if m.N == 0 {
		return report.Null(m.Reason)
	}
	v := m.Mean
	switch c.Stat {
	case "mean":
	case "std":
		v = m.Std
	case "min":
		v = m.Min
	case "max":
		v = m.Max
	default:
		if v, ok = m.Quantiles[c.Stat]; !ok {
			return report.Null("not_asked")
		}
	}
	return report.Known(v, m.Unit)
}

// total returns a rate, a count or a sum over all requests of a cell.
func total(cell *report.Cell, name string) report.Value {
	if v, ok := cell.Throughput.Values[name]; ok {
		return v
	}
	r := &cell.Requests
	if r.Total == 0 && r.Filtered == 0 {
		return report.Null("no_requests")
	}
	n, u := int64(0), unit.Request
	switch name {
	case "requests.total":
		n = r.Total
	case "requests.ok":
		n = r.OK
	case "requests.failed":
		n = r.Failed
	case "requests.aborted":
		n = r.Aborted
	default:
		m := cell.Metrics[name]
		if m.Unit != unit.Token || m.N == 0 {
			return report.Null(notComparable)
		}
		n, u = int64(float64(float64(m.N)*m.Mean)+0.5), unit.Token // counts are whole
	}
	return report.KnownInt(n, u)
}

// same reports whether v equals a figure that its source may have rounded.
func same(c *trace.Reported, v float64) bool {
	v = float64(v) // rounds a product that is passed in
	return Same(v, c.Value, c.Unit) || max(v-c.Value, c.Value-v) <= float64(c.Step*(1+tolerance))
}

// Same reports whether two figures of a unit are equal within tolerance.
func Same(a, b float64, u unit.Unit) bool {
	a, b = float64(a), float64(b) // rounds products that are passed in
	d, size := max(a-b, b-a), max(a, -a, b, -b)
	return d <= tolerance*size || u == unit.Nanosecond && d <= step && d <= coarse*size
}

// Comparable reports whether values of two units can be compared. TPOT is a
// time per token here and a time in other tools.
func Comparable(a, b unit.Unit) bool {
	return a == b || a == unit.NSPerToken && b == unit.Nanosecond
}
