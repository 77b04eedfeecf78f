package cell

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// confidence of the intervals of quantiles.
const confidence = 0.95

// EmptyMetric returns a metric of the cell with its exclusions and no values;
// an idle cell holds no request at all.
func (b *Base) EmptyMetric(name string, side trace.Side, excluded Tally, idle bool) report.Metric {
	m, _ := metric.Lookup(name)
	why := excluded.main()
	if idle {
		why = metric.NoRequests
	}
	out := b.Def.Null(m, why.String())
	out.Side = request.SideName(side)
	out.Excluded = excluded.Counts()
	return out
}

// Distribution fills a metric with the statistics of values. Wide cells (of
// the run and of groups) get intervals and notes.
func (b *Base) Distribution(out report.Metric, m *request.Measure, values *stat.Sample, wide bool) report.Metric {
	n := values.N()
	if n == 0 {
		return out
	}
	out.Reason, out.N, out.Exact = "", n, true
	at := func(k int64) float64 {
		v, exact := values.At(k)
		out.Exact = out.Exact && exact
		return m.Float(v)
	}
	out.Min, out.Max = at(0), at(n-1)
	out.Mean, out.Std = values.Moments(m.Quotient)
	out.Std = b.Deviation(out.Std, n)
	if b.Def.Whole && (out.Unit == unit.Nanosecond || out.Unit == unit.NSPerToken) {
		out.Mean = float64(int64(out.Mean))
	}
	out.Quantiles = make(map[string]float64)
	for _, q := range b.Ranks() {
		lo, hi, t := b.Def.Quantile.Ranks(n, q)
		out.Quantiles[RankName(q)] = stat.Lerp(at(lo), at(hi), t)
	}
	if wide {
		out.Intervals = make(map[string][2]any)
		for _, q := range b.Ranks() {
			lo, hi := stat.RankInterval(n, q, confidence)
			var bounds [2]any
			if lo >= 0 {
				bounds[0] = at(lo)
			}
			if hi < n {
				bounds[1] = at(hi)
			}
			out.Intervals[RankName(q)] = bounds
		}
		out.Notes = append(out.Notes, b.FewValues(n)...)
	}
	return out
}

// Deviation returns the standard deviation of n values as the definition has it,
// where std is the plain one. It is undefined for a sample of one.
func (b *Base) Deviation(std float64, n int64) float64 {
	switch {
	case !b.Def.Sample:
		return std
	case n < 2:
		return math.NaN()
	}
	return std * math.Sqrt(float64(n)/float64(n-1))
}

// Want adds to w what is not known of the values that distribution and bound ask
// for, where censored more lie beyond.
func (b *Base) Want(w *stat.Wanted, values *stat.Sample, censored int64, wide bool) {
	n := values.N()
	for _, q := range b.Ranks() {
		lo, hi, _ := b.Def.Quantile.Ranks(n, q)
		ranks := []int64{lo, hi}
		if wide {
			lo, hi := stat.RankInterval(n, q, confidence)
			ranks = append(ranks, lo, hi)
		}
		if censored > 0 {
			lo, hi, _ := b.Def.Quantile.Ranks(n+censored, q)
			ranks = append(ranks, lo, hi)
		}
		for _, k := range ranks {
			if k >= 0 && k < n {
				w.Want(values, k)
			}
		}
	}
}

// FewValues notes the quantiles that n values cannot tell from their maximum.
func (b *Base) FewValues(n int64) []string {
	var names []string
	for _, q := range b.Ranks() {
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

// RankName is the key of a quantile in reports.
func RankName(q float64) string { return strconv.FormatFloat(q, 'g', -1, 64) }
