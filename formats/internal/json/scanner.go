package json

// Scanner is a cursor in text at hand. It looks no further than a caller asks: members
// and elements of any kind are read as far as they are whole.
type Scanner struct {
	B []byte
	I int // the next unread byte
}

// Space skips white space and returns the next byte, 0 at the end.
func (s *Scanner) Space() byte {
	if s.I = Space(s.B, s.I); s.I < len(s.B) {
		return s.B[s.I]
	}
	return 0
}

// Take consumes the byte c if it comes next, behind white space.
func (s *Scanner) Take(c byte) bool {
	if s.Space() != c {
		return false
	}
	s.I++
	return true
}

// Kind returns the kind of the value that comes next behind white space, EOF at the
// end and Broken where none begins.
func (s *Scanner) Kind() Kind {
	if s.I = Space(s.B, s.I); s.I == len(s.B) {
		return EOF
	}
	return class[s.B[s.I]]
}

// String reads the string that comes next and returns it as it is written, without its
// quotes; see Text. ok is false where another value comes next, or the string is not
// whole; then it is skipped to the end.
func (s *Scanner) String() (raw []byte, ok bool) {
	if !s.Take('"') {
		return nil, false
	}
	from := s.I
	end := Quote(s.B, from)
	if end < 0 {
		s.I = len(s.B)
		return nil, false
	}
	s.I = end + 1
	return s.B[from:end], true
}

// Key reads the name of a member and its colon.
func (s *Scanner) Key() (name []byte, ok bool) {
	name, ok = s.String()
	return Text(name), ok && s.Take(':')
}

// Skip reads the value that comes next and returns it as it is written. ok is false
// where it is not whole; it is skipped to the end then.
func (s *Scanner) Skip() (raw []byte, ok bool) {
	s.Space()
	from := s.I
	switch end := Skip(s.B, from); end {
	case Short:
		s.I = len(s.B)
		return s.B[from:], false
	case Bad:
		return nil, false
	default:
		s.I = end
		return s.B[from:end], true
	}
}

// Each calls member for what stands between the brackets that come next, parted by
// commas. It reports false where member does, or the text is no such list.
func (s *Scanner) Each(opening, closing byte, member func() bool) bool {
	if !s.Take(opening) {
		return false
	}
	if s.Take(closing) {
		return true
	}
	for member() {
		if s.Take(closing) {
			return true
		}
		if !s.Take(',') {
			return false
		}
	}
	return false
}
