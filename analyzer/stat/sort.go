package stat

import (
	"math"
	"math/bits"
	"slices"
	"sync"
)

// radixMin is the length from which radix sort beats comparison sort.
const radixMin = 256

// scratch holds slices that Sort has used: it is called for one list after the
// other, and new memory costs as much as the sorting.
var scratch sync.Pool // of *[]int64

// Sort sorts values in ascending order. Long slices are sorted by radix, which
// needs a scratch slice of the same length and as many passes as the range of
// the values has digits of 11 bits: durations of one kind take two to four.
func Sort(values []int64) {
	if len(values) < radixMin {
		slices.Sort(values)
		return
	}
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
	const digit = 11
	room, _ := scratch.Get().(*[]int64)
	if room == nil || cap(*room) < len(values) {
		fresh := make([]int64, len(values))
		room = &fresh
	}
	defer scratch.Put(room)
	src, dst := values, (*room)[:len(values)]
	for shift := 0; shift < bits.Len64(uint64(hi)-uint64(lo)); shift += digit {
		var count [1 << digit]int
		for _, v := range src {
			count[(uint64(v)-uint64(lo))>>shift&(1<<digit-1)]++
		}
		sum := 0
		for i, n := range count {
			count[i] = sum
			sum += n
		}
		for _, v := range src {
			d := (uint64(v) - uint64(lo)) >> shift & (1<<digit - 1)
			dst[count[d]] = v
			count[d]++
		}
		src, dst = dst, src
	}
	if &src[0] != &values[0] {
		copy(values, src)
	}
}

// Key maps a float to an int64 so that keys order as the floats do; Unkey is
// its inverse. It lets floats be sorted, stored and encoded as integers. The
// float must not be NaN; -0 orders before +0.
func Key(f float64) int64 {
	b := int64(math.Float64bits(f))
	return b ^ int64(uint64(b>>63)>>1)
}

// Unkey returns the float that Key mapped to k.
func Unkey(k int64) float64 {
	return math.Float64frombits(uint64(k ^ int64(uint64(k>>63)>>1)))
}
