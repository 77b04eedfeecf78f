package latency

import (
	"cmp"
	"math"
	"slices"

	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/report"
	"servescope/analyzer/stat"
)

// weighted holds values, as keys of floats, with positive whole weights: those
// of a tool whose requests do not weigh the same.
type weighted []weightedValue

type weightedValue struct{ key, weight int64 }

// sort puts the values in an order that does not depend on how they came.
func (l weighted) sort() {
	slices.SortFunc(l, func(a, b weightedValue) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.weight, b.weight))
	})
}

func (l weighted) AppendTo(dst []byte) []byte {
	l.sort()
	dst = cell.AppendInts(dst, int64(len(l)))
	for _, v := range l {
		dst = cell.AppendInts(dst, v.key, v.weight)
	}
	return dst
}

func (l *weighted) Load(src *cell.Reader) {
	for n := src.Count(); n > 0 && src.Err == nil; n-- {
		*l = append(*l, weightedValue{src.Int(), src.Int()})
	}
}

// distribution fills a metric with the statistics of the values. A quantile is
// the first value at which the share of the weights reaches it, whatever the
// percentile method: a tool that weighs counts weights. There are no intervals.
func (l weighted) distribution(out report.Metric, b *cell.Base, wide bool) report.Metric {
	if len(l) == 0 {
		return out
	}
	l.sort()
	total := int64(0)
	for _, v := range l {
		total += v.weight
	}
	mean := l.mean(total, func(v float64) float64 { return v })
	out.Reason, out.N, out.Exact = "", int64(len(l)), true
	out.Mean, out.Std = mean, math.Sqrt(l.mean(total, func(v float64) float64 { return float64((v - mean) * (v - mean)) }))
	out.Min, out.Max = stat.Unkey(l[0].key), stat.Unkey(l[len(l)-1].key)
	out.Quantiles = make(map[string]float64)
	for _, q := range b.Ranks() {
		i, sum := 0, l[0].weight
		for float64(sum)/float64(total) < q && i < len(l)-1 {
			i++
			sum += l[i].weight
		}
		out.Quantiles[cell.RankName(q)] = stat.Unkey(l[i].key)
	}
	if wide {
		out.Notes = append(out.Notes, b.FewValues(out.N)...)
	}
	return out
}

// mean returns the weighted mean of f of the values, compensated.
func (l weighted) mean(total int64, f func(float64) float64) float64 {
	var s, c float64
	for _, v := range l {
		x := float64(f(stat.Unkey(v.key)) * float64(v.weight))
		t := s + x
		if math.Abs(s) >= math.Abs(x) {
			c += (s - t) + x
		} else {
			c += (x - t) + s
		}
		s = t
	}
	return (s + c) / float64(total)
}
