package jsonrows

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Text decodes the escapes of a string, given without its quotes. Invalid UTF-8
// and halves of surrogate pairs become U+FFFD. A string without escapes, or one
// that is no JSON, is returned as it is.
func Text(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	if out, ok := decode(make([]byte, 0, len(raw)), raw); ok {
		return out
	}
	return raw
}

// AppendText appends what Text returns to dst.
func AppendText(dst, raw []byte) []byte {
	if out, ok := decode(dst, raw); ok {
		return out
	}
	return append(dst, raw...)
}

// decode appends a string without its escapes.
func decode(out, raw []byte) ([]byte, bool) {
	i := bytes.IndexByte(raw, '\\')
	if i < 0 {
		i = len(raw)
	}
	for rest := raw; ; {
		var ok bool
		if out, ok = appendPlain(out, rest[:i]); !ok {
			return out, false
		}
		if i == len(rest) {
			return out, true
		}
		r, n := escape(rest[i:])
		if n == 0 {
			return out, false
		}
		out, rest = utf8.AppendRune(out, r), rest[i+n:]
		if i = bytes.IndexByte(rest, '\\'); i < 0 {
			i = len(rest)
		}
	}
}

// appendPlain appends text without escapes. It reports false where that holds
// what stands in no string.
func appendPlain(out, b []byte) ([]byte, bool) {
	for _, c := range b {
		if c < ' ' || c == '"' {
			return out, false
		}
	}
	if utf8.Valid(b) {
		return append(out, b...), true
	}
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		out, b = utf8.AppendRune(out, r), b[n:]
	}
	return out, true
}

// escape decodes the escape at the start of b; n is its length, 0 where it is
// broken.
func escape(b []byte) (r rune, n int) {
	if len(b) < 2 {
		return 0, 0
	}
	switch b[1] {
	case '"', '\\', '/':
		return rune(b[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	}
	r, ok := unit16(b)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if low, ok := unit16(b[6:]); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

// unit16 decodes an escape of four hexadecimal digits.
func unit16(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		if c == '_' || c == '+' || c == '-' {
			return 0, false
		}
	}
	v, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(v), err == nil
}
