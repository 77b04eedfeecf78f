package tokenlog

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"servescope/formats/internal/json"
)

// scanner walks over one line of JSON. It knows where the values it wants are
// and skips everything else without decoding it. It is lenient: what it does not
// need it does not check. A line never reaches beyond its newline: text has at
// least block.Pad newlines behind its end, and every loop stops at one.
type scanner struct {
	text []byte
	i    int // the cursor
	end  int // the line's newline, or 0 while it is not known

	order [32]*field // of the keys of the line before, nil where unknown
}

// start puts the cursor on the line that begins at i.
func (s *scanner) start(i int) { s.i, s.end = i, 0 }

// lineEnd returns the offset of the line's newline.
func (s *scanner) lineEnd() int {
	if s.end == 0 {
		s.end = s.i + bytes.IndexByte(s.text[s.i:], '\n')
	}
	return s.end
}

// space skips white space within the line.
func (s *scanner) space() {
	for s.text[s.i] == ' ' || s.text[s.i] == '\t' || s.text[s.i] == '\r' {
		s.i++
	}
}

// stop returns the offset of the first quote, backslash or control character at
// or behind i. It compares eight bytes at a time; a borrow can only disturb
// bytes behind the first match.
func stop(b []byte, i int) int {
	for {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, escape := x^json.Ones*'"', x^json.Ones*'\\'
		m := ((quote-json.Ones)&^quote | (escape-json.Ones)&^escape | (x-json.Ones*' ')&^x) & json.Highs
		if m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
}

// str reads the string at the cursor and moves behind it. from and to are the
// text between the quotes. ok is false when there is no string.
func (s *scanner) str() (from, to int, escaped, ok bool) {
	if s.text[s.i] != '"' {
		return 0, 0, false, false
	}
	from = s.i + 1
	for j := from; ; j++ {
		j = stop(s.text, j)
		switch s.text[j] {
		case '"':
			s.i = j + 1
			return from, j, escaped, true
		case '\\':
			escaped = true
			if j++; s.text[j] == '\n' {
				return 0, 0, false, false
			}
		case '\n':
			return 0, 0, false, false
		}
	}
}

// nthKey is key for the n-th key of a line, which mostly is that of the line before.
func (s *scanner) nthKey(n int) (f *field, ok bool) {
	usual := &s.order[n%len(s.order)]
	if f = *usual; f != nil {
		from, to := s.i+1, s.i+1+len(f.name)
		if s.text[s.i] == '"' && string(s.text[from:to]) == f.name && s.text[to] == '"' && s.text[to+1] == ':' {
			s.i = to + 2
			s.space()
			return f, true
		}
	}
	f, ok = s.key()
	*usual = f
	return f, ok
}

// key reads a key and its colon, and returns the field it names, or nil.
func (s *scanner) key() (f *field, ok bool) {
	from, to, escaped, ok := s.str()
	if !ok {
		return nil, false
	}
	if escaped {
		name := append(unquote(s.text[from:to]), make([]byte, 8)...)
		f = keys.lookup(name, 0, len(name)-8)
	} else {
		f = keys.lookup(s.text, from, to)
	}
	s.space()
	if s.text[s.i] != ':' {
		return nil, false
	}
	s.i++
	s.space()
	return f, true
}

// unquote decodes the escapes of a string into memory of its own. A string with
// a broken escape is left as it is.
func unquote(b []byte) []byte { return bytes.Clone(json.Text(b)) }

// skip moves behind the value at the cursor.
func (s *scanner) skip() bool {
	switch s.text[s.i] {
	case '"':
		return s.skipString()
	case '{', '[':
		return s.skipNested()
	}
	from := s.i
	for {
		switch s.text[s.i] {
		case ',', '}', ']', ' ', '\t', '\r', '\n', '"', '{', '[', ':':
			return s.i > from
		}
		s.i++
	}
}

// skipString moves behind the string at the cursor. It is probably a prompt: unlike
// json.Quote, which expects the end to be near, it searches with IndexByte at once.
func (s *scanner) skipString() bool {
	end := s.lineEnd()
	for j := s.i + 1; ; j++ {
		k := bytes.IndexByte(s.text[j:end], '"')
		if k < 0 {
			return false
		}
		j += k
		run := j // of backslashes before the quote
		for s.text[run-1] == '\\' && run-1 > s.i {
			run--
		}
		if (j-run)%2 == 0 {
			s.i = j + 1
			return true
		}
	}
}

// skipNested moves behind the array or object at the cursor.
func (s *scanner) skipNested() bool {
	end := s.lineEnd()
	if s.text[s.i] == '[' && s.skipFlat(end) {
		return true
	}
	for depth := 0; s.i < end; {
		switch s.text[s.i] {
		case '"':
			if !s.skipString() {
				return false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				s.i++
				return true
			}
		}
		s.i++
	}
	return false
}

// skipFlat moves behind an array of numbers: prompt token ids are long.
func (s *scanner) skipFlat(end int) bool {
	rest := s.text[s.i+1 : end]
	k := bytes.IndexByte(rest, ']')
	if k < 0 {
		return false
	}
	for _, c := range []byte(`"[{`) {
		if bytes.IndexByte(rest[:k], c) >= 0 {
			return false
		}
	}
	s.i += 1 + k + 1
	return true
}

// literal moves behind one of null, NaN, Infinity and -Infinity. These are the
// ways of writing that a number is not known; nan tells all but null.
func (s *scanner) literal() (nan, ok bool) {
	for _, word := range []string{"null", "NaN", "Infinity", "-Infinity"} {
		if end := s.i + len(word); string(s.text[s.i:end]) == word {
			switch s.text[end] {
			case ',', '}', ']', ' ', '\t', '\r', '\n':
				s.i = end
				return word != "null", true
			}
		}
	}
	return false, false
}
