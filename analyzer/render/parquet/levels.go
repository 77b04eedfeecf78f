package parquet

import "encoding/binary"

// runs encodes levels as runs of equal values (the RLE half of Parquet's RLE and
// bit-packed hybrid), for levels of one byte.
type runs struct {
	out   []byte
	value byte
	n     int
}

// add appends n levels of the given value.
func (r *runs) add(value byte, n int) {
	if n == 0 {
		return
	}
	if r.n > 0 && r.value != value {
		r.flush()
	}
	r.value = value
	r.n += n
}

func (r *runs) flush() {
	if r.n > 0 {
		r.out = append(binary.AppendUvarint(r.out, uint64(r.n)<<1), r.value)
		r.n = 0
	}
}

// appendTo appends the levels with their length in front and starts anew.
func (r *runs) appendTo(dst []byte) []byte {
	r.flush()
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(r.out)))
	dst = append(dst, r.out...)
	r.out = r.out[:0]
	return dst
}

// bits is a growing bitmap: bit i%8 of byte i/8, as in Arrow and in Parquet's
// bit-packed runs.
type bits struct {
	data []byte
	n    int
	ones int
}

// addOnes appends n set bits.
func (b *bits) addOnes(n int) {
	b.ones += n
	for ; n > 0 && b.n&7 != 0; n-- {
		b.data[b.n>>3] |= 1 << (b.n & 7)
		b.n++
	}
	for ; n >= 8; n -= 8 {
		b.data = append(b.data, 0xff)
		b.n += 8
	}
	if n > 0 {
		b.data = append(b.data, 1<<n-1)
		b.n += n
	}
}

// addZeros appends n zero bits.
func (b *bits) addZeros(n int) {
	b.n += n
	for len(b.data) < (b.n+7)>>3 {
		b.data = append(b.data, 0)
	}
}

// add appends bit.
func (b *bits) add(bit bool) {
	if b.n&7 == 0 {
		b.data = append(b.data, 0)
	}
	if bit {
		b.data[b.n>>3] |= 1 << (b.n & 7)
		b.ones++
	}
	b.n++
}

func (b *bits) reset() { *b = bits{data: b.data[:0]} }

// appendLevels appends the bits as definition levels of width 1, with their
// length in front: one run where all are equal, else bit-packed.
func (b *bits) appendLevels(dst []byte) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	switch b.ones {
	case b.n:
		dst = append(binary.AppendUvarint(dst, uint64(b.n)<<1), 1)
	case 0:
		dst = append(binary.AppendUvarint(dst, uint64(b.n)<<1), 0)
	default:
		dst = binary.AppendUvarint(dst, uint64(len(b.data))<<1|1)
		dst = append(dst, b.data...)
	}
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}
