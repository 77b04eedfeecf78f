package stat

import (
	"encoding/binary"
	"slices"
)

// tupleChunk is the size from which a chunk of Tuples is not copied to grow.
const tupleChunk = 1 << 14

// Tuples is a list of tuples of int64 values, all of the same width. It stores
// varints, so that small values take few bytes, in chunks, so that a long list
// is not copied as it grows. The zero value is empty.
type Tuples struct {
	chunks [][]byte
	n      int64
}

// N returns the number of tuples.
func (t *Tuples) N() int64 { return t.n }

// Add adds a tuple.
func (t *Tuples) Add(tuple []int64) {
	dst := t.room(binary.MaxVarintLen64 * len(tuple))
	b := *dst // writing a slice header to memory is slow while garbage is collected
	for _, v := range tuple {
		b = binary.AppendVarint(b, v)
	}
	*dst = b
	t.n++
}

// room returns a chunk with room for n bytes.
func (t *Tuples) room(n int) *[]byte {
	last := len(t.chunks) - 1
	switch {
	case last < 0 || cap(t.chunks[last]) >= tupleChunk && cap(t.chunks[last])-len(t.chunks[last]) < n:
		size := max(n, 64)
		if last >= 0 {
			size = max(n, tupleChunk)
		}
		t.chunks = append(t.chunks, make([]byte, 0, size))
		last++
	case cap(t.chunks[last])-len(t.chunks[last]) < n:
		old := t.chunks[last]
		t.chunks[last] = append(make([]byte, 0, max(2*cap(old), len(old)+n)), old...)
	}
	return &t.chunks[last]
}

// Merge adds the tuples of o and leaves o unchanged. It shares long chunks,
// whose bytes never change.
func (t *Tuples) Merge(o *Tuples) {
	for _, c := range o.chunks {
		if len(c) < tupleChunk/4 {
			dst := t.room(len(c))
			*dst = append(*dst, c...)
			continue
		}
		t.chunks = append(t.chunks, c[:len(c):len(c)])
	}
	t.n += o.n
}

// Each calls f for every tuple of the given width. The tuple is valid until f
// returns.
func (t *Tuples) Each(width int, f func(tuple []int64)) {
	tuple := make([]int64, width)
	for _, c := range t.chunks {
		for len(c) > 0 {
			for i := range tuple {
				v, k := binary.Varint(c)
				tuple[i], c = v, c[k:]
			}
			f(tuple)
		}
	}
}

// AppendTo appends the encoding of t to dst.
func (t *Tuples) AppendTo(dst []byte) []byte {
	size := 0
	for _, c := range t.chunks {
		size += len(c)
	}
	dst = slices.Grow(appendInts(dst, t.n, int64(size)), size)
	for _, c := range t.chunks {
		dst = append(dst, c...)
	}
	return dst
}

// Load replaces t by the encoding at the start of src, of tuples of the given
// width, and returns the rest.
func (t *Tuples) Load(src []byte, width int) (rest []byte, err error) {
	var n, size int64
	if src, err = readInts(src, &n, &size); err != nil || n < 0 || n > size || size < 0 || size > int64(len(src)) {
		return nil, ErrEncoding
	}
	code, values := src[:size], int64(0)
	for at := 0; at < len(code); values++ {
		_, k := binary.Varint(code[at:])
		if k <= 0 {
			return nil, ErrEncoding
		}
		at += k
	}
	if values != n*int64(width) {
		return nil, ErrEncoding
	}
	*t = Tuples{n: n}
	if n > 0 {
		t.chunks = [][]byte{slices.Clone(code)}
	}
	return src[size:], nil
}

// Size returns the approximate memory of the list in bytes.
func (t *Tuples) Size() int64 {
	n := int64(0)
	for _, c := range t.chunks {
		n += 24 + int64(cap(c))
	}
	return n
}
