package linelog

import "bytes"

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

// quoteEnd returns the end of the Python text that begins at i, behind its
// closing quote; closed is false where there is none.
func quoteEnd(b []byte, i int) (end int, closed bool) {
	q := b[i]
	for i++; i < len(b); {
		k := bytes.IndexByte(b[i:], q)
		if k < 0 {
			return len(b), false
		}
		slashes := 0
		for j := i + k - 1; j >= i && b[j] == '\\'; j-- {
			slashes++
		}
		i += k + 1
		if slashes%2 == 0 {
			return i, true
		}
	}
	return len(b), false
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
			i, _ = quoteEnd(b, i)
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
