package json

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// Text reads a string and returns its decoded value, cut at a rune boundary to
// at most max bytes; the rest is skipped. Invalid UTF-8 and lone surrogates
// become U+FFFD, raw control characters are kept, an unknown escape stands for
// its letter. After a problem, and where another value comes next, it returns
// nil.
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
	c.scratch = c.scratch[:0]
	for len(c.scratch) < max+utf8.UTFMax {
		b, ok := c.read()
		switch {
		case !ok:
			c.truncated()
			return nil
		case b == '"':
			return c.cut(max)
		case b == '\\':
			if !c.escape() {
				c.truncated()
				return nil
			}
		default:
			c.scratch = append(c.scratch, b)
		}
	}
	if !c.skipString() {
		return nil
	}
	return c.cut(max)
}

// read consumes one byte.
func (c *Cursor) read() (byte, bool) {
	if c.pos == c.end && !c.fill() {
		return 0, false
	}
	c.pos++
	return c.buf[c.pos-1], true
}

var letters = [256]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape decodes what follows a backslash.
func (c *Cursor) escape() bool {
	b, ok := c.read()
	if !ok {
		return false
	}
	if b != 'u' {
		if l := letters[b]; l != 0 {
			b = l
		}
		c.scratch = append(c.scratch, b)
		return true
	}
	r, ok := c.hex()
	for ok && utf16.IsSurrogate(r) {
		// A low surrogate must follow; anything else stands for itself.
		if c.pos == c.end && !c.fill() {
			return false
		}
		if c.buf[c.pos] != '\\' {
			r = utf8.RuneError
			break
		}
		c.pos++
		if c.pos == c.end && !c.fill() {
			return false
		}
		if c.buf[c.pos] != 'u' {
			c.scratch = utf8.AppendRune(c.scratch, utf8.RuneError)
			return c.escape()
		}
		c.pos++
		var low rune
		if low, ok = c.hex(); !ok {
			return false
		}
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			r = pair
			break
		}
		c.scratch = utf8.AppendRune(c.scratch, utf8.RuneError)
		r = low
	}
	c.scratch = utf8.AppendRune(c.scratch, r)
	return ok
}

// hex decodes four hexadecimal digits. A byte that is none ends the escape,
// which then stands for U+FFFD.
func (c *Cursor) hex() (rune, bool) {
	var r rune
	for range 4 {
		if c.pos == c.end && !c.fill() {
			return 0, false
		}
		b := c.buf[c.pos]
		switch lower := b | 0x20; {
		case b >= '0' && b <= '9':
			r = r<<4 | rune(b-'0')
		case lower >= 'a' && lower <= 'f':
			r = r<<4 | rune(lower-'a'+10)
		default:
			return utf8.RuneError, true
		}
		c.pos++
	}
	return r, true
}

// cut repairs the UTF-8 of the scratch memory and cuts it to max bytes.
func (c *Cursor) cut(max int) []byte {
	s := c.scratch
	if !utf8.Valid(s) {
		var valid []byte
		for len(s) > 0 {
			r, n := utf8.DecodeRune(s)
			valid = utf8.AppendRune(valid, r)
			s = s[n:]
		}
		s, c.scratch = valid, valid
	}
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max]
}
