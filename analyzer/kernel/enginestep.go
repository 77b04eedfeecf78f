package kernel

import (
	"servescope/analyzer/decompose"
	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
)

// engineStep writes the metric engine_step of a cell: the intervals of its steps.
// Ranks of one engine take the same steps, so the first that has any stands for
// all. The metric is the product's own under every definition.
func (s *stepTimeState) engineStep(c *report.Cell, timelines []*decompose.Timeline, in decompose.Selection, wide bool) {
	var values []int64
	var sum stat.Moments
	others := int64(0) // steps whose lengths are no intervals
	done := make(map[string]bool)
	for at, t := range timelines {
		if done[t.Replica] || len(in[at]) == 0 {
			continue
		}
		for _, i := range in[at] {
			k := &t.Steps[i]
			switch {
			case k.Duration < 0 || k.Kind == trace.StepDummy:
			case k.Quantity != trace.Interval:
				others++
			default:
				done[t.Replica] = true
				values = append(values, k.Duration)
				sum.AddN(k.Duration, 1)
			}
		}
	}
	if len(values) == 0 && others == 0 {
		return
	}
	m, _ := metric.Lookup("engine_step")
	out := metric.Default.Null(m, metric.NotRecorded.String())
	out.Side = sideName(trace.Engine)
	if others > 0 {
		out.Excluded = map[string]int64{metric.NotRecorded.String(): others}
	}
	if n := int64(len(values)); n > 0 {
		stat.Sort(values)
		out.Reason, out.N, out.Exact = "", n, true
		out.Mean, out.Std = sum.Mean(), sum.Std()
		out.Min, out.Max = float64(values[0]), float64(values[n-1])
		out.Quantiles = make(map[string]float64)
		for _, q := range s.base.ranks() {
			lo, hi, f := metric.Default.Quantile.Ranks(n, q)
			out.Quantiles[rankName(q)] = stat.Lerp(float64(values[lo]), float64(values[hi]), f)
		}
		if wide {
			out.Notes = append(out.Notes, s.fewValues(n)...)
		}
	}
	setMetric(c, m.Name, out)
}
