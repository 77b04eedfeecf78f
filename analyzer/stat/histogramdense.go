package stat

// A kept bucket that holds many values of a stream is counted value by value:
// this is faster than sorting its values, and takes a fixed amount of memory.
// drain moves these counts to the bag before anything reads them.

// denseWidth is the widest bucket that is counted value by value.
const denseWidth = 1 << 16

// dense counts the values of one bucket: n[i] is the count of lo+i.
type dense struct {
	lo int64
	n  []uint32
}

// densify starts to count buckets value by value: those that hold at least
// least of the values of b.
func (h *histogram) densify(b *bag, least int64) {
	for i := 0; i < len(b.values); {
		bucket := bucketOf(b.values[i])
		lo, hi := bucketRange(bucket)
		held := int64(0)
		for ; i < len(b.values) && b.values[i] <= hi; i++ {
			held += b.counts[i]
		}
		if held < least || lo <= 0 || hi-lo >= denseWidth || !h.keeps(bucket) {
			continue
		}
		if len(h.dense) == 0 {
			h.dense = make([]*dense, len(h.n))
		}
		h.dense[int(bucket)-h.base] = &dense{lo, make([]uint32, hi-lo+1)}
	}
}

// count counts the values of dense buckets and returns the other values of
// kept.
func (h *histogram) count(kept []int64) []int64 {
	n := 0
	for _, v := range kept {
		i := int(bucketOf(v)) - h.base
		if i >= 0 && i < len(h.dense) {
			if d := h.dense[i]; d != nil && d.n[v-d.lo] < 1<<32-1 {
				d.n[v-d.lo]++
				continue
			}
		}
		kept[n] = v
		n++
	}
	return kept[:n]
}

// drain moves the counts of dense buckets to b.
func (h *histogram) drain(b *bag) {
	var values, counts []int64
	for _, d := range h.dense {
		if d == nil {
			continue
		}
		for k, n := range d.n {
			if n > 0 {
				values, counts = append(values, d.lo+int64(k)), append(counts, int64(n))
			}
		}
	}
	h.dense = nil
	b.take(values, counts)
}
