package json

import (
	"bytes"
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
	for len(dst)-from < max {
		i := 0
		for i < len(raw) && i < 16 && raw[i] != '\\' { // the next one is mostly near
			i++
		}
		if i == 16 {
			if k := bytes.IndexByte(raw[i:], '\\'); k >= 0 {
				i += k
			} else {
				i = len(raw)
			}
		}
		dst = append(dst, raw[:i]...)
		if raw = raw[i:]; len(raw) == 0 {
			break
		}
		n := 1 // a backslash that begins no escape stands for itself
		if len(raw) == 1 {
			dst = append(dst, '\\')
		} else if c := letters[raw[1]]; c != 0 {
			dst = append(dst, c)
			n = 2
		} else if r, size := unicode(raw); size > 0 {
			dst = utf8.AppendRune(dst, r)
			n = size
		} else {
			dst = append(dst, '\\')
		}
		raw = raw[n:]
	}
	return dst[:from+len(cut(dst[from:], max))]
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
