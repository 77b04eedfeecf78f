package analyzer

import (
	"fmt"

	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// tolerance is the relative difference up to which two figures are the same.
const tolerance = 1e-6

// compare puts our value beside a figure that the producer of record m
// computed, and says why the two differ.
func compare(c trace.Reported, out *report.Run, r *run, m *trace.RunMeta, q *query.Query, e *engine) report.Reported {
	line := report.Reported{Key: c.Key, Metric: c.Metric, Stat: c.Stat, Unit: c.Unit, Value: c.Value}
	switch {
	case len(r.members) > 1:
		line.Ours = report.Null("several_records")
		line.Note = fmt.Sprintf("of one of the %d records of this run", len(r.members))
		return line
	case c.Metric == "":
		line.Ours = report.Null("no_counterpart")
		return line
	}
	line.Ours = ours(&out.Cell, c)
	if !line.Ours.Known || !comparable(line.Ours.Unit, c.Unit) || near(line.Ours.V, c.Value) {
		return line
	}
	switch own := m.DefaultDefinition; {
	case c.Metric == "requests.ok" && near(line.Ours.V+float64(out.Requests.Empty), c.Value):
		line.Note = fmt.Sprintf("%d requests without any token are among them", out.Requests.Empty)
	case own != "" && own != e.definition.Name:
		line.Note = fmt.Sprintf("another definition: use --definition %s to reproduce it", own)
	case selects(q):
		line.Note = "another cohort: the query selects a part of the requests"
	default:
		line.Note = "the file's requests do not give this figure under its own definition"
	}
	return line
}

// ours returns the statistic of a cell that c names.
func ours(cell *report.Cell, c trace.Reported) report.Value {
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
	switch c.Stat {
	case "mean":
		return report.Known(m.Mean, m.Unit)
	case "std":
		return report.Known(m.Std, m.Unit)
	case "min":
		return report.Known(m.Min, m.Unit)
	case "max":
		return report.Known(m.Max, m.Unit)
	}
	if v, ok := m.Quantiles[c.Stat]; ok {
		return report.Known(v, m.Unit)
	}
	return report.Null("not_asked")
}

// total returns a rate, a count or a sum over all requests of a cell.
func total(cell *report.Cell, name string) report.Value {
	if v, ok := cell.Throughput.Values[name]; ok {
		return v
	}
	if r := cell.Requests; r.Total == 0 && r.Filtered == 0 {
		return report.Null("no_requests")
	}
	switch name {
	case "requests.ok":
		return report.KnownInt(cell.Requests.OK, unit.Request)
	case "requests.failed":
		return report.KnownInt(cell.Requests.Failed, unit.Request)
	}
	if m, ok := cell.Metrics[name]; ok && m.Unit == unit.Token && m.N > 0 {
		return report.KnownInt(int64(float64(float64(m.N)*m.Mean)+0.5), unit.Token) // counts are whole
	}
	return report.Null("no_counterpart")
}

// comparable reports whether values of two units can be compared: TPOT is a
// time per token to us and a time to other tools.
func comparable(a, b unit.Unit) bool {
	return a == b || a == unit.NSPerToken && b == unit.Nanosecond
}

// near reports whether two figures differ by at most the tolerance.
func near(a, b float64) bool {
	size := max(a, -a, b, -b)
	d := a - b
	return d <= tolerance*size && -d <= tolerance*size
}
