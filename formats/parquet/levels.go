package parquet

import (
	"encoding/binary"
	"math/bits"
)

// widthOf returns the bits of a level of which the greatest is most.
func widthOf(most int) int { return bits.Len(uint(most)) }

// hybrid decodes n numbers of the given width in bits, written as runs of equal
// ones and groups of eight that are packed, into dst, which it returns with n
// entries; see
// https://github.com/apache/parquet-format/blob/master/Encodings.md#RLE
func hybrid[T uint8 | int32](dst []T, src []byte, width, n int) ([]T, error) {
	if cap(dst) < n {
		dst = make([]T, n)
	}
	dst = dst[:n]
	if width == 0 { // there is one value, however many bytes say so
		clear(dst)
		return dst, nil
	}
	for at := 0; at < n; {
		h, k := binary.Uvarint(src)
		if k <= 0 {
			return dst, errLevels
		}
		src = src[k:]
		if h&1 == 0 {
			size := (width + 7) / 8
			if size > len(src) {
				return dst, errLevels
			}
			var v uint32
			for i := range size {
				v |= uint32(src[i]) << (8 * i)
			}
			src = src[size:]
			run := dst[at:][:min(h>>1, uint64(n-at))]
			repeat(run, T(v))
			at += len(run)
			continue
		}
		groups := min(h>>1, uint64(len(src))) // each has width bytes
		size := min(int(groups)*width, len(src))
		count := min(n-at, int(groups)*8)
		if count*width > size*8 {
			return dst, errLevels
		}
		unpackBits(dst[at:][:count], src[:size], width)
		src = src[size:]
		at += count
	}
	return dst, nil
}

// repeat fills dst with v: copying what is there is faster than a loop.
func repeat[T any](dst []T, v T) {
	if len(dst) == 0 {
		return
	}
	dst[0] = v
	for n := 1; n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}

// unpackBits reads numbers of the given width in bits, the lowest bits first.
func unpackBits[T uint8 | int32](dst []T, src []byte, width int) {
	var have uint64
	var n int
	mask := uint64(1)<<width - 1
	for i := range dst {
		for n < width {
			have |= uint64(src[0]) << n
			src = src[1:]
			n += 8
		}
		dst[i] = T(have & mask)
		have >>= width
		n -= width
	}
}
