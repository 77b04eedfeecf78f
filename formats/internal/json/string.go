package json

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns the value of a string that is given as it is written, without its
// quotes. Escapes are decoded as encoding/json does: half a surrogate pair becomes
// U+FFFD. What encoding/json refuses is kept as it is written: a backslash that begins
// no escape, raw control characters, invalid UTF-8, which trace.Builder repairs and
// counts. A string without escapes is returned itself.
//
// All readers of strings and of member names share these rules.
func Text(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	return AppendText(make([]byte, 0, len(raw)), raw, len(raw))
}

// AppendText appends the first max bytes of what Text returns to dst, cut at a rune
// boundary. Beyond MaxRaw(max) bytes raw need not be given. raw may lie behind the end
// of dst in the same memory.
func AppendText(dst, raw []byte, max int) []byte {
	from := len(dst)
	for len(dst)-from < max && len(raw) > 0 {
		i := special(raw, 0)
		dst = append(dst, raw[:i]...)
		n := 0
		if i < len(raw) {
			dst, n = appendEscape(dst, raw[i:])
		}
		raw = raw[i+n:]
	}
	return dst[:from+len(cut(dst[from:], max))]
}

// AppendString reads the string that comes next and appends its value to dst; see Text.
// ok is false where another value comes next, or the string is not whole.
func (s *Scanner) AppendString(dst []byte) (out []byte, ok bool) {
	if !s.Take('"') {
		return dst, false
	}
	for {
		i := special(s.B, s.I)
		dst = append(dst, s.B[s.I:i]...)
		if s.I = i; i == len(s.B) {
			return dst, false
		}
		if s.B[i] == '"' {
			s.I++
			return dst, true
		}
		var n int
		dst, n = appendEscape(dst, s.B[i:])
		s.I += n
	}
}

// special returns the index of the first quote or backslash of b at or behind i, or the
// length of b.
func special(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		if m := zeros(x^Ones*'"') | zeros(x^Ones*'\\'); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for i < len(b) && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// appendEscape appends what the escape at the start of b stands for, and returns its
// length. A byte that begins no escape stands for itself.
func appendEscape(dst, b []byte) (out []byte, n int) {
	if len(b) > 1 && b[0] == '\\' {
		if c := letters[b[1]]; c != 0 {
			return append(dst, c), 2
		}
		if r, n := unicode(b); n > 0 {
			return utf8.AppendRune(dst, r), n
		}
	}
	return append(dst, b[0]), 1
}

// MaxRaw returns how many bytes of a string as it is written suffice for the first
// max bytes of its value: an escape takes six bytes for one at most, and twelve in all.
func MaxRaw(max int) int { return 6*max + 12 }

// cut returns the first max bytes of a text, cut at a rune boundary.
func cut(s []byte, max int) []byte {
	if len(s) <= max {
		return s
	}
	for n := max; n >= 0 && n > max-utf8.UTFMax; n-- {
		if utf8.RuneStart(s[n]) {
			return s[:n]
		}
	}
	return s[:max]
}

// letters are the bytes that escapes of one letter stand for, 0: there is none.
var letters = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unicode decodes the escape \u at the start of b, or two that are a surrogate pair;
// n is its length, 0 where there is none.
func unicode(b []byte) (r rune, n int) {
	r, ok := unit16(b)
	switch {
	case !ok:
		return 0, 0
	case !utf16.IsSurrogate(r):
		return r, 6
	}
	if low, ok := unit16(b[6:]); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

// unit16 decodes \u and four hexadecimal digits.
func unit16(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		switch lower := c | 0x20; {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case lower >= 'a' && lower <= 'f':
			r = r<<4 | rune(lower-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// Text reads a string and returns its value, cut at a rune boundary to at most max
// bytes; the rest is skipped. Invalid UTF-8 becomes U+FFFD; for the rest see the
// function Text. After a problem, and where another value comes next, it returns nil.
func (c *Cursor) Text(max int) []byte {
	if c.Kind() != String {
		return nil
	}
	c.pos++
	w := c.buf[c.pos:min(c.end, c.pos+max+1)]
	if i := bytes.IndexByte(w, '"'); i >= 0 && bytes.IndexByte(w[:i], '\\') < 0 && utf8.Valid(w[:i]) {
		c.pos += i + 1
		return w[:i:i]
	}
	c.raw = c.raw[:0]
	if !c.skipString(MaxRaw(max)) {
		return nil
	}
	c.scratch = AppendText(c.scratch[:0], c.raw, max)
	if utf8.Valid(c.scratch) {
		return c.scratch
	}
	valid := make([]byte, 0, len(c.scratch))
	for s := c.scratch; len(s) > 0; {
		r, n := utf8.DecodeRune(s)
		valid, s = utf8.AppendRune(valid, r), s[n:]
	}
	c.scratch = valid
	return cut(valid, max)
}
