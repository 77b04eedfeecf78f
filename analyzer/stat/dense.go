package stat

// A kept bucket that holds much of a stream is counted value by value: that is
// faster than sorting its values, and its memory is fixed. Such counts are a
// way-station; drain moves them to the bag before anyone looks.

// denseWidth is the widest bucket counted so.
const denseWidth = 1 << 16

// densify begins to count the buckets value by value that hold at least the
// given number of the values of b.
func (h *histogram) densify(b *bag, least int64) {
	for i := 0; i < len(b.values); {
		bucket := bucketOf(b.values[i])
		lo, hi := bucketRange(bucket)
		held := int64(0)
		for ; i < len(b.values) && b.values[i] <= hi; i++ {
			held += b.counts[i]
		}
		if held < least || lo < 0 || hi-lo >= denseWidth {
			continue
		}
		p := h.page(bucket)
		if p.dense == nil {
			p.dense = new([pageSize][]uint32)
		}
		if p.dense[slot(bucket)] == nil {
			p.dense[slot(bucket)] = make([]uint32, hi-lo+1)
		}
		h.dense = true
	}
}

// count takes the values out of kept that are counted value by value and
// returns the others.
func (h *histogram) count(kept []int64) []int64 {
	n := 0
	for _, v := range kept {
		b := magnitude(max(v, 0))
		if p := h.positive[b>>pageBits]; p != nil && p.dense != nil {
			if d := p.dense[b&(pageSize-1)]; d != nil {
				i := int(v) & (1<<max(b>>mantissa-1-mantissa, 0) - 1)
				if d[i] < 1<<32-1 {
					d[i]++
					continue
				}
			}
		}
		kept[n] = v
		n++
	}
	return kept[:n]
}

// drain moves all values counted one by one to b.
func (h *histogram) drain(b *bag) {
	if !h.dense {
		return
	}
	h.dense = false
	var values, counts []int64
	for i, p := range h.positive {
		if p == nil || p.dense == nil {
			continue
		}
		for s, d := range p.dense {
			lo, _ := bucketRange(int32(i<<pageBits + s))
			for k, n := range d {
				if n > 0 && p.keep>>s&1 != 0 {
					values, counts = append(values, lo+int64(k)), append(counts, int64(n))
				}
			}
		}
		p.dense = nil
	}
	b.union(values, counts)
}
