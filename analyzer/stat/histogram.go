package stat

import (
	"math"
	"math/bits"
	"slices"
)

// A bucket is named by an int32 that orders as its values do. Bucket 0 holds 0;
// positive values fall into buckets by their binary exponent and the 8 bits
// after the leading one, so that a bucket is at most 2⁻⁸ of its values wide and
// values below 512 have a bucket each. Bucket -1-k holds the negatives of the
// values of bucket k.

const (
	mantissa  = 8
	pageBits  = 6
	pageSize  = 1 << pageBits
	pageCount = 64 << mantissa >> pageBits // of one sign
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

// bucketRange returns the least and the greatest value of bucket b.
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

// page holds pageSize neighbouring buckets; bit i of keep says that the values
// of bucket i are kept, all of them.
type page struct {
	n     [pageSize]int64
	keep  uint64
	dense *[pageSize][]uint32 // see histogram.count
}

// histogram counts values in buckets. Pages appear on demand. Buckets from
// keepFrom on are kept when their page appears.
type histogram struct {
	positive [pageCount]*page
	negative *[pageCount]*page
	keepFrom int32
	dense    bool // some bucket is counted value by value
}

// fold counts values and puts those of kept buckets in out, which is one longer
// than values: the loop writes before it decides. It returns how many it put
// there. The conversion to a float finds exponent and mantissa without a
// variable shift; it is exact below 2⁵³.
func (h *histogram) fold(values, out []int64) int {
	k := 0
	for _, v := range values {
		b := int(math.Float64bits(float64(v))>>(52-mantissa)) - 1022<<mantissa
		p := h.positive[b>>pageBits&(pageCount-1)]
		if uint64(v-1) >= 1<<53-1 || p == nil {
			bucket := bucketOf(v)
			p, b = h.page(bucket), int(slot(bucket))
		}
		p.n[b&(pageSize-1)]++
		out[k] = v
		k += int(p.keep >> (b & (pageSize - 1)) & 1)
	}
	return k
}

// slot returns the index of bucket b in its page.
func slot(b int32) int32 {
	if b < 0 {
		b = -1 - b
	}
	return b & (pageSize - 1)
}

// page returns the page of bucket b, creating it.
func (h *histogram) page(b int32) *page {
	table, i := &h.positive, b>>pageBits
	if b < 0 {
		if h.negative == nil {
			h.negative = new([pageCount]*page)
		}
		table, i = h.negative, (-1-b)>>pageBits
	}
	if table[i] == nil {
		p := new(page)
		for s := range int32(pageSize) {
			bucket := i<<pageBits + s
			if b < 0 {
				bucket = -1 - bucket
			}
			if bucket >= h.keepFrom {
				p.keep |= 1 << s
			}
		}
		table[i] = p
	}
	return table[i]
}

// each calls f for every bucket with values, in ascending order, until f
// returns false.
func (h *histogram) each(f func(b int32, n int64, keep bool) bool) {
	if h.negative != nil {
		for i := pageCount - 1; i >= 0; i-- {
			for s := pageSize - 1; h.negative[i] != nil && s >= 0; s-- {
				if p := h.negative[i]; p.n[s] > 0 && !f(int32(-1-(i<<pageBits+s)), p.n[s], p.keep>>s&1 != 0) {
					return
				}
			}
		}
	}
	for i, p := range h.positive {
		for s := 0; p != nil && s < pageSize; s++ {
			if p.n[s] > 0 && !f(int32(i<<pageBits+s), p.n[s], p.keep>>s&1 != 0) {
				return
			}
		}
	}
}

// keeps reports whether the values of bucket b are kept.
func (h *histogram) keeps(b int32) bool {
	p := h.find(b)
	return p != nil && p.keep>>slot(b)&1 != 0
}

// find returns the page of bucket b or nil.
func (h *histogram) find(b int32) *page {
	if b >= 0 {
		return h.positive[b>>pageBits]
	}
	if h.negative == nil {
		return nil
	}
	return h.negative[(-1-b)>>pageBits]
}

// setKeep says whether the values of bucket b are kept from now on.
func (h *histogram) setKeep(b int32, keep bool) {
	p := h.page(b)
	p.keep &^= 1 << slot(b)
	if keep {
		p.keep |= 1 << slot(b)
	}
}

// merge adds the counts of o. A bucket stays kept if each side kept it or has
// no value in it.
func (h *histogram) merge(o *histogram) {
	h.keepFrom = max(h.keepFrom, o.keepFrom)
	h.mergePages(&h.positive, &o.positive)
	if o.negative != nil {
		if h.negative == nil {
			h.negative = new([pageCount]*page)
		}
		h.mergePages(h.negative, o.negative)
	}
}

func (h *histogram) mergePages(mine, theirs *[pageCount]*page) {
	for i, q := range theirs {
		if q == nil {
			continue
		}
		if mine[i] == nil {
			c := *q
			mine[i] = &c
			continue
		}
		p := mine[i]
		for s := range pageSize {
			bit := uint64(1) << s
			if q.n[s] > 0 && q.keep&bit == 0 {
				p.keep &^= bit
			}
			if p.n[s] == 0 && q.n[s] > 0 {
				p.keep |= q.keep & bit
			}
			p.n[s] += q.n[s]
		}
	}
}

// choose marks the buckets to keep: those whose values may come to hold the
// quantiles q of a stream of which h has seen n values, should it go on alike.
func (h *histogram) choose(q []float64, n int64) {
	if len(q) == 0 {
		return
	}
	for _, x := range q {
		slack := max(4*math.Sqrt(x*(1-x)/float64(n)), 0.002)
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

// keepTail keeps every bucket from the one that holds the k-th value on, seen
// already or not: the far tail holds few values and moves most.
func (h *histogram) keepTail(k int64) {
	h.each(func(b int32, n int64, _ bool) bool {
		h.keepFrom = b
		k -= n
		return k > 0
	})
	for i := max(h.keepFrom, 0); i < pageCount<<pageBits; i++ {
		if h.find(i) != nil {
			h.setKeep(i, true)
		}
	}
}
