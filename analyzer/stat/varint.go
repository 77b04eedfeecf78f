package stat

import (
	"encoding/binary"
	"errors"
	"slices"
)

// ErrEncoding reports that the bytes passed to a Load are no valid encoding.
var ErrEncoding = errors.New("stat: not a valid encoding")

// appendInts appends values as signed varints.
func appendInts(dst []byte, values ...int64) []byte {
	for _, v := range values {
		dst = binary.AppendVarint(dst, v)
	}
	return dst
}

// readInts reads one signed varint into each target and returns the rest.
func readInts(src []byte, targets ...*int64) ([]byte, error) {
	for _, t := range targets {
		v, n := binary.Varint(src)
		if n <= 0 {
			return nil, ErrEncoding
		}
		*t, src = v, src[n:]
	}
	return src, nil
}

// AppendSorted appends the encoding of sorted values to dst: their number, the
// first value, and the differences as unsigned varints.
func AppendSorted(dst []byte, sorted []int64) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(sorted)))
	last := int64(0)
	for i, v := range sorted {
		if i == 0 {
			dst = binary.AppendVarint(dst, v)
		} else {
			dst = binary.AppendUvarint(dst, uint64(v)-uint64(last))
		}
		last = v
	}
	return dst
}

// LoadSorted appends the values encoded at the start of src to dst and returns
// them and the rest of src.
func LoadSorted(dst []int64, src []byte) (values []int64, rest []byte, err error) {
	n, k := binary.Uvarint(src)
	if k <= 0 || n > uint64(len(src)) { // each value takes at least one byte
		return nil, nil, ErrEncoding
	}
	src = src[k:]
	last := int64(0)
	dst = slices.Grow(dst, int(n))
	for i := range n {
		if i == 0 {
			last, k = binary.Varint(src)
		} else {
			var step uint64
			step, k = binary.Uvarint(src)
			last = int64(uint64(last) + step)
		}
		if k <= 0 {
			return nil, nil, ErrEncoding
		}
		dst, src = append(dst, last), src[k:]
	}
	return dst, src, nil
}

// appendWords appends the encoding of sorted values to dst: their number, and
// each value in eight bytes. It is longer than the encoding of AppendSorted,
// and faster.
func appendWords(dst []byte, sorted []int64) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(sorted)))
	at := len(dst)
	dst = slices.Grow(dst, 8*len(sorted))[:at+8*len(sorted)]
	for i, v := range sorted {
		binary.LittleEndian.PutUint64(dst[at+8*i:], uint64(v))
	}
	return dst
}

// loadWords returns the values that appendWords encoded at the start of src,
// and the rest of src.
func loadWords(src []byte) (values []int64, rest []byte, err error) {
	n, k := binary.Uvarint(src)
	if k <= 0 || n > uint64(len(src)-k)/8 {
		return nil, nil, ErrEncoding
	}
	src, values = src[k:], make([]int64, n)
	for i := range values {
		values[i] = int64(binary.LittleEndian.Uint64(src[8*i:]))
	}
	if !slices.IsSorted(values) {
		return nil, nil, ErrEncoding
	}
	return values, src[8*n:], nil
}

// merged returns the values of two sorted lists, sorted. It may reuse a.
func merged(a, b []int64) []int64 {
	if len(a) == 0 || len(b) == 0 || a[len(a)-1] <= b[0] {
		return append(a, b...)
	}
	out := make([]int64, len(a)+len(b))
	i, j := 0, 0
	for k := range out {
		if j == len(b) || i < len(a) && a[i] <= b[j] {
			out[k] = a[i]
			i++
		} else {
			out[k] = b[j]
			j++
		}
	}
	return out
}
