package stat

import "slices"

// Digest holds exact statistics of a stream of int64 values in bounded memory:
// count, sum, sum of squares, extremes, and order statistics.
//
// Up to a limit it keeps every value; Pack makes these smaller. Beyond the
// limit it counts values one by one if they are multiples of a unit of time
// (see grid). It counts other values in a logarithmic histogram and keeps the
// values of buckets near the wanted quantiles, chosen from the values seen so
// far. If the stream changes and a quantile leaves the kept buckets, its
// relative error is up to 2⁻⁸. Missing reports this, and a second pass of the
// same values through Refiner makes the quantile exact.
//
// Digests merge in any order, and all exact answers are the answers for the
// whole stream, however it was cut. A Digest is not safe for concurrent use.
type Digest struct {
	moments   Moments // of all values but the ones counted in grid
	quantiles []float64
	limit     int
	raw       []int64    // while hist is nil: every value that is not in packed
	sorted    bool       // raw is sorted
	packed    packed     // values that came before raw
	opened    []int64    // raw and packed values in order; nil until they are asked for
	hist      *histogram // nil while raw and packed hold every value
	grid      *grid      // counts its values first; nil: too few values are on a grid
	kept      bag        // values of the kept buckets of hist
	refined   bool       // no value is added any more, so no bucket needs to go
}

// DefaultLimit is the number of values that a Digest keeps before it counts in
// buckets. It is large enough to choose the buckets well.
const DefaultLimit = 1 << 17

// packedLimit multiplies the limit of a digest whose values are packed.
const packedLimit = 8

// keptLimit is the number of distinct kept values beyond which a Digest drops
// buckets. Tests lower it.
var keptLimit = 1 << 21

// NewDigest returns an empty digest for the given quantiles. It keeps up to
// limit values before it counts.
func NewDigest(quantiles []float64, limit int) *Digest {
	return &Digest{quantiles: quantiles, limit: max(limit, 1)}
}

// Add adds values.
func (d *Digest) Add(values []int64) {
	for len(values) > 0 {
		block := values[:min(len(values), blockSize)]
		values = values[len(block):]
		d.ensureRoom(int64(len(block)))
		if d.grid != nil {
			if block = d.grid.addBlock(block); len(block) == 0 {
				continue
			}
		}
		d.add(block)
	}
	if d.grid != nil && d.grid.total >= gridTotal {
		d.settle()
	}
}

// add adds 1 to blockSize values that have room and are not on the grid.
func (d *Digest) add(block []int64) {
	d.moments.add(block)
	if d.hist == nil {
		d.raw, d.sorted, d.opened = append(d.raw, block...), false, nil
		return
	}
	n := len(d.kept.tail)
	if cap(d.kept.tail)-n <= len(block) { // append would allocate more than needed
		d.kept.tail = append(make([]int64, 0, 2*(n+len(block)+1)), d.kept.tail...)
	}
	// The histogram writes the values of kept buckets to the tail.
	out := d.kept.tail[n : n+len(block)+1]
	out = out[:d.hist.addBlock(block, out)]
	if len(d.hist.dense) > 0 {
		out = d.hist.count(out)
	}
	d.kept.tail = d.kept.tail[:n+len(out)]
	if d.kept.full() {
		d.settleKept()
		d.hist.densify(&d.kept, max(bagTail/64, d.moments.N/128))
	}
}

// Moments returns count, sums and extremes of the values so far. The result is
// read-only and valid until the next Add.
func (d *Digest) Moments() *Moments {
	if d.grid != nil {
		d.settle()
	}
	return &d.moments
}

// Settle prepares the digest for At, which otherwise does it on its first call.
func (d *Digest) Settle() {
	if d.hist != nil {
		d.settle()
	} else if d.packed.n == 0 && !d.sorted {
		Sort(d.raw)
		d.sorted = true
	}
}

// settle moves all kept values to kept and trims them to the limit.
func (d *Digest) settle() {
	if d.grid != nil {
		d.grid.drain(d)
	}
	d.settleKept()
}

// settleKept is settle without the values on the grid.
func (d *Digest) settleKept() {
	d.hist.drain(&d.kept)
	d.kept.settle()
	d.trim()
}

// AddN adds the value v n times.
func (d *Digest) AddN(v, n int64) {
	if n <= 0 {
		return
	}
	d.ensureRoom(n)
	d.moments.AddN(v, n)
	if d.hist == nil {
		for range n {
			d.raw = append(d.raw, v)
		}
		d.sorted, d.opened = false, nil
		return
	}
	c := d.hist.at(bucketOf(v))
	if *c += uint64(n); *c&keepBit != 0 {
		d.kept.addN(v, n)
	}
}

// ensureRoom packs the values, or starts to count, if n more values exceed the
// limit.
func (d *Digest) ensureRoom(n int64) {
	if d.hist != nil || n <= int64(d.limit-len(d.raw)-d.packed.n) {
		return
	}
	if d.packed.n > 0 && n <= int64(d.maxKept()-len(d.raw)-d.packed.n) {
		if n > int64(d.limit-len(d.raw)) {
			d.Pack(nil)
		}
		return
	}
	d.spread()
}

// maxKept returns how many values the digest keeps before it counts. Packed, so
// many values are about as large as the counts of a million values.
func (d *Digest) maxKept() int {
	if d.packed.n > 0 {
		return packedLimit * d.limit
	}
	return d.limit
}

// RawCount returns the number of values held unpacked.
func (d *Digest) RawCount() int { return len(d.raw) }

// spread moves the values to a grid or a histogram.
func (d *Digest) spread() {
	raw := d.every()
	d.raw, d.packed, d.opened, d.hist, d.moments = nil, packed{}, nil, newHistogram(), Moments{}
	var all bool
	if d.grid, all = newGrid(raw); all {
		d.hist.keepAll()
	} else {
		d.hist.plan(raw, d.quantiles)
	}
	d.Add(raw)
}

// trim drops kept buckets while too many values are kept: first the buckets far
// from the wanted quantiles, whose ranks are better known by now, then the
// fullest. All kept values must be settled in d.kept.
func (d *Digest) trim() {
	if len(d.kept.values) <= keptLimit || d.refined {
		return
	}
	if d.grid != nil {
		d.grid.drain(d)
	}
	for far := 64.0; far >= 8 && len(d.kept.values) > keptLimit/2; far /= 2 {
		d.hist.narrow(d.quantiles, far, d.moments.N)
		d.kept.filter(func(v int64) bool { return d.hist.keeps(bucketOf(v)) })
	}
	if len(d.kept.values) > keptLimit*3/4 {
		d.dropFullest()
	}
}

// dropFullest drops the buckets that hold most of the kept values.
func (d *Digest) dropFullest() {
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

// Merge adds the values of o, which must have the same quantiles. o must not be
// used afterwards.
func (d *Digest) Merge(o *Digest) {
	// While both keep every value, or one does, adding the values is enough.
	switch {
	case o.hist == nil && o.packed.n > 0 && d.hist == nil && d.moments.N+o.moments.N <= int64(o.maxKept()):
		d.moments.Merge(&o.moments)
		d.raw, d.sorted, d.opened = append(d.raw, o.raw...), false, nil
		d.packed.merge(&o.packed)
		return
	case o.hist == nil:
		d.Add(o.every())
		return
	case d.hist == nil:
		raw := d.every()
		d.raw, d.packed, d.opened = nil, packed{}, nil
		d.moments, d.hist, d.grid, d.kept = o.moments, o.hist, o.grid, o.kept
		d.Add(raw)
		return
	}
	// Otherwise add counts to counts.
	d.settle()
	o.settle()
	d.moments.Merge(&o.moments)
	d.hist.merge(o.hist)
	d.kept.merge(&o.kept)
	d.kept.filter(func(v int64) bool { return d.hist.keeps(bucketOf(v)) })
	d.trim()
}

// At returns the k-th smallest value (0-based, k < N) and whether it is exact.
// Otherwise its relative error is up to 2⁻⁸.
func (d *Digest) At(k int64) (v int64, exact bool) {
	m := d.Moments()
	if k <= 0 {
		return m.Min, true
	}
	if k >= m.N-1 {
		return m.Max, true
	}
	if d.Settle(); d.hist == nil {
		return d.inOrder()[k], true
	}
	// Find the bucket of the k-th value, then the value in it.
	d.hist.each(func(b int32, n int64, keep bool) bool {
		if k >= n {
			k -= n
			return true
		}
		lo, hi := bucketRange(b)
		lo, hi = max(lo, m.Min), min(hi, m.Max)
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

// Quantile returns the q-quantile under method m and whether it is exact. The
// digest must not be empty.
func (d *Digest) Quantile(m Method, q float64) (v float64, exact bool) {
	lo, hi, t := m.Ranks(d.Moments().N, q)
	a, exactA := d.At(lo)
	b, exactB := a, exactA
	if hi != lo {
		b, exactB = d.At(hi)
	}
	return Lerp(float64(a), float64(b), t), exactA && exactB
}

// Missing reports whether one of the digest's quantiles is not exact under
// method m.
func (d *Digest) Missing(m Method) bool { return len(d.missing(m)) > 0 }

// missing returns the buckets that hold the quantiles which are not exact.
func (d *Digest) missing(m Method) []int32 {
	var need []int32
	if d.hist == nil {
		return nil
	}
	for _, q := range d.quantiles {
		n := d.Moments().N
		if n == 0 {
			break
		}
		lo, hi, _ := m.Ranks(n, q)
		for _, k := range []int64{lo, hi} {
			if v, exact := d.At(k); !exact && !slices.Contains(need, bucketOf(v)) {
				need = append(need, bucketOf(v))
			}
		}
	}
	return need
}

// Refiner returns an empty digest that keeps the values that d misses under
// method m. Add the same values once more to refiners of d, merge the refiners,
// and pass the result to Refine.
func (d *Digest) Refiner(m Method) *Digest {
	r := &Digest{quantiles: d.quantiles, limit: d.limit, hist: newHistogram()}
	for _, b := range d.missing(m) {
		r.hist.setKeep(b, true)
	}
	return r
}

// Refine makes exact the quantiles of d that the refiner r covers. No value may
// be added afterwards.
func (d *Digest) Refine(r *Digest) {
	if d.hist == nil {
		return
	}
	d.settle()
	r.settle()
	r.hist.each(func(b int32, n int64, keep bool) bool {
		if keep && d.hist.find(b) == uint64(n) { // the counts agree, and the bucket was not kept before
			d.hist.setKeep(b, true)
		} else {
			r.hist.setKeep(b, false)
		}
		return true
	})
	r.kept.filter(func(v int64) bool { return r.hist.keeps(bucketOf(v)) })
	d.kept.merge(&r.kept)
	d.refined = true
}

// Size returns the approximate memory of the digest in bytes.
func (d *Digest) Size() int64 {
	n := int64(256) + 8*int64(cap(d.raw)+cap(d.opened)) + d.packed.size() + d.kept.size()
	if d.hist != nil {
		n += 8 * int64(len(d.hist.n)+len(d.hist.dense))
		if d.hist.negative != nil {
			n += 8 * int64(len(d.hist.negative.n))
		}
	}
	if d.grid != nil {
		n += d.grid.size()
	}
	return n
}
