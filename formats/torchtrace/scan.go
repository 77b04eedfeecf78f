package torchtrace

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"servescope/formats/internal/json"
	"servescope/formats/internal/numx"
)

// Results of the scanning functions other than an index.
const (
	short = json.Short // the window ends first
	bad   = json.Bad
)

// span is a part of the window.
type span struct{ from, to int }

// event is one trace event, as far as it is used. Spans point into the window:
// text without its quotes, numbers as they are written.
type event struct {
	ph                           byte
	cat, name, pid, tid, argName span
	ts, dur                      int64 // ns
	corr                         uint64
	hasTS, hasDur, hasCorr       bool
	repaired                     bool // a string holds control bytes or invalid UTF-8
}

// scan is a scanner of the JSON in b[:n], behind which there are pad zeros.
type scan struct {
	b   []byte
	n   int
	odd bool // the last string held bytes outside 0x20–0x7f
}

// stop returns why b[i] is not what was expected.
func (s *scan) stop(i int) int {
	if i >= s.n {
		return short
	}
	return bad
}

// space skips white space, and control bytes that stand for it.
func (s *scan) space(i int) int {
	for b := s.b; b[i] <= ' ' && b[i] != 0; {
		i++
	}
	return i
}

// quote returns the index of the quote that closes the string whose first byte
// is at i. It tests eight bytes at a time for quotes, backslashes, bytes below
// 0x20 and bytes above 0x7f: in each test only bytes above a hit can be wrongly
// marked, and the lowest mark is taken.
func (s *scan) quote(i int) int {
	s.odd = false
	for b := s.b; ; {
		w := binary.LittleEndian.Uint64(b[i:])
		q, e := w^json.Ones*'"', w^json.Ones*'\\'
		hit := ((q-json.Ones)&^q | (e-json.Ones)&^e | (w-json.Ones*0x20)&^w | w) & json.Highs
		if hit == 0 {
			i += 8
			if i >= s.n {
				return short
			}
			continue
		}
		i += bits.TrailingZeros64(hit) >> 3
		if i >= s.n {
			return short
		}
		switch b[i] {
		case '"':
			return i
		case '\\':
			i++
		default:
			s.odd = true
		}
		if i++; i >= s.n {
			return short
		}
	}
}

// value skips the value at i.
func (s *scan) value(i int) int {
	switch s.b[i] {
	case '"':
		if i = s.quote(i + 1); i < 0 {
			return i
		}
		return i + 1
	case '{', '[':
		return s.container(i)
	}
	return s.scalar(i)
}

// scalar skips a number, a literal, or any word such as inf or nan.
func (s *scan) scalar(i int) int {
	from, b := i, s.b
	for !delimits[b[i]] {
		i++
	}
	if i >= s.n || i == from {
		return s.stop(i)
	}
	return i
}

// delimits marks the bytes that end a scalar.
var delimits = func() (t [256]bool) {
	for c := range 256 {
		t[c] = c <= ' '
	}
	for _, c := range []byte(`,}]"{[:`) {
		t[c] = true
	}
	return t
}()

// container skips an object or array of any depth.
func (s *scan) container(i int) int {
	depth := 0
	for b := s.b; ; i++ {
		switch b[i] {
		case '"':
			if i = s.quote(i + 1); i < 0 {
				return i
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case 0:
			if i >= s.n {
				return short
			}
		}
	}
}

// event reads the object at i and returns the index behind it.
func (s *scan) event(i int, e *event) int {
	*e = event{}
	for i++; ; {
		i = s.space(i)
		switch s.b[i] {
		case '"':
		case ',':
			i++
			continue
		case '}':
			return i + 1
		default:
			return s.stop(i)
		}
		key := i + 1
		end := s.quote(key)
		if end < 0 {
			return end
		}
		if i = s.colon(end + 1); i < 0 {
			return i
		}
		if i = s.field(e, s.b[key:end], i); i < 0 {
			return i
		}
	}
}

// colon skips the colon behind a key and the space around it.
func (s *scan) colon(i int) int {
	if i = s.space(i); s.b[i] != ':' {
		return s.stop(i)
	}
	return s.space(i + 1)
}

// field reads the value at i of one key of an event.
func (s *scan) field(e *event, key []byte, i int) int {
	switch string(key) {
	case "ph":
		var at span
		if at, i = s.word(e, i); i > 0 && at.to == at.from+1 {
			e.ph = s.b[at.from]
		}
		return i
	case "cat":
		e.cat, i = s.word(e, i)
	case "name":
		e.name, i = s.word(e, i)
	case "pid":
		e.pid, i = s.word(e, i)
	case "tid":
		e.tid, i = s.word(e, i)
	case "ts":
		e.ts, e.hasTS, i = s.micros(i)
	case "dur":
		e.dur, e.hasDur, i = s.micros(i)
	case "args":
		if s.b[i] == '{' {
			return s.args(e, i)
		}
		return s.value(i)
	default:
		return s.value(i)
	}
	return i
}

// word reads a string without its quotes, or any scalar as it is written.
func (s *scan) word(e *event, i int) (span, int) {
	switch s.b[i] {
	case '"':
		end := s.quote(i + 1)
		if end < 0 {
			return span{}, end
		}
		if s.odd && unclean(s.b[i+1:end]) {
			e.repaired = true
		}
		return span{i + 1, end}, end + 1
	case '{', '[':
		return span{}, s.container(i)
	}
	end := s.scalar(i)
	if end < 0 {
		return span{}, end
	}
	return span{i, end}, end
}

// micros reads a time in microseconds as nanoseconds, exactly. A value that is
// no number, such as inf, is skipped and reported as missing.
func (s *scan) micros(i int) (ns int64, ok bool, next int) {
	at := i
	if s.b[i] == '"' {
		at++
	}
	ns, size, ok := numx.Scaled(s.b[at:s.n], numx.Microsecond)
	if next = at + size; ok && at == i && next < s.n && delimits[s.b[next]] {
		return ns, true, next
	}
	if next = s.value(i); next < 0 {
		return 0, false, next
	}
	return ns, ok && at+size == next-(at-i), next
}

// args reads the arguments of an event: the object at i.
func (s *scan) args(e *event, i int) int {
	for i++; ; {
		i = s.space(i)
		switch s.b[i] {
		case '"':
		case ',':
			i++
			continue
		case '}':
			return i + 1
		default:
			return s.stop(i)
		}
		key := i + 1
		end := s.quote(key)
		if end < 0 {
			return end
		}
		if i = s.colon(end + 1); i < 0 {
			return i
		}
		switch string(s.b[key:end]) {
		case "correlation":
			next := s.value(i)
			if next > 0 {
				e.corr, e.hasCorr = unsigned(s.b[i:next])
			}
			i = next
		case "name":
			e.argName, i = s.word(e, i)
		default:
			i = s.value(i)
		}
		if i < 0 {
			return i
		}
	}
}

// unsigned reads an integer, in quotes or not.
func unsigned(b []byte) (v uint64, ok bool) {
	if len(b) > 2 && b[0] == '"' {
		b = b[1 : len(b)-1]
	}
	if len(b) == 0 || len(b) > 19 {
		return 0, false
	}
	for _, c := range b {
		if c -= '0'; c > 9 {
			return 0, false
		}
		v = v*10 + uint64(c)
	}
	return v, true
}

// unclean reports whether a string needs repair: raw control bytes or invalid
// UTF-8.
func unclean(b []byte) bool {
	for _, c := range b {
		if c < ' ' {
			return true
		}
	}
	return !utf8.Valid(b)
}
