package assemble

import (
	"fmt"
	"slices"
	"strings"

	"servescope/analyzer/dataset"
	"servescope/analyzer/kernel/fractions"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// defined lists the metrics that each tool defines in its own way: metrics of requests
// in the order of a request's life, then rates.
var defined = []string{"ttft", "e2e", "output_tokens", "tpot", "chunk_gap", "ntpot", "tps_request", "tps_e2e", "tps_decode", "request_rate", "goodput"}

// Define computes the metrics of q's requests under the default definition set
// and under those of the given names, and says how they came about and why they
// differ. The definition, the groups and the windows of q are not used.
//
// run returns the report of a query under given figures.
func Define(set *dataset.Set, q *query.Query, names []string, run func(*query.Query, *Figures) (*report.Report, error)) (*report.Definitions, error) {
	asked := *q
	asked.By, asked.Window, asked.Ranks = nil, 0, []float64{0.5, 0.99}
	out := &report.Definitions{Schema: report.DefinitionsSchema, Query: Echo(&asked)}
	var ours []definedSet
	names = append([]string{metric.Default.Name}, names...)
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		e, err := FiguresOf(name)
		if err != nil {
			return nil, err
		}
		d, _ := metric.LookupDefinition(name)
		parts := make(map[int32]fractions.Run)
		own := *e
		own.Kernels = append(slices.Clone(e.Kernels), fractions.New(d, parts))
		asked.Definition = name
		r, err := run(&asked, &own)
		if err != nil {
			return nil, err
		}
		out.Sets, out.Inputs = append(out.Sets, e.Definition), r.Inputs
		for i := range r.Runs {
			mine := definedSet{d, &r.Runs[i], parts[int32(set.Runs[i].Slot)]}
			if len(out.Sets) == 1 {
				ours = append(ours, mine)
				out.Runs = append(out.Runs, definedRun(&r.Runs[i], len(q.SLO) > 0))
			}
			for j := range out.Runs[i].Metrics {
				m := &out.Runs[i].Metrics[j]
				m.Rows = append(m.Rows, mine.row(m.Metric, &ours[i]))
			}
		}
	}
	return out, nil
}

// definedRun returns a run without rows.
func definedRun(r *report.Run, slo bool) report.DefinedRun {
	run := report.DefinedRun{Label: r.Label, Format: r.Format, Requests: r.Requests}
	for _, name := range defined {
		m, ok := metric.Lookup(name)
		if !ok || name == "goodput" && !slo {
			continue
		}
		run.Metrics = append(run.Metrics, report.DefinedMetric{Metric: name, Title: m.Title, Unit: m.Unit})
	}
	return run
}

// definedSet is a run under one definition set.
type definedSet struct {
	def *metric.Definition
	run *report.Run
	of  fractions.Run
}

// Rated reports whether a metric is a rate of the run, not a distribution.
func Rated(name string) bool {
	return name == "tps_decode" || name == "request_rate" || name == "goodput"
}

// row returns a metric under the set, beside ours.
func (s *definedSet) row(name string, ours *definedSet) report.DefinedRow {
	m, _ := metric.Lookup(name)
	row := report.DefinedRow{Definition: s.def.Name, Name: s.def.Calls(name), Formula: s.def.Formula(m)}
	row.P50, row.P99 = report.Null("no_counterpart"), report.Null("no_counterpart")
	row.Value = s.value(name)
	if !Rated(name) {
		d := s.run.Metrics[name]
		row.N = d.N
		row.P50, row.P99 = quantile(&d, "0.5"), quantile(&d, "0.99")
		row.Notes = s.notes(&d, ours.run.Metrics[name])
	}
	row.Equal = same(row.Value, ours.value(name))
	if row.Value.Known {
		row.Filled = s.filled(name, row.Value)
	}
	if !row.Equal && row.Value.Known {
		row.Differs = s.def.Differs(name, func(what string) bool { return s.moved(name, what, ours) })
	}
	return row
}

// notes returns what a reader of a metric must know, and its 99th percentile
// where the percentile method makes that another one than ours.
func (s *definedSet) notes(m *report.Metric, ours report.Metric) []string {
	var list []string
	for _, n := range m.Notes {
		if code, _, _ := strings.Cut(n, ":"); code == "first_event" || code == "stream_end" {
			list = append(list, n)
		}
	}
	p99, other := quantile(m, "0.99"), quantile(&ours, "0.99")
	if s.def.Quantile != metric.Default.Quantile && p99.Known && other.Known && !same(p99, other) {
		list = append(list, fmt.Sprintf("percentiles: p99 is %s by the method %s, ours %s", unit.Format(p99.Unit, p99.V), s.def.Quantile, unit.Format(other.Unit, other.V)))
	}
	return list
}

// moved reports whether what a metric depends on is another one than ours.
func (s *definedSet) moved(name, what string, ours *definedSet) bool {
	switch r := &s.run.Requests; what {
	case "side":
		return s.run.Metrics[name].Side != ours.run.Metrics[name].Side
	case "dt":
		return !same(s.run.Throughput.Window, ours.run.Throughput.Window)
	case "failed":
		return r.Total > r.OK+r.Empty
	case "empty":
		return r.Empty > 0
	case "several":
		return r.Total > 1
	}
	return !same(s.value(what), ours.value(what))
}

// value returns the mean of a metric, or a rate.
func (s *definedSet) value(name string) report.Value {
	d := s.run.Metrics[name]
	if Rated(name) {
		if v, ok := s.run.Throughput.Values[name]; ok {
			return v
		}
		return report.Null(d.Reason)
	}
	if d.N == 0 {
		return report.Null(d.Reason)
	}
	return report.Known(d.Mean, d.Unit)
}

func quantile(m *report.Metric, rank string) report.Value {
	if v, ok := m.Quantiles[rank]; ok && m.N > 0 {
		return report.Known(v, m.Unit)
	}
	return report.Null(m.Reason)
}

// same reports whether two figures are equal but for rounding.
func same(a, b report.Value) bool {
	if !a.Known || !b.Known {
		return false
	}
	d, size := a.V-b.V, max(a.V, -a.V, b.V, -b.V)
	return d <= 1e-9*size && -d <= 1e-9*size
}

// filled writes the formula of a metric with the run's numbers.
func (s *definedSet) filled(name string, v report.Value) string {
	n := s.run.Metrics[name].N
	end := unit.Format(v.Unit, v.V)
	switch name {
	case "ttft":
		return fmt.Sprintf("%s %s - start 0 = %s", s.def.FirstName(), short(v), end)
	case "e2e":
		return fmt.Sprintf("%s %s - start 0 = %s", s.def.EndName(), short(v), end)
	case "output_tokens":
		return "N = " + unit.Format(unit.None, v.V)
	case "tpot":
		return s.pace(s.def.TPOT, s.of.TPOT, v)
	case "tps_request":
		tpot := s.value("tpot")
		return averaged("1 / "+unit.Format(unit.Nanosecond, tpot.V), 1e9/tpot.V, v, n)
	case "chunk_gap":
		if s.def.ITL != nil {
			return s.pace(s.def.ITL, s.of.ITL, v)
		}
		return fmt.Sprintf("%s / %d gaps = %s", unit.Format(unit.Nanosecond, v.V*float64(n)), n, end)
	case "ntpot", "tps_e2e":
		f := s.of.E2E
		if name == "ntpot" {
			return averaged(fmt.Sprintf("e2e %s / N %s", unit.Format(unit.Nanosecond, f.To), unit.Format(unit.None, f.By)), f.To/f.By, v, n)
		}
		return averaged(fmt.Sprintf("N %s / e2e %s", unit.Format(unit.None, f.By), unit.Format(unit.Nanosecond, f.To)), f.By*1e9/f.To, v, n)
	}
	return s.rate(name, v)
}

// rate writes what a rate divides by what.
func (s *definedSet) rate(name string, v report.Value) string {
	what, dt := "requests", s.run.Throughput.Window.V
	switch name {
	case "tps_decode":
		what = "tokens"
	case "goodput":
		g := s.run.Goodput
		if v.V > 0 {
			dt = float64(g.Good) * 1e9 / v.V
		}
		what := fmt.Sprintf("%d of %d requests are good", g.Good, g.Denominator)
		if g.Denominator == 1 {
			what = fmt.Sprintf("%d of 1 request is good", g.Good)
		}
		return what + " / " + unit.Format(unit.Nanosecond, dt) + " = " + unit.Format(v.Unit, v.V)
	}
	n := float64(int64(v.V*dt/1e9 + 0.5))
	if n == 1 {
		what = what[:len(what)-1]
	}
	return fmt.Sprintf("%s %s / %s = %s", unit.Format(unit.None, n), what, unit.Format(unit.Nanosecond, dt), unit.Format(v.Unit, v.V))
}

// pace writes a quotient per request, of means.
func (s *definedSet) pace(p *metric.Pace, f fractions.Quotient, v report.Value) string {
	if f.N == 0 {
		return ""
	}
	scale := unit.Common(unit.Nanosecond, nonZero(f.From, f.To, v.V)...)
	from, to := s.def.Ends(p)
	by, n := f.By, unit.Format(unit.None, f.By)
	if d := p.Divisor(n); d != n { // f.By is the divisor, N less one
		n = p.Divisor(unit.Format(unit.None, f.By+float64(p.Less)))
	}
	text := fmt.Sprintf("(%s %s - %s %s) / %s", to, scale.Short(f.To), from, scale.Short(f.From), n)
	return averaged(text, (f.To-f.From)/by, v, f.N)
}

// averaged writes a formula of means and its result. A mean of quotients is not
// the quotient of means: where the two differ both are shown.
func averaged(text string, of float64, v report.Value, n int64) string {
	u := v.Unit
	if u == unit.NSPerToken {
		u = unit.Nanosecond
	}
	if same(report.Known(of, v.Unit), v) {
		return text + " = " + unit.Format(u, v.V)
	}
	return fmt.Sprintf("%s = %s of the means; the mean over %d requests is %s", text, unit.Format(u, of), n, unit.Format(u, v.V))
}

// short prints a value without its unit.
func short(v report.Value) string { return unit.Common(v.Unit, v.V).Short(v.V) }

func nonZero(values ...float64) []float64 {
	return slices.DeleteFunc(values, func(v float64) bool { return v == 0 })
}
