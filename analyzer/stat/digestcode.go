package stat

import (
	"encoding/binary"
	"math"
)

// AppendTo appends the encoding of d to dst, without its quantiles and limit.
func (d *Digest) AppendTo(dst []byte) []byte {
	dst = d.Moments().AppendTo(dst)
	// Form 0: all values.
	if d.hist == nil {
		d.Settle()
		defer d.DropUnpacked()
		return AppendSorted(append(dst, 0), d.inOrder())
	}
	// Form 1: the buckets with their counts, then the kept values.
	d.settle()
	dst = appendInts(append(dst, 1), int64(d.hist.keepFrom))
	count := uint64(0)
	d.hist.each(func(int32, int64, bool) bool { count++; return true })
	dst = binary.AppendUvarint(dst, count)
	last := int32(0)
	d.hist.each(func(b int32, n int64, keep bool) bool {
		flag := uint64(0)
		if keep {
			flag = 1
		}
		dst = binary.AppendVarint(dst, int64(b-last))
		dst = binary.AppendUvarint(dst, uint64(n)<<1|flag)
		last = b
		return true
	})
	return d.kept.appendTo(dst)
}

// Load replaces the content of d by the encoding at the start of src and
// returns the rest. d must have the quantiles and limit of the encoded digest.
func (d *Digest) Load(src []byte) ([]byte, error) {
	src, err := d.moments.Load(src)
	if err != nil || len(src) == 0 {
		return nil, ErrEncoding
	}
	form := src[0]
	src = src[1:]
	d.raw, d.packed, d.opened, d.hist, d.grid, d.kept = nil, packed{}, nil, nil, nil, bag{}
	d.refined = false
	// Form 0: all values.
	if form == 0 {
		d.raw, src, err = LoadSorted(d.raw, src)
		d.sorted = true
		if err == nil && int64(len(d.raw)) != d.moments.N {
			return nil, ErrEncoding
		}
		return src, err
	}
	// Form 1: the buckets with their counts, then the kept values.
	var from int64
	if src, err = readInts(src, &from); err != nil {
		return nil, err
	}
	d.hist = &histogram{keepFrom: int32(max(min(from, math.MaxInt32), math.MinInt32))}
	count, k := binary.Uvarint(src)
	if k <= 0 {
		return nil, ErrEncoding
	}
	src = src[k:]
	b := int64(0)
	for range count {
		step, k := binary.Varint(src)
		if k <= 0 {
			return nil, ErrEncoding
		}
		n, m := binary.Uvarint(src[k:])
		b += step
		if m <= 0 || b >= buckets || b < -buckets {
			return nil, ErrEncoding
		}
		src = src[k+m:]
		*d.hist.at(int32(b)) = n >> 1
		d.hist.setKeep(int32(b), n&1 != 0)
	}
	return d.kept.load(src)
}
