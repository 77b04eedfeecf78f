package stat

import (
	"math"
	"math/bits"
	"slices"
)

// A bucket is identified by an int32. Buckets order as their values do. Bucket
// 0 holds 0. A positive value falls into a bucket by its binary exponent and
// the 8 bits after the leading one, so that the width of a bucket is at most
// 2⁻⁸ of its values and every value below 512 has its own bucket. Bucket -1-k
// holds the negatives of the values of bucket k.

const (
	mantissa = 8
	octave   = 1 << mantissa // buckets of one binary exponent
	buckets  = 64 * octave   // of one sign
)

// bucketOf returns the bucket of v.
func bucketOf(v int64) int32 {
	if v < 0 {
		return -1 - magnitude(-max(v, -math.MaxInt64))
	}
	return magnitude(v)
}

func magnitude(v int64) int32 {
	if v == 0 {
		return 0
	}
	exp := bits.Len64(uint64(v)) - 1
	top := uint64(v) << (63 - exp) << 1 >> (64 - mantissa)
	return int32((exp+1)<<mantissa) + int32(top)
}

// bucketRange returns the smallest and the largest value of bucket b.
func bucketRange(b int32) (lo, hi int64) {
	if b < 0 {
		lo, hi = bucketRange(-1 - b)
		if hi == math.MaxInt64 {
			return math.MinInt64, -lo
		}
		return -hi, -lo
	}
	if b < 1<<mantissa {
		return 0, 0
	}
	exp := b>>mantissa - 1
	lo = 1<<mantissa + int64(b&(1<<mantissa-1))
	if exp < mantissa {
		lo >>= mantissa - exp
		return lo, lo
	}
	lo <<= exp - mantissa
	return lo, lo + (1<<(exp-mantissa) - 1)
}

// keepBit marks the count of a bucket of which all values are kept.
const keepBit = 1 << 63

// histogram counts values in buckets. It allocates the octaves from the
// smallest positive value to the largest; zero and negative values are counted
// apart. Buckets from keepFrom on are marked as kept when they are allocated.
type histogram struct {
	n        []uint64 // count and keepBit of buckets base, base+1, …
	base     int      // multiple of octave
	zero     uint64   // count and keepBit of bucket 0
	negative *histogram
	mirrored bool // holds the magnitudes of negatives: index k stands for bucket -1-k
	keepFrom int32
	dense    []*dense // dense buckets of n; empty when there are none
}

// newHistogram returns an empty histogram.
func newHistogram() *histogram { return &histogram{keepFrom: math.MaxInt32} }

// addBlock counts values and writes the values of kept buckets to out. It
// returns how many it wrote. out must be one longer than values, because the
// loop writes before it decides. The conversion to a float finds exponent and
// mantissa without a variable shift; it is exact below 2⁵³.
func (h *histogram) addBlock(values, out []int64) int {
	k := 0
	n, base := h.n, h.base+1022<<mantissa
	for _, v := range values {
		b := int(math.Float64bits(float64(v))>>(52-mantissa)) - base
		if uint64(v-1) >= 1<<53-1 || uint(b) >= uint(len(n)) {
			c := h.at(bucketOf(v))
			*c++
			out[k] = v
			k += int(*c >> 63)
			n, base = h.n, h.base+1022<<mantissa
			continue
		}
		c := n[b] + 1
		n[b] = c
		out[k] = v
		k += int(c >> 63)
	}
	return k
}

// at returns the count of bucket b, with its keepBit. It allocates the bucket
// if needed. The pointer is valid until the next call.
func (h *histogram) at(b int32) *uint64 {
	switch {
	case b < 0 && !h.mirrored:
		if h.negative == nil {
			h.negative = &histogram{mirrored: true, keepFrom: h.keepFrom}
		}
		return h.negative.at(-1 - b)
	case b == 0:
		return &h.zero
	}
	if i := int(b) - h.base; i < 0 || i >= len(h.n) {
		h.hold(int(b))
	}
	return &h.n[int(b)-h.base]
}

// hold extends the allocated octaves to the octave of bucket b.
func (h *histogram) hold(b int) {
	from, to := b&^(octave-1), b|(octave-1)+1
	if len(h.n) > 0 {
		from, to = min(from, h.base), max(to, h.base+len(h.n))
	}
	n := make([]uint64, to-from)
	for i := range n {
		if h.signed(from+i) >= h.keepFrom {
			n[i] = keepBit
		}
	}
	copy(n[max(h.base-from, 0):], h.n)
	if len(h.dense) > 0 {
		d := make([]*dense, len(n))
		copy(d[h.base-from:], h.dense)
		h.dense = d
	}
	h.n, h.base = n, from
}

// signed returns the bucket of index k.
func (h *histogram) signed(k int) int32 {
	if h.mirrored {
		return int32(-1 - k)
	}
	return int32(k)
}

// each calls f for every bucket with values, in ascending order, until f
// returns false. f may change keepBits.
func (h *histogram) each(f func(b int32, n int64, keep bool) bool) {
	visit := func(b int32, c uint64) bool {
		return c&^keepBit == 0 || f(b, int64(c&^keepBit), c&keepBit != 0)
	}
	if neg := h.negative; neg != nil {
		for i := len(neg.n) - 1; i >= 0; i-- {
			if !visit(neg.signed(neg.base+i), neg.n[i]) {
				return
			}
		}
	}
	if !visit(0, h.zero) {
		return
	}
	for i := 0; i < len(h.n); i++ {
		if !visit(int32(h.base+i), h.n[i]) {
			return
		}
	}
}

// find returns the count of bucket b with its keepBit, or 0 if the bucket is
// not allocated.
func (h *histogram) find(b int32) uint64 {
	if b < 0 && !h.mirrored {
		if h.negative == nil {
			return 0
		}
		return h.negative.find(-1 - b)
	}
	if b == 0 {
		return h.zero
	}
	if i := int(b) - h.base; i >= 0 && i < len(h.n) {
		return h.n[i]
	}
	return 0
}

// keeps reports whether the values of bucket b are kept.
func (h *histogram) keeps(b int32) bool { return h.find(b)&keepBit != 0 }

// setKeep sets whether the values of bucket b are kept from now on.
func (h *histogram) setKeep(b int32, keep bool) {
	c := h.at(b)
	*c &^= keepBit
	if keep {
		*c |= keepBit
	}
}

// merge adds the counts of o. A bucket stays kept if each side kept it or has
// no value in it.
func (h *histogram) merge(o *histogram) {
	h.keepFrom = max(h.keepFrom, o.keepFrom)
	if h.negative != nil {
		h.negative.keepFrom = h.keepFrom
	}
	o.each(func(b int32, n int64, keep bool) bool {
		c := h.at(b)
		mine := *c&^keepBit == 0 || *c&keepBit != 0
		*c = *c&^keepBit + uint64(n)
		if mine && keep {
			*c |= keepBit
		}
		return true
	})
}

// plan chooses the buckets to keep for a stream that begins with values. It
// does not count the values.
func (h *histogram) plan(values []int64, quantiles []float64) {
	var out [blockSize + 1]int64
	for rest := values; len(rest) > 0; {
		block := rest[:min(len(rest), blockSize)]
		rest = rest[len(block):]
		h.addBlock(block, out[:])
	}
	h.choose(quantiles, int64(len(values)))
	h.forget()
}

// forget sets all counts to 0 and leaves the keepBits.
func (h *histogram) forget() {
	h.zero &= keepBit
	for i := range h.n {
		h.n[i] &= keepBit
	}
	if h.negative != nil {
		h.negative.forget()
	}
}

// choose marks the buckets to keep. h has counted n values of a stream; choose
// marks the buckets that may hold the quantiles q of the stream if it goes on
// alike.
func (h *histogram) choose(q []float64, n int64) {
	if len(q) == 0 {
		return
	}
	for _, x := range q {
		slack := max(6*math.Sqrt(x*(1-x)/float64(n)), 0.002)
		lo, hi := int64((x-slack)*float64(n)), int64((x+slack)*float64(n))
		before := int64(0)
		h.each(func(b int32, count int64, _ bool) bool {
			if before+count > lo {
				h.setKeep(b, true)
			}
			before += count
			return before <= hi
		})
	}
	if top := slices.Max(q); top > 0.98 {
		h.keepTail(int64((top - 0.002) * float64(n)))
	}
}

// narrow drops the buckets whose ranks are more than far standard deviations
// away from the quantiles q. h has counted n values.
func (h *histogram) narrow(q []float64, far float64, n int64) {
	before := int64(0)
	h.each(func(b int32, count int64, keep bool) bool {
		near := false
		for _, x := range q {
			slack := float64(far * math.Sqrt(float64(x*(1-x))/float64(n)))
			near = near || float64(before+count) > (x-slack)*float64(n) && float64(before) <= (x+slack)*float64(n)
		}
		if keep && !near {
			h.setKeep(b, false)
		}
		before += count
		return true
	})
}

// keepTail keeps every bucket from the bucket of the k-th value on, allocated
// or not: the far tail holds few values, and its quantiles move most.
func (h *histogram) keepTail(k int64) {
	h.each(func(b int32, n int64, _ bool) bool {
		h.keepFrom = b
		k -= n
		return k > 0
	})
	for i := range h.n {
		if h.base+i >= int(h.keepFrom) {
			h.n[i] |= keepBit
		}
	}
}
