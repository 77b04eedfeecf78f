package promtext

import (
	"maps"
	"math"
	"slices"

	"servescope/analyzer/diag"
	"servescope/formats/internal/json"
)

// exponential is a histogram whose buckets are powers of 2^(2^-scale): that of
// index i holds what is above that to the power of i, up to that of i+1.
type exponential struct {
	scaled    bool
	scale     int
	zero      float64 // observations at most threshold
	threshold float64
	below     float64 // negative ones
	odd       bool    // its buckets cannot be read
	counts    map[int]float64
}

const (
	maxScale = 20 // as the specification has it
	minScale = -10
)

// member takes a member of a point that only these histograms have.
func (x *exponential) member(c *json.Cursor, key string) {
	switch key {
	case "scale":
		v, ok := numberOf(scalar(c))
		x.scaled = ok && v >= minScale && v <= maxScale && v == math.Trunc(v)
		x.scale = int(v)
	case "zeroCount", "zero_count":
		x.zero, _ = numberOf(scalar(c))
	case "zeroThreshold", "zero_threshold":
		x.threshold, _ = numberOf(scalar(c))
	case "positive", "negative":
		if c.Kind() != json.Object {
			c.Skip()
			return
		}
		offset, list := 0, []float64(nil)
		for c.Open(); c.More(); {
			switch string(c.Key(16)) {
			case "offset":
				if v, ok := numberOf(scalar(c)); ok && math.Abs(v) < 1<<31 {
					offset = int(v)
				}
			case "bucketCounts", "bucket_counts":
				list = numbers(c)
				x.odd = x.odd || list == nil
			default:
				c.Skip()
			}
		}
		x.fill(key == "negative", offset, list)
	default:
		c.Skip()
	}
}

func (x *exponential) fill(negative bool, offset int, list []float64) {
	if x.counts == nil {
		x.counts = make(map[int]float64)
	}
	for i, n := range list {
		switch {
		case !(n > 0):
		case negative:
			x.below += n
		default:
			x.counts[offset+i] += n
		}
	}
}

// coarser halves the number of buckets until the scale is reached: bucket i goes
// into bucket i/2, rounded down.
func (x *exponential) coarser(scale int) {
	if scale >= x.scale {
		return
	}
	counts := make(map[int]float64, len(x.counts))
	for i, n := range x.counts {
		counts[i>>(x.scale-scale)] += n
	}
	x.scale, x.counts = scale, counts
}

// add adds the observations of another histogram, sign times.
func (x *exponential) add(o *exponential, sign float64) {
	if !o.scaled {
		return
	}
	if !x.scaled {
		*x = exponential{scaled: true, scale: o.scale, threshold: o.threshold, counts: make(map[int]float64)}
	}
	x.coarser(o.scale)
	x.threshold = max(x.threshold, o.threshold)
	x.zero += float64(sign * o.zero)
	x.below += float64(sign * o.below)
	for i, n := range o.counts {
		x.counts[i>>(o.scale-x.scale)] += float64(sign * n)
	}
	for len(x.counts) > maxBuckets && x.scale > minScale {
		x.coarser(x.scale - 1)
	}
}

// bound returns 2^(i / 2^scale). Roots and products are rounded one by one, so its
// relative error is less than 10^-14.
func bound(i, scale int) float64 {
	if scale <= 0 {
		return power(i << -scale)
	}
	b, root := 1.0, 2.0
	for bit := scale - 1; bit >= 0; bit-- {
		if root = math.Sqrt(root); i>>bit&1 != 0 {
			b *= root
		}
	}
	return b * power(i>>scale)
}

// power returns 2^n, 0 or infinity where that is no normal number.
func power(n int) float64 {
	switch {
	case n < -1022:
		return 0
	case n > 1023:
		return math.Inf(1)
	}
	return math.Float64frombits(uint64(n+1023) << 52)
}

// limits calls f for the limits of each bucket that is not empty, in their order,
// with how much lies below.
func (x *exponential) limits(f func(limit, below float64)) {
	below, last := x.below, math.Inf(-1)
	tell := func(limit float64) {
		if limit > last && !math.IsInf(limit, 0) {
			f(limit, below)
			last = limit
		}
	}
	if x.zero > 0 || x.below > 0 {
		below += x.zero
		tell(x.threshold)
	}
	for _, i := range slices.Sorted(maps.Keys(x.counts)) {
		if x.counts[i] != 0 {
			tell(bound(i, x.scale))
			below += x.counts[i]
			tell(bound(i+1, x.scale))
		}
	}
}

// counting is what such a histogram of one series adds up to. Its limits differ from
// one point to the next, where a wider range makes it coarser.
type counting struct {
	of                 *series // its number of observations
	first, last, total exponential
	told               bool
}

// take takes a point and returns what its samples are.
func (x *counting) take(p *exponential, delta bool) *exponential {
	if delta {
		x.total.add(p, 1)
		return &x.total
	}
	if !x.told && !x.of.since {
		x.first = *p
	}
	x.last, x.told = *p, true
	return &x.last
}

// rise adds what was counted to a sum: with all set since the process began, else
// since a start that is known, or the first point.
func (x *counting) rise(sum *exponential, all bool) {
	if sum.add(&x.total, 1); x.told {
		sum.add(&x.last, 1)
	}
	if !all && x.first.scaled {
		sum.add(&x.first, -1)
	}
}

// exponential takes a point of such a histogram: the samples of its buckets are
// their limits, and how much lies below.
func (e *exports) exponential(r *reader, name string, p *point) {
	e.label = append(e.label[:0], p.labels...)
	f := e.sample(r, name+"_count", p, p.count)
	if f == nil {
		return
	}
	x := e.exponent[f]
	if x == nil {
		x = &counting{of: f}
		e.exponent[f] = x
		e.order = append(e.order, x)
	}
	x.take(&p.exponential, e.metric.delta).limits(func(limit, below float64) {
		e.bounded(p, "le", limit)
		s := e.named(name+"_bucket", p, below)
		if f, why := r.table.find(&s); f != nil {
			r.Counts.Parsed++
			r.row(f, &s)
		} else {
			r.skip(why, diag.DataLoss, "there are more different samples than fit into memory")
		}
	})
	if p.summed {
		e.label = append(e.label[:0], p.labels...)
		e.sample(r, name+"_sum", p, p.sum)
	}
}

// finish gives the figures the limits of their histograms.
func (e *exports) finish(r *reader, rises []*figure) {
	sums := make(map[*figure]*exponential)
	for _, x := range e.order {
		i := slices.IndexFunc(rises, func(f *figure) bool {
			return f.engine == x.of.engine && f.family == x.of.family && f.model == x.of.model && f.labels == x.of.keptLabels()
		})
		if i < 0 {
			continue
		}
		if sums[rises[i]] == nil {
			sums[rises[i]] = new(exponential)
		}
		x.rise(sums[rises[i]], r.table.single())
	}
	for f, x := range sums {
		falls, last := false, 0.0
		x.limits(func(_, below float64) { falls, last = falls || below < last, below })
		if falls {
			r.add(diag.Diag{Code: "counts_differ", Severity: diag.Notice, Offset: -1, Msg: f.family + ": buckets have lost observations between two points: no limits are given"})
			continue
		}
		x.limits(func(limit, below float64) { f.buckets[limit] += below })
	}
}
