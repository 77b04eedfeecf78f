package stat

import (
	"math"
	"math/bits"
	"slices"
	"sync"
)

// radixMin is the length from which radix sort is faster than comparison sort.
const radixMin = 256

// scratch holds slices for Sort to reuse: allocating them would cost as much as
// sorting.
var scratch sync.Pool // of *[]int64

// codes holds byte slices for packing to reuse.
var codes sync.Pool // of *[]byte

// digit is the number of bits in a pass of radix, and digits the number of
// passes.
const (
	digit  = 11
	digits = 2
)

// Sort sorts values in ascending order. It sorts long slices by radix, with a
// scratch slice of the same length. Radix sort looks at the first 22 bits of
// the range, which separate nearly all values of one kind. Sort then sorts the
// values that these bits do not separate.
func Sort(values []int64) {
	if len(values) < radixMin {
		slices.Sort(values)
		return
	}
	// Find the range, and return early if the values are sorted.
	lo, hi, sorted := values[0], values[0], true
	for i, v := range values {
		if v < lo {
			lo = v
		}
		if v > hi {
			hi = v
		}
		if i > 0 && v < values[i-1] {
			sorted = false
		}
	}
	if sorted {
		return
	}
	shift := max(bits.Len64(uint64(hi)-uint64(lo))-digits*digit, 0)
	radix(values, uint64(lo), shift)
	if shift == 0 {
		return
	}
	// Sort each stretch of values with equal first bits.
	head := func(i int) uint64 { return (uint64(values[i]) - uint64(lo)) >> shift }
	for i := 1; i < len(values); i++ {
		if values[i] >= values[i-1] {
			continue
		}
		from, same := i-1, head(i)
		for from > 0 && head(from-1) == same {
			from--
		}
		for i++; i < len(values) && head(i) == same; i++ {
		}
		Sort(values[from:i])
	}
}

// radix sorts values by the bits of v-lo from shift on. Higher bits must be 0.
func radix(values []int64, lo uint64, shift int) {
	room := take(len(values))[:len(values)]
	defer func() { scratch.Put(&room) }()
	// Count the digits of both passes at once.
	var starts [digits][1 << digit]int
	for _, v := range values {
		rest := (uint64(v) - lo) >> shift
		starts[0][rest&(1<<digit-1)]++
		starts[1][rest>>digit&(1<<digit-1)]++
	}
	// Distribute the values by one digit, then by the next.
	src, dst := values, room
	for pass := range starts {
		start, sum := &starts[pass], 0
		for i, n := range start {
			start[i] = sum
			sum += n
		}
		for _, v := range src {
			d := (uint64(v) - lo) >> shift & (1<<digit - 1)
			dst[start[d]] = v
			start[d]++
		}
		src, dst = dst, src
		shift += digit
	}
}

// Key maps a float to an int64 so that keys order as the floats do. Unkey is
// its inverse. With keys, floats are sorted, stored and encoded as integers.
// The float must not be NaN; -0 orders before +0.
func Key(f float64) int64 {
	b := int64(math.Float64bits(f))
	return b ^ int64(uint64(b>>63)>>1)
}

// Unkey returns the float that Key mapped to k.
func Unkey(k int64) float64 {
	return math.Float64frombits(uint64(k ^ int64(uint64(k>>63)>>1)))
}

// take returns an empty slice with room for n values, reused if possible.
func take(n int) []int64 {
	if room, _ := scratch.Get().(*[]int64); room != nil && cap(*room) >= n {
		return (*room)[:0]
	}
	return make([]int64, 0, n)
}
