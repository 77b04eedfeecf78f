package json

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Skip consumes the next value, whatever it is and however long. It reports
// false after a problem or at the end.
func (c *Cursor) Skip() bool {
	switch c.Kind() {
	case String:
		c.pos++
		return c.skipString()
	case Object, Array:
		depth := c.depth
		return c.push() && c.skipTo(depth)
	case Number, Bool, Null:
		return c.Literal() != nil
	}
	return false
}

// skipTo skips until no more than depth containers are open.
func (c *Cursor) skipTo(depth int) bool {
	for c.depth > depth && !c.broken {
		i := structural(c.buf[c.pos:c.end])
		if i < 0 {
			c.pos = c.end
			if !c.fill() {
				c.truncated()
			}
			continue
		}
		c.pos += i
		switch c.buf[c.pos] {
		case '"':
			c.pos++
			c.skipString()
		case '{', '[':
			c.push()
		default:
			c.pop()
		}
	}
	return !c.broken
}

// skipString skips the rest of a string. It looks for quotes only; a quote is
// escaped when an odd number of backslashes stands before it.
func (c *Cursor) skipString() bool {
	escaped := false // the run of backslashes that ends the previous window is odd
	for start := c.pos; ; {
		i := quote(c.buf[c.pos:c.end])
		c.pos += i
		run := c.pos
		for run > start && c.buf[run-1] == '\\' {
			run--
		}
		odd := (c.pos-run)&1 == 1
		if run == start {
			odd = odd != escaped
		}
		if c.pos == c.end {
			escaped = odd
			if !c.fill() {
				return c.truncated()
			}
			start = c.pos
			continue
		}
		c.pos++
		if !odd {
			return true
		}
		start, escaped = c.pos, false
	}
}

// quote returns the index of the first quote in b, or its length. The next one
// is mostly near: a call of IndexByte costs more than looking at 32 bytes.
func quote(b []byte) int {
	i := 0
	for ; i+8 <= len(b) && i < 32; i += 8 {
		if m := zeros(binary.LittleEndian.Uint64(b[i:]) ^ ones*'"'); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	if k := bytes.IndexByte(b[i:], '"'); k >= 0 {
		return i + k
	}
	return len(b)
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// zeros marks the zero bytes of x. Only the lowest mark is reliable.
func zeros(x uint64) uint64 { return (x - ones) &^ x & highs }

// structural returns the index of the first quote, bracket or brace in b, or
// -1. With bit 5 set, '[' and '{' are the same byte, and so are ']' and '}'.
func structural(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		y := x | ones<<5
		m := zeros(x^ones*'"') | zeros(y^ones*'{') | zeros(y^ones*'}')
		if m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case '"', '[', ']', '{', '}':
			return i
		}
	}
	return -1
}
