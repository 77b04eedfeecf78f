package kernel

import (
	"fmt"
	"strconv"
	"strings"

	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// confidence of the intervals of quantiles.
const confidence = 0.95

// sideName names a side as reports do.
func sideName(s trace.Side) string { return trace.Requests.Fields[trace.SideCol].Values[s] }

// emptyMetric returns a metric of the cell with its exclusions and no values;
// an idle cell holds no request at all.
func (b *base) emptyMetric(name string, side trace.Side, excluded tally, idle bool) report.Metric {
	m, _ := metric.Lookup(name)
	why := excluded.main()
	if idle {
		why = metric.NoRequests
	}
	out := b.def.Null(m, why.String())
	out.Side = sideName(side)
	out.Excluded = excluded.counts()
	return out
}

// distribution fills a metric with the statistics of values, which it sorts.
// Wide cells (those of the run and of groups) get intervals and notes.
func (b *base) distribution(out report.Metric, m *measure, values []int64, wide bool) report.Metric {
	n := int64(len(values))
	if n == 0 {
		return out
	}
	stat.Sort(values)
	out.Reason, out.N, out.Exact = "", n, true
	out.Min, out.Max = m.float(values[0]), m.float(values[n-1])
	if m.quotient {
		floats := make([]float64, n)
		for i, v := range values {
			floats[i] = stat.Unkey(v)
		}
		out.Mean, out.Std = stat.Mean(floats), stat.Std(floats)
	} else {
		var sums stat.Moments
		sums.Add(values)
		out.Mean, out.Std = sums.Mean(), sums.Std()
	}
	if b.def.Whole && (out.Unit == unit.Nanosecond || out.Unit == unit.NSPerToken) {
		out.Mean = float64(int64(out.Mean))
	}
	out.Quantiles = make(map[string]float64)
	for _, q := range b.ranks() {
		lo, hi, t := b.def.Quantile.Ranks(n, q)
		out.Quantiles[rankName(q)] = stat.Lerp(m.float(values[lo]), m.float(values[hi]), t)
	}
	if !wide {
		return out
	}
	out.Intervals = make(map[string][2]any)
	for _, q := range b.ranks() {
		lo, hi := stat.RankInterval(n, q, confidence)
		var bounds [2]any
		if lo >= 0 {
			bounds[0] = m.float(values[lo])
		}
		if hi < n {
			bounds[1] = m.float(values[hi])
		}
		out.Intervals[rankName(q)] = bounds
	}
	out.Notes = append(out.Notes, b.fewValues(n)...)
	return out
}

// rankName is the key of a quantile in reports.
func rankName(q float64) string { return strconv.FormatFloat(q, 'g', -1, 64) }

// fewValues notes the quantiles that n values cannot tell from their maximum.
func (b *base) fewValues(n int64) []string {
	var names []string
	for _, q := range b.ranks() {
		if float64(n)*(1-q) < 1-1e-9 {
			names = append(names, "p"+strconv.FormatFloat(q*100, 'g', 10, 64))
		}
	}
	if len(names) == 0 {
		return nil
	}
	are := "is"
	if len(names) > 1 {
		are = "are"
	}
	return []string{fmt.Sprintf("few_values: %s of %d values %s the maximum or close to it (max of n)", strings.Join(names, ", "), n, are)}
}
