package json

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Short and Bad are what scanning functions return in place of an index.
const (
	Short = -1 // the text ends first
	Bad   = -2 // this is no JSON
)

// Space returns the index of the first byte of b at or behind i that is no white
// space, or the length of b.
func Space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// Quote returns the index of the quote that ends the string whose first byte is at i,
// or Short. Any bytes may stand in a string.
func Quote(b []byte, i int) int {
	for from := i; ; i++ {
		if i += quote(b[i:]); i == len(b) {
			return Short
		}
		run := i // of backslashes before the quote
		for run > from && b[run-1] == '\\' {
			run--
		}
		if (i-run)&1 == 0 {
			return i
		}
	}
}

// Skip returns the index behind the value at i, which it does not check: of an object
// or array it counts the brackets. It returns Short where the text ends first, behind
// the digits of a number too, and Bad where no value begins.
func Skip(b []byte, i int) int {
	if i >= len(b) {
		return Short
	}
	switch b[i] {
	case '"':
		if i = Quote(b, i+1); i < 0 {
			return Short
		}
		return i + 1
	case '{', '[':
		return skipContainer(b, i)
	}
	return Scalar(b, i)
}

// Scalar returns the index behind the number or the word at i; see Skip.
func Scalar(b []byte, i int) int {
	from := i
	for i < len(b) && bare[b[i]] {
		i++
	}
	switch i {
	case len(b):
		return Short
	case from:
		return Bad
	}
	return i
}

func skipContainer(b []byte, i int) int {
	for depth := 0; ; {
		k := structural(b[i:])
		if k < 0 {
			return Short
		}
		i += k + 1
		switch b[i-1] {
		case '"':
			if i = Quote(b, i); i < 0 {
				return Short
			}
			i++
		case '{', '[':
			depth++
		default:
			if depth--; depth == 0 {
				return i
			}
		}
	}
}

// quote returns the index of the first quote in b, or its length. The next one
// is mostly near: a call of IndexByte costs more than looking at 32 bytes.
func quote(b []byte) int {
	i := 0
	for ; i+8 <= len(b) && i < 32; i += 8 {
		if m := zeros(binary.LittleEndian.Uint64(b[i:]) ^ Ones*'"'); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	if k := bytes.IndexByte(b[i:], '"'); k >= 0 {
		return i + k
	}
	return len(b)
}

// Ones and Highs hold the lowest and the highest bit of each of eight bytes. Scanners
// of hot loops use them to test eight bytes at a time.
const (
	Ones  = 0x0101010101010101
	Highs = 0x8080808080808080
)

// zeros marks the zero bytes of x in their highest bits. Only the lowest mark is reliable.
func zeros(x uint64) uint64 { return (x - Ones) &^ x & Highs }

// structural returns the index of the first quote, bracket or brace in b, or
// -1. With bit 5 set, '[' and '{' are the same byte, and so are ']' and '}'.
func structural(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		y := x | Ones<<5
		m := zeros(x^Ones*'"') | zeros(y^Ones*'{') | zeros(y^Ones*'}')
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
