package report

import (
	"strconv"
	"unicode/utf8"
)

// Texts and numbers have the form that encoding/json gives them, written without a call
// and a copy for each.

// AppendFloat appends a finite number as JSON has it: the shortest digits that
// give the same float64 when read, with an exponent outside of 1e-6 … 1e21, as
// encoding/json and JavaScript write it.
func AppendFloat(dst []byte, f float64) []byte {
	form := byte('f')
	if size := max(f, -f); size != 0 && (size < 1e-6 || size >= 1e21) {
		form = 'e'
	}
	dst = strconv.AppendFloat(dst, f, form, -1, 64)
	if n := len(dst); form == 'e' && n >= 4 && dst[n-4] == 'e' && dst[n-2] == '0' { // e-09 to e-9
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// appendText appends s as a JSON string. Invalid UTF-8 becomes U+FFFD; what
// means something in HTML, and the line ends of JavaScript, are escaped.
func appendText(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && size == 1:
				dst = append(dst, `\ufffd`...)
			case r == '\u2028', r == '\u2029':
				dst = append(dst, `\u202`...)
				dst = append(dst, hex[r&15])
			default:
				dst = append(dst, s[i:i+size]...)
			}
			i += size
			continue
		}
		i++
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			if c < ' ' || c == '<' || c == '>' || c == '&' {
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			} else {
				dst = append(dst, c)
			}
		}
	}
	return append(dst, '"')
}
