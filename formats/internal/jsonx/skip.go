package jsonx

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
	if c.skipShort() {
		return true
	}
	escaped := false // the run of backslashes that ends the previous window is odd
	for {
		w := c.buf[c.pos:c.end]
		i := bytes.IndexByte(w, '"')
		n := i
		if i < 0 {
			n = len(w)
		}
		run := 0
		for run < n && w[n-1-run] == '\\' {
			run++
		}
		odd := run&1 == 1
		if run == n {
			odd = odd != escaped
		}
		if i < 0 {
			escaped = odd
			c.pos = c.end
			if !c.fill() {
				return c.truncated()
			}
			continue
		}
		c.pos += i + 1
		if !odd {
			return true
		}
		escaped = false
	}
}

// skipShort skips the rest of a string if it ends within 32 bytes and has no
// escape: a call of IndexByte costs more than that.
func (c *Cursor) skipShort() bool {
	for i := c.pos; i+8 <= c.end && i < c.pos+32; i += 8 {
		x := binary.LittleEndian.Uint64(c.buf[i:])
		quote, escape := zeros(x^ones*'"'), zeros(x^ones*'\\')
		if quote|escape == 0 {
			continue
		}
		end := bits.TrailingZeros64(quote)
		if bits.TrailingZeros64(escape) < end {
			return false
		}
		c.pos = i + end>>3 + 1
		return true
	}
	return false
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
