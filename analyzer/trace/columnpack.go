package trace

import (
	"encoding/binary"
	"math"
)

func (c *column) pack(dst []byte) []byte {
	dst = packBytes(dst, c.valid)
	dst = packInts(dst, c.ints)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(c.floats)))
	for _, f := range c.floats {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(f))
	}
	dst = packInts(dst, c.codes)
	dst = packBytes(dst, c.bits)
	dst = packBytes(dst, c.data)
	return packInts(dst, lengths(c.offsets))
}

func (c *column) unpack(u *unpacking) {
	c.valid = u.bytes()
	c.ints = unpackInts[int64](u)
	if raw := u.take(8 * u.count()); len(raw) > 0 {
		c.floats = make([]float64, len(raw)/8)
		for i := range c.floats {
			c.floats[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
		}
	}
	c.codes = unpackInts[int32](u)
	c.bits = u.bytes()
	c.data = u.bytes()
	c.offsets = unpackInts[int32](u)
	for i := 1; i < len(c.offsets); i++ {
		c.offsets[i] += c.offsets[i-1]
	}
}

// unpacking reads a compact form. bad means that the form is corrupt.
type unpacking struct {
	src []byte
	bad bool
}

// take returns the next n bytes, or nil if there are fewer.
func (u *unpacking) take(n int) []byte {
	if n < 0 || n > len(u.src) {
		u.bad, u.src = true, nil
		return nil
	}
	out := u.src[:n]
	u.src = u.src[n:]
	return out
}

func (u *unpacking) count() int {
	if head := u.take(4); head != nil {
		return int(binary.LittleEndian.Uint32(head))
	}
	return 0
}

// bytes returns a copy of the next bytes, or nil if the count is 0.
func (u *unpacking) bytes() []byte {
	if b := u.take(u.count()); len(b) > 0 {
		return append([]byte(nil), b...)
	}
	return nil
}

func (u *unpacking) number() int64 {
	if raw := u.take(8); raw != nil {
		return int64(binary.LittleEndian.Uint64(raw))
	}
	return 0
}
