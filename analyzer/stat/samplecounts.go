package stat

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"slices"
)

// Values share a bucket of a Sample if their Keys (for integers, the Key of the
// nearest float) share sign, exponent and the first bits of the mantissa.
// Buckets order as their values do. A page holds the buckets of one sign and
// exponent.
const (
	pageBits    = 12
	bucketShift = 52 - pageBits
	pageSize    = 4<<pageBits + 64
)

// bucketFor returns the bucket of v.
func bucketFor(v int64, floats bool) int64 {
	if !floats {
		v = Key(float64(v))
	}
	return v >> bucketShift
}

// sampleCounts is the content of a Sample beyond its limit.
type sampleCounts struct {
	Moments // of integers; for floats only N, and Min and Max as keys
	floats  bool
	pages   map[int64]*page // by key >> 52
	fetched bag             // all values of the fetched buckets
}

// page counts the values of one sign and exponent. It sums mantissas as whole
// numbers, so sums are exact.
type page struct {
	n       [1 << pageBits]uint32
	sum     [2]uint64 // little-endian
	squares [3]uint64
}

func (c *sampleCounts) of(number int64) *page {
	p := c.pages[number]
	if p == nil {
		p = new(page)
		c.pages[number] = p
	}
	return p
}

func (c *sampleCounts) add(values []int64) {
	switch {
	case len(values) == 0:
		return
	case c.floats:
		c.extend(slices.Min(values), 1)
		c.extend(slices.Max(values), int64(len(values))-1)
	default:
		c.Moments.Add(values)
	}
	var p *page
	number := int64(math.MinInt64)
	for _, v := range values {
		key := v
		if !c.floats {
			key = Key(float64(v))
		}
		if key>>52 != number || p == nil {
			number = key >> 52
			p = c.of(number)
		}
		p.n[key>>bucketShift&(1<<pageBits-1)]++
		if c.floats {
			p.add(mantissaOf(v))
		}
	}
}

// extend counts n floats, of which v may be an extreme.
func (c *sampleCounts) extend(v, n int64) {
	if c.N == 0 || v < c.Min {
		c.Min = v
	}
	if c.N == 0 || v > c.Max {
		c.Max = v
	}
	c.N += n
}

// mantissaOf returns the mantissa of the float with the given key as a whole
// number.
func mantissaOf(key int64) uint64 {
	b := math.Float64bits(Unkey(key))
	m := b & (1<<52 - 1)
	if b>>52&0x7ff != 0 {
		m |= 1 << 52
	}
	return m
}

// scaleOf returns the sign of the floats of a page, and the power of two that
// they are multiples of.
func scaleOf(number int64) (negative bool, exponent int) {
	b := math.Float64bits(Unkey(number << 52))
	return b>>63 != 0, max(int(b>>52&0x7ff), 1) - 1075
}

func (p *page) add(m uint64) {
	var c uint64
	p.sum[0], c = bits.Add64(p.sum[0], m, 0)
	p.sum[1] += c
	high, low := bits.Mul64(m, m)
	p.squares[0], c = bits.Add64(p.squares[0], low, 0)
	p.squares[1], c = bits.Add64(p.squares[1], high, c)
	p.squares[2] += c
}

func (c *sampleCounts) merge(o *sampleCounts) {
	if c.floats {
		if o.N > 0 {
			c.extend(o.Min, 1)
			c.extend(o.Max, o.N-1)
		}
	} else {
		c.Moments.Merge(&o.Moments)
	}
	for number, from := range o.pages {
		to := c.of(number)
		for i, n := range from.n {
			to.n[i] += n
		}
		var carry uint64
		to.sum[0], carry = bits.Add64(to.sum[0], from.sum[0], 0)
		to.sum[1], _ = bits.Add64(to.sum[1], from.sum[1], carry)
		to.squares[0], carry = bits.Add64(to.squares[0], from.squares[0], 0)
		to.squares[1], carry = bits.Add64(to.squares[1], from.squares[1], carry)
		to.squares[2] += from.squares[2] + carry
	}
	values, counts := o.fetched.values, o.fetched.counts
	c.fetched.union(values, counts)
}

// numbers returns the numbers of the pages in order.
func (c *sampleCounts) numbers() []int64 {
	list := make([]int64, 0, len(c.pages))
	for number := range c.pages {
		list = append(list, number)
	}
	Sort(list)
	return list
}

// locate returns the bucket of the k-th smallest value, and the number of
// smaller values in the bucket.
func (c *sampleCounts) locate(k int64) (bucket, before int64) {
	for _, number := range c.numbers() {
		for i, n := range c.pages[number].n {
			if k < int64(n) {
				return number<<pageBits | int64(i), k
			}
			k -= int64(n)
		}
	}
	return bucketFor(c.Max, c.floats), 0
}

// at returns the k-th smallest value and whether it is exact.
func (c *sampleCounts) at(k int64) (v int64, exact bool) {
	// The extremes are known.
	if k <= 0 || c.Min == c.Max {
		return c.Min, true
	}
	if k >= c.N-1 {
		return c.Max, true
	}
	// A bucket of one integer, or a fetched bucket, gives the exact value.
	bucket, before := c.locate(k)
	first := bucket << bucketShift
	if f := Unkey(first); !c.floats && -narrow < f && f < narrow {
		return int64(f), true
	}
	if v, ok := c.fetched.within(before, func(v int64) int64 { return bucketFor(v, c.floats) - bucket }); ok {
		return v, true
	}
	// Otherwise the middle of the bucket is the estimate.
	middle := first + 1<<(bucketShift-1)
	if c.floats {
		return middle, false
	}
	return int64(min(max(Unkey(middle), -1<<62), 1<<62)), false
}

// narrow is the limit below which every integer has its own bucket.
const narrow = 1 << (pageBits + 1)

// mean returns the mean, correctly rounded.
func (c *sampleCounts) mean() float64 {
	if !c.floats {
		return c.Moments.Mean()
	}
	sum, _ := c.sums()
	f, _ := sum.Quo(sum, new(big.Rat).SetInt64(c.N)).Float64()
	return f
}

// std returns the population standard deviation.
func (c *sampleCounts) std() float64 {
	if !c.floats {
		return c.Moments.Std()
	}
	n := new(big.Rat).SetInt64(c.N)
	sum, squares := c.sums()
	mean := sum.Quo(sum, n)
	variance := squares.Quo(squares, n)
	f, _ := variance.Sub(variance, mean.Mul(mean, mean)).Float64()
	return math.Sqrt(f)
}

// sums returns the sum of the floats and of their squares.
func (c *sampleCounts) sums() (sum, squares *big.Rat) {
	sum, squares = new(big.Rat), new(big.Rat)
	for number, p := range c.pages {
		negative, exponent := scaleOf(number)
		s := times(whole(p.sum[:]), exponent)
		if negative {
			s.Neg(s)
		}
		sum.Add(sum, s)
		squares.Add(squares, times(whole(p.squares[:]), 2*exponent))
	}
	return sum, squares
}

// whole returns the number of the given little-endian words.
func whole(words []uint64) *big.Int {
	n := new(big.Int)
	for i := len(words) - 1; i >= 0; i-- {
		n.Lsh(n, 64)
		n.Or(n, new(big.Int).SetUint64(words[i]))
	}
	return n
}

// times returns n·2^exponent.
func times(n *big.Int, exponent int) *big.Rat {
	if exponent >= 0 {
		return new(big.Rat).SetInt(n.Lsh(n, uint(exponent)))
	}
	return new(big.Rat).SetFrac(n, new(big.Int).Lsh(big.NewInt(1), uint(-exponent)))
}

func (c *sampleCounts) appendTo(dst []byte) []byte {
	kind := int64(0)
	if c.floats {
		kind = 1
	}
	numbers := c.numbers()
	dst = c.Moments.AppendTo(appendInts(dst, kind, int64(len(numbers))))
	for _, number := range numbers {
		p := c.pages[number]
		dst = appendInts(dst, number)
		for _, words := range [][]uint64{p.sum[:], p.squares[:]} {
			for _, w := range words {
				dst = binary.AppendUvarint(dst, w)
			}
		}
		zeros := uint64(0)
		for _, n := range p.n {
			if n == 0 {
				zeros++
				continue
			}
			dst = binary.AppendUvarint(binary.AppendUvarint(dst, zeros), uint64(n))
			zeros = 0
		}
		dst = binary.AppendUvarint(binary.AppendUvarint(dst, zeros), 0)
	}
	return c.fetched.appendTo(dst)
}

func (c *sampleCounts) load(src []byte) ([]byte, error) {
	var kind, count int64
	src, err := readInts(src, &kind, &count)
	if err != nil || kind < 0 || kind > 1 || count < 0 || count > int64(len(src)) {
		return nil, ErrEncoding
	}
	*c = sampleCounts{floats: kind == 1, pages: make(map[int64]*page)}
	if src, err = c.Moments.Load(src); err != nil {
		return nil, err
	}
	for range count {
		var number int64
		if src, err = readInts(src, &number); err != nil || number < math.MinInt64>>52 || number > math.MaxInt64>>52 || c.pages[number] != nil {
			return nil, ErrEncoding
		}
		if src, err = c.of(number).load(src); err != nil {
			return nil, err
		}
	}
	return c.fetched.load(src)
}

func (p *page) load(src []byte) ([]byte, error) {
	next := func() uint64 {
		v, k := binary.Uvarint(src)
		if k <= 0 {
			src = nil
			return 0
		}
		src = src[k:]
		return v
	}
	for i := range p.sum {
		p.sum[i] = next()
	}
	for i := range p.squares {
		p.squares[i] = next()
	}
	for i := uint64(0); src != nil; {
		zeros, n := next(), next()
		if i += min(zeros, 1<<pageBits+1); n == 0 && i == 1<<pageBits {
			return src, nil
		}
		if i >= 1<<pageBits || n == 0 || n > math.MaxUint32 {
			break
		}
		p.n[i] = uint32(n)
		i++
	}
	return nil, ErrEncoding
}
