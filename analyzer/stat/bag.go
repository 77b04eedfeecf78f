package stat

import (
	"encoding/binary"
	"sort"
)

// bag is a multiset of int64 values: distinct values with their counts, and a
// tail of values that are not sorted in yet. Its size depends on the number of
// distinct values, not on the number of values added.
type bag struct {
	values []int64 // sorted, distinct
	counts []int64
	tail   []int64
}

// bagTail is the tail length from which the tail is sorted in.
const bagTail = 1 << 18

// full reports whether the tail is long enough to be sorted in.
func (b *bag) full() bool { return len(b.tail) >= max(bagTail, len(b.values)/2) }

// addN adds v n times.
func (b *bag) addN(v, n int64) {
	if n > 64 {
		b.union([]int64{v}, []int64{n})
		return
	}
	for range n {
		b.tail = append(b.tail, v)
	}
}

// settle sorts the tail into values.
func (b *bag) settle() {
	if len(b.tail) == 0 {
		return
	}
	Sort(b.tail)
	// Count equal neighbours in place.
	values, counts := b.tail[:0], make([]int64, 0, len(b.tail))
	for i, v := range b.tail {
		if i > 0 && v == values[len(values)-1] {
			counts[len(counts)-1]++
			continue
		}
		values, counts = append(values, v), append(counts, 1)
	}
	b.union(values, counts)
	b.tail = b.tail[:0]
}

// take adds sorted distinct values with their counts. The bag may keep the
// slices.
func (b *bag) take(values, counts []int64) {
	if len(b.values) == 0 {
		b.values, b.counts = values, counts
		return
	}
	b.union(values, counts)
}

// union adds sorted distinct values with their counts.
func (b *bag) union(values, counts []int64) {
	if len(values) == 0 {
		return
	}
	n := len(b.values) + len(values)
	outV, outC := make([]int64, 0, n), make([]int64, 0, n)
	i, j := 0, 0
	for i < len(b.values) || j < len(values) {
		switch {
		case j == len(values) || i < len(b.values) && b.values[i] < values[j]:
			outV, outC = append(outV, b.values[i]), append(outC, b.counts[i])
			i++
		case i == len(b.values) || values[j] < b.values[i]:
			outV, outC = append(outV, values[j]), append(outC, counts[j])
			j++
		default:
			outV, outC = append(outV, values[j]), append(outC, b.counts[i]+counts[j])
			i, j = i+1, j+1
		}
	}
	b.values, b.counts = outV, outC
}

// merge adds the values of o, and settles o.
func (b *bag) merge(o *bag) {
	b.settle()
	o.settle()
	b.union(o.values, o.counts)
}

// filter removes the values for which keep is false.
func (b *bag) filter(keep func(int64) bool) {
	b.settle()
	n := 0
	for i, v := range b.values {
		if keep(v) {
			b.values[n], b.counts[n] = v, b.counts[i]
			n++
		}
	}
	b.values, b.counts = b.values[:n], b.counts[:n]
}

// at returns the k-th smallest (0-based) of the values that are at least least.
func (b *bag) at(least, k int64) (int64, bool) {
	b.settle()
	lo, hi := 0, len(b.values)
	for lo < hi {
		if mid := (lo + hi) / 2; b.values[mid] < least {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	for ; lo < len(b.values); lo++ {
		if k -= b.counts[lo]; k < 0 {
			return b.values[lo], true
		}
	}
	return 0, false
}

// within returns the k-th smallest (0-based) of the values whose side is 0.
// side is negative for all values below them and positive for all values above
// them.
func (b *bag) within(k int64, side func(v int64) int64) (int64, bool) {
	b.settle()
	i := sort.Search(len(b.values), func(i int) bool { return side(b.values[i]) >= 0 })
	for ; i < len(b.values) && side(b.values[i]) == 0; i++ {
		if k -= b.counts[i]; k < 0 {
			return b.values[i], true
		}
	}
	return 0, false
}

func (b *bag) size() int64 { return 8 * int64(cap(b.values)+cap(b.counts)+cap(b.tail)) }

func (b *bag) appendTo(dst []byte) []byte {
	b.settle()
	dst = AppendSorted(dst, b.values)
	for _, n := range b.counts {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	return dst
}

func (b *bag) load(src []byte) ([]byte, error) {
	values, src, err := LoadSorted(nil, src)
	if err != nil {
		return nil, err
	}
	counts := make([]int64, len(values))
	for i := range counts {
		n, k := binary.Uvarint(src)
		if k <= 0 || n == 0 || n > 1<<62 || i > 0 && values[i] <= values[i-1] {
			return nil, ErrEncoding
		}
		counts[i], src = int64(n), src[k:]
	}
	*b = bag{values: values, counts: counts}
	return src, nil
}

// blockSize is the number of values added at a time. A block stays in the
// first-level cache between the two loops over it.
const blockSize = 1024
