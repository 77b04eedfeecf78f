package stat

import "slices"

// Digest holds exact statistics of a stream of int64 values in memory that does
// not grow with its length: count, sum, sum of squares, extremes, and order
// statistics.
//
// Up to a limit it keeps every value. Beyond, it counts values in a logarithmic
// histogram and keeps the values of the buckets around the wanted quantiles,
// chosen from the values seen so far. Where a quantile ends up outside of the
// kept buckets (the stream changed), it is known to 2⁻⁸ only; Missing says so,
// and a second pass of the same values through Refiner makes it exact.
//
// Digests merge: in any order and however the stream was cut, all exact answers
// are those of the whole stream. A Digest is not safe for concurrent use.
type Digest struct {
	Moments

	quantiles []float64
	limit     int
	raw       []int64    // every value, while hist is nil
	sorted    bool       // raw is sorted
	hist      *histogram // nil while raw holds every value
	kept      bag        // the values of the histogram's kept buckets
	refining  bool       // made by Refiner: moments are not counted
}

// DefaultLimit is the number of values that a Digest keeps before it begins to
// count in buckets: enough to place the buckets well.
const DefaultLimit = 1 << 17

// blockSize is the number of values folded at a time: they stay in the
// first-level cache between the two loops over them.
const blockSize = 1024

// keptLimit is the number of distinct kept values beyond which a Digest lets
// go of its fullest buckets.
const keptLimit = 1 << 21

// NewDigest returns an empty digest that prepares for the given quantiles and
// keeps up to limit values as they are.
func NewDigest(quantiles []float64, limit int) *Digest {
	return &Digest{quantiles: quantiles, limit: max(limit, 1)}
}

// Add adds values.
func (d *Digest) Add(values []int64) {
	for len(values) > 0 {
		block := values[:min(len(values), blockSize)]
		values = values[len(block):]
		if !d.refining {
			d.Moments.Add(block)
		}
		d.add(block)
	}
}

// add adds at most blockSize values to everything but the moments.
func (d *Digest) add(block []int64) {
	if d.hist == nil {
		if len(d.raw)+len(block) <= d.limit {
			d.raw, d.sorted = append(d.raw, block...), false
			return
		}
		d.spread()
	}
	n := len(d.kept.tail)
	d.kept.tail = slices.Grow(d.kept.tail, len(block)+1)
	out := d.kept.tail[n : n+len(block)+1]
	out = out[:d.hist.fold(block, out)]
	if len(d.hist.dense) > 0 {
		out = d.hist.count(out)
	}
	d.kept.tail = d.kept.tail[:n+len(out)]
	if d.kept.full() {
		d.settle()
		d.hist.densify(&d.kept, max(bagTail/64, d.N/128))
	}
}

// settle brings all kept values together, within the limit.
func (d *Digest) settle() {
	d.hist.drain(&d.kept)
	d.kept.settle()
	d.trim()
}

// AddN adds the value v n times.
func (d *Digest) AddN(v, n int64) {
	if n <= 0 {
		return
	}
	if !d.refining {
		d.Moments.AddN(v, n)
	}
	if d.hist == nil {
		if n <= int64(d.limit-len(d.raw)) {
			for range n {
				d.raw = append(d.raw, v)
			}
			d.sorted = false
			return
		}
		d.spread()
	}
	c := d.hist.at(bucketOf(v))
	if *c += uint64(n); *c&keepBit != 0 {
		d.kept.addN(v, n)
	}
}

// Raw returns the number of values that are held as they are.
func (d *Digest) Raw() int { return len(d.raw) }

// Condense makes the digest count in buckets, however few values it has: for
// callers that hold many digests and bound their sum.
func (d *Digest) Condense() {
	if d.hist == nil && len(d.raw) > 0 {
		d.spread()
	}
}

// spread moves the raw values into a histogram.
func (d *Digest) spread() {
	raw := d.raw
	d.raw, d.hist = nil, newHistogram()
	out := make([]int64, len(raw)+1)
	d.hist.fold(raw, out)
	d.hist.choose(d.quantiles, int64(len(raw)))
	for _, v := range raw {
		if d.hist.keeps(bucketOf(v)) {
			d.kept.tail = append(d.kept.tail, v)
		}
	}
}

// trim lets go of the fullest kept buckets while too many values are kept. All
// of them are in d.kept, settled.
func (d *Digest) trim() {
	if len(d.kept.values) <= keptLimit {
		return
	}
	type bucket struct {
		b    int32
		kept int
	}
	var all []bucket
	for _, v := range d.kept.values {
		if b := bucketOf(v); len(all) == 0 || all[len(all)-1].b != b {
			all = append(all, bucket{b, 0})
		}
		all[len(all)-1].kept++
	}
	slices.SortFunc(all, func(x, y bucket) int { return y.kept - x.kept })
	for n, i := len(d.kept.values), 0; n > keptLimit/2; i++ {
		d.hist.setKeep(all[i].b, false)
		n -= all[i].kept
	}
	d.kept.filter(func(v int64) bool { return d.hist.keeps(bucketOf(v)) })
}

// Merge adds the values of o, which must have been made for the same quantiles.
// o is not to be used afterwards.
func (d *Digest) Merge(o *Digest) {
	d.Moments.Merge(&o.Moments)
	if o.hist == nil {
		for len(o.raw) > 0 {
			block := o.raw[:min(len(o.raw), blockSize)]
			o.raw = o.raw[len(block):]
			d.add(block)
		}
		return
	}
	if d.hist == nil {
		raw := d.raw
		d.raw, d.hist, d.kept = nil, o.hist, o.kept
		for len(raw) > 0 {
			block := raw[:min(len(raw), blockSize)]
			raw = raw[len(block):]
			d.add(block)
		}
		return
	}
	d.settle()
	o.settle()
	d.hist.merge(o.hist)
	d.kept.merge(&o.kept)
	d.kept.filter(func(v int64) bool { return d.hist.keeps(bucketOf(v)) })
	d.trim()
}

// At returns the k-th smallest value (0-based, k < N) and whether it is exact;
// else it is within its bucket, 2⁻⁸ of the value.
func (d *Digest) At(k int64) (v int64, exact bool) {
	if k <= 0 {
		return d.Min, true
	}
	if k >= d.N-1 {
		return d.Max, true
	}
	if d.hist == nil {
		if !d.sorted {
			Sort(d.raw)
			d.sorted = true
		}
		return d.raw[k], true
	}
	d.settle()
	d.hist.each(func(b int32, n int64, keep bool) bool {
		if k >= n {
			k -= n
			return true
		}
		lo, hi := bucketRange(b)
		lo, hi = max(lo, d.Min), min(hi, d.Max)
		if lo == hi {
			v, exact = lo, true
		} else if keep {
			v, exact = d.kept.at(lo, k)
		} else {
			v = lo + int64(float64(hi-lo)*((float64(k)+0.5)/float64(n)))
		}
		return false
	})
	return v, exact
}

// Quantile returns the q-quantile under method m and whether it is exact.
// There must be values.
func (d *Digest) Quantile(m Method, q float64) (v float64, exact bool) {
	lo, hi, t := m.Ranks(d.N, q)
	a, exactA := d.At(lo)
	b, exactB := a, exactA
	if hi != lo {
		b, exactB = d.At(hi)
	}
	return Lerp(float64(a), float64(b), t), exactA && exactB
}

// Missing reports whether a quantile that the digest was made for is not exact
// under method m.
func (d *Digest) Missing(m Method) bool { return len(d.missing(m)) > 0 }

// missing returns the buckets whose values are needed.
func (d *Digest) missing(m Method) []int32 {
	var need []int32
	for _, q := range d.quantiles {
		if d.N == 0 {
			break
		}
		lo, hi, _ := m.Ranks(d.N, q)
		for _, k := range []int64{lo, hi} {
			if v, exact := d.At(k); !exact && !slices.Contains(need, bucketOf(v)) {
				need = append(need, bucketOf(v))
			}
		}
	}
	return need
}

// Refiner returns an empty digest that keeps the values that d misses under
// method m. Fold the same values once more into refiners of d (merge them as
// digests), and hand the result to Refine.
func (d *Digest) Refiner(m Method) *Digest {
	r := &Digest{quantiles: d.quantiles, limit: d.limit, refining: true, hist: newHistogram()}
	for _, b := range d.missing(m) {
		r.hist.setKeep(b, true)
	}
	return r
}

// Refine makes the quantiles of d exact that the refiner r covers.
func (d *Digest) Refine(r *Digest) {
	if d.hist == nil {
		return
	}
	d.settle()
	r.settle()
	r.hist.each(func(b int32, n int64, keep bool) bool {
		if keep && d.hist.find(b) == uint64(n) { // the same count, not kept yet
			d.hist.setKeep(b, true)
		} else {
			r.hist.setKeep(b, false)
		}
		return true
	})
	r.kept.filter(func(v int64) bool { return r.hist.keeps(bucketOf(v)) })
	d.kept.merge(&r.kept)
}

// Size returns the bytes of memory that the digest holds, roughly.
func (d *Digest) Size() int64 {
	n := int64(256) + 8*int64(cap(d.raw)) + d.kept.size()
	if d.hist != nil {
		n += 8 * int64(len(d.hist.n)+len(d.hist.dense))
		if d.hist.negative != nil {
			n += 8 * int64(len(d.hist.negative.n))
		}
	}
	return n
}
