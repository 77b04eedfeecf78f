package linelog

import (
	"bytes"

	"servescope/formats/internal/pyrepr"
)

// numberEnd returns the end of the digits, points, signs and exponent at i.
func numberEnd(b []byte, i int) int {
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		i++
	}
	for i < len(b) {
		switch c := b[i]; {
		case digit(c):
		case c == '.' && i+1 < len(b) && digit(b[i+1]):
		case c|0x20 == 'e' && i+1 < len(b) && (digit(b[i+1]) || i+2 < len(b) && digit(b[i+2]) && (b[i+1] == '-' || b[i+1] == '+')):
			i++
		default:
			return i
		}
		i++
	}
	return i
}

// grouped returns the end of a number whose thousands are set off by commas, as
// in 1,500.0, of which numberEnd ended at i; i where there are no such groups.
func grouped(b []byte, i int) int {
	for i+3 < len(b) && b[i] == ',' && digit(b[i+1]) && digit(b[i+2]) && digit(b[i+3]) && (i+4 == len(b) || !digit(b[i+4])) {
		i += 4
		if i+1 < len(b) && b[i] == '.' && digit(b[i+1]) {
			return numberEnd(b, i+1)
		}
	}
	return i
}

// bracketEnd returns the end of the list, map or angle that begins at i. Of
// numbers alone it looks for the closing bracket only.
func bracketEnd(b []byte, i int) int {
	if b[i] == '[' && i+1 < len(b) && digit(b[i+1]) {
		if k := bytes.IndexByte(b[i:], ']'); k >= 0 {
			return i + k + 1
		}
		return len(b)
	}
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '\'', '"':
			i, _ = pyrepr.QuoteEnd(b, i)
			continue
		case '[', '{', '<', '(':
			depth++
		case ']', '}', '>', ')':
			if depth--; depth <= 0 {
				return i + 1
			}
		}
		i++
	}
	return i
}
