package frame

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// parseCRI reads "TIME STREAM TAGS TEXT", the log format of the Kubernetes
// container runtime interface. The first of the tags, separated by colons, is P
// for a part that another follows and F for the last one.
func parseCRI(line, dst []byte) (p part, ok bool) {
	time, rest, ok := bytes.Cut(line, []byte{' '})
	if !ok || !isTime(time) {
		return p, false
	}
	name, rest, ok := bytes.Cut(rest, []byte{' '})
	if !ok {
		return p, false
	}
	if p.stream, ok = parseStream(name); !ok {
		return p, false
	}
	tags, text, _ := bytes.Cut(rest, []byte{' '})
	tag, _, _ := bytes.Cut(tags, []byte{':'})
	if string(tag) != "P" && string(tag) != "F" {
		return p, false
	}
	p.time, p.text, p.end = time, append(dst, text...), tag[0] == 'F'
	return p, true
}

// isTime reports whether b begins like RFC 3339: 2026-03-01T09:00:00.
func isTime(b []byte) bool {
	const shape = "0000-00-00T00:00:00"
	if len(b) < len(shape) {
		return false
	}
	for i := range len(shape) {
		if digit := b[i] >= '0' && b[i] <= '9'; digit != (shape[i] == '0') || !digit && b[i] != shape[i] {
			return false
		}
	}
	return true
}

// parseDocker reads {"log":"TEXT\n","stream":"stdout","time":"…"}, the lines of
// Docker's json-file driver; the members may come in any order and others among
// them, as log shippers write them. A text without its line end is a part.
func parseDocker(line, dst []byte) (p part, ok bool) {
	s := scan{b: line}
	if !s.take('{') {
		return p, false
	}
	var hasLog, hasStream bool
	for {
		key, ok := s.raw()
		if !ok || !s.take(':') {
			return p, false
		}
		switch string(key) {
		case "log":
			p.text, hasLog = s.unquote(dst)
			ok = hasLog
		case "stream":
			var name []byte
			if name, ok = s.raw(); ok {
				p.stream, hasStream = parseStream(name)
			}
		case "time":
			p.time, ok = s.raw()
		default:
			ok = s.skip()
		}
		if !ok {
			return p, false
		}
		if s.take(',') {
			continue
		}
		break
	}
	if !s.take('}') || !hasLog || !hasStream || !isTime(p.time) {
		return p, false
	}
	if s.space(); s.i != len(s.b) {
		return p, false
	}
	if n := len(p.text); n > 0 && p.text[n-1] == '\n' {
		p.text, p.end = p.text[:n-1], true
	}
	return p, true
}

// scan is a cursor in one line of JSON.
type scan struct {
	b []byte
	i int
}

func (s *scan) space() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\t' || s.b[s.i] == '\r') {
		s.i++
	}
}

// take moves over c, if that is next after spaces.
func (s *scan) take(c byte) bool {
	s.space()
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

// raw returns the next string without its quotes, escapes as they are.
func (s *scan) raw() ([]byte, bool) {
	if !s.take('"') {
		return nil, false
	}
	for i := s.i; i < len(s.b); i++ {
		switch s.b[i] {
		case '\\':
			i++
		case '"':
			text := s.b[s.i:i]
			s.i = i + 1
			return text, true
		}
	}
	return nil, false
}

// skip moves over any value.
func (s *scan) skip() bool {
	s.space()
	depth := 0
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case '"':
			if _, ok := s.raw(); !ok {
				return false
			}
			if depth == 0 {
				return true
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return true
			}
			if depth == 0 {
				s.i++
				return true
			}
		case ',':
			if depth == 0 {
				return true
			}
		}
		s.i++
	}
	return false
}

// unquote appends the next string to dst with its escapes resolved. An escape
// that JSON does not know stays as it is.
func (s *scan) unquote(dst []byte) ([]byte, bool) {
	if !s.take('"') {
		return dst, false
	}
	from := s.i
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case '"':
			dst = append(dst, s.b[from:s.i]...)
			s.i++
			return dst, true
		case '\\':
			dst = append(dst, s.b[from:s.i]...)
			dst = s.escape(dst)
			from = s.i
		default:
			s.i++
		}
	}
	return dst, false
}

// escape appends what the escape at the cursor stands for.
func (s *scan) escape(dst []byte) []byte {
	if s.i+1 >= len(s.b) {
		s.i++
		return dst
	}
	c := s.b[s.i+1]
	switch c {
	case 'n':
		c = '\n'
	case 't':
		c = '\t'
	case 'r':
		c = '\r'
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case '"', '\\', '/':
	case 'u':
		return s.unicode(dst)
	default:
		dst = append(dst, '\\')
	}
	s.i += 2
	return append(dst, c)
}

// unicode appends the code point of the \uXXXX at the cursor, or of two that
// are a surrogate pair.
func (s *scan) unicode(dst []byte) []byte {
	r, ok := hex4(s.b[s.i:])
	if !ok {
		s.i += 2
		return append(dst, '\\', 'u')
	}
	s.i += 6
	if utf16.IsSurrogate(r) {
		low, ok := hex4(s.b[s.i:])
		if r = utf16.DecodeRune(r, low); ok && r != utf8.RuneError {
			s.i += 6
		}
	}
	return utf8.AppendRune(dst, r)
}

// hex4 reads the \uXXXX that b begins with.
func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return utf8.RuneError, false
	}
	for _, c := range b[2:6] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return utf8.RuneError, false
		}
	}
	return r, true
}
