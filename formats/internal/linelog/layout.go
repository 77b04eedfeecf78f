package linelog

import (
	"bytes"
	"math"
)

// Most lines of a log are like one of the last but for their numbers. A layout is
// what such lines share: the bytes between their numbers, and what each number is.
// It is learned from a line that was scanned the long way and gives of another what
// a scan would: where all other bytes are the same the scanner takes the same path,
// since of a number it looks only at where it ends. What is not as simple as that
// is not learned, and what does not fit is scanned.

// layout is how messages of one kind look.
type layout struct {
	kind   int
	holes  []hole
	tail   []byte  // behind the last hole
	from   int     // where the message begins in what it was learned from
	values []Value // of the message that it was learned from; those of holes are replaced
}

// hole is a place at which messages differ.
type hole struct {
	before []byte // what stands in front of it, from the hole before
	kind   holeKind
	stop   byte     // the first byte behind it; 0 at the end
	not    [][]byte // of a word: beginnings that make another kind of the message
	value  int      // which of the values it is; -1: none
	typ    Type
	scale  int // decimal places that the unit adds
	max    float64
}

// holeKind is what stands in a hole.
type holeKind uint8

const (
	wholeHole holeKind = iota // digits alone
	pointHole                 // digits, a point, digits
	wordHole                  // name bytes other than stop
	textHole                  // any text up to what stands before the next hole
)

// match reads a message and appends its values to dst.
func (l *layout) match(b []byte, dst []Value) ([]Value, bool) {
	n := len(dst)
	dst = append(dst, l.values...)
	i := 0
	for k := range l.holes {
		h := &l.holes[k]
		from := i + len(h.before)
		if from >= len(b) || string(b[i:from]) != string(h.before) {
			return dst[:n], false
		}
		switch h.kind {
		case wordHole:
			for i = from; i < len(b) && nameByte(b[i]) && b[i] != h.stop; {
				i++
			}
			if i == from || h.forbidden(b[from:i]) {
				return dst[:n], false
			}
			dst[n+h.value].Text = b[from:i]
		case textHole:
			end := bytes.Index(b[from:], l.holes[k+1].before)
			if end < 0 || !harmless(b[from:from+end]) {
				return dst[:n], false
			}
			if i = from + end; h.value >= 0 {
				dst[n+h.value].Text = b[from:i]
			}
		default:
			var num, point int
			if num, point, i = h.number(b, from); i < 0 || h.value >= 0 && !h.set(&dst[n+h.value], int64(num), point) {
				return dst[:n], false
			}
		}
	}
	return dst, string(b[i:]) == string(l.tail)
}

// harmless reports whether a text has nothing in it that could be a part of a stamp,
// an escape, a quote, an object or the tag of a process.
func harmless(b []byte) bool {
	colons := 0
	for _, c := range b {
		if c < ' ' || c >= 0x7f || c == '"' || c == '\'' || c == '(' || c == ')' || c == '[' || c == '{' || c == '<' || c == '\\' {
			return false
		}
		if c == ':' {
			colons++
		}
	}
	return colons < 2
}

// number reads the digits at i, of which point stand behind a point. end < 0 tells
// that something else stands there.
func (h *hole) number(b []byte, i int) (num, point, end int) {
	from := i
	for ; i < len(b) && digit(b[i]); i++ {
		num = num*10 + int(b[i]-'0')
	}
	if h.kind == pointHole && i > from && i < len(b) && b[i] == '.' {
		i++
		for point = i; i < len(b) && digit(b[i]); i++ {
			num = num*10 + int(b[i]-'0')
		}
		point = i - point
	}
	if i == from || i-from > maxDigits || (h.kind == pointHole) != (point > 0) {
		return 0, 0, -1
	}
	return num, point, i
}

// set takes a number. It reports false for one that wants a closer look.
func (h *hole) set(v *Value, num int64, point int) bool {
	switch h.typ {
	case Int, Flag:
		v.Int, v.Num = num, float64(num)
	case Float, Ratio:
		v.Num = float64(num) / pow10[point+h.scale]
	default:
		if point > h.scale || num > limits[h.scale-point] {
			return false
		}
		v.Int = num * whole10[h.scale-point]
		v.Num = float64(v.Int)
	}
	return h.max == 0 || v.Num <= h.max
}

// whole10 holds the powers of ten up to that of a second in ns, and limits what
// times each is an int64.
var (
	whole10 = [...]int64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}
	limits  = func() (l [len(whole10)]int64) {
		for i, p := range whole10 {
			l[i] = math.MaxInt64 / p
		}
		return l
	}()
)

// forbidden reports whether a word is none, or could make the message another one.
func (h *hole) forbidden(w []byte) bool {
	for _, not := range h.not {
		if bytes.HasPrefix(w, not) || bytes.HasPrefix(not, w) {
			return true
		}
	}
	return string(w) == "None"
}

// front is what stands in front of the stamp of a line that begins with its head:
// literal text around digits, with the tag of a process perhaps.
type front struct {
	lits   [][]byte // digits stand between two of them
	head   int      // of the table
	others []int    // heads before it whose Before is there as well
	back   int      // bytes of the head in front of the stamp
	level  []byte   // the level there
	tagged bool     // with a process
	name   int      // where its name ends: so far behind the last digits that are a part of it
	inName int      // how many runs of digits are
	pid    int      // which run of digits is its number; -1: none
}

// maxRuns bounds the runs of digits in a front.
const maxRuns = 4

// match finds the head that a line begins with.
func (f *front) match(s *scanner, b []byte, h *found) bool {
	var runs [maxRuns][2]int // each its end and its number
	i := 0
	for k, lit := range f.lits {
		end := i + len(lit)
		if end >= len(b) || string(b[i:end]) != string(lit) {
			return false
		}
		if i = end; k == len(f.lits)-1 {
			break
		}
		num := 0
		for ; i < len(b) && digit(b[i]); i++ {
			num = num*10 + int(b[i]-'0')
		}
		if i == end || i-end > 9 {
			return false
		}
		runs[k] = [2]int{i, num}
	}
	if !s.memo.stamp(b, i, &h.stamp) || !f.forward(s.t, b, h) {
		return false
	}
	h.headMatch.start -= f.back
	if len(f.level) > 0 {
		h.level = f.level
	}
	h.begin, h.outer, h.process = 0, s.outer, Process{}
	h.inUTC()
	if f.tagged {
		end := f.name
		if f.inName > 0 {
			end += runs[f.inName-1][0]
		}
		h.process.Name = b[1:end]
		if f.pid >= 0 {
			h.process.PID = int64(runs[f.pid][1])
		}
	}
	return true
}

// forward matches what is behind the stamp. It reports false if that is of another
// head, where the line ends, and where a message could begin with escapes.
func (f *front) forward(t *Table, b []byte, h *found) bool {
	for _, k := range f.others {
		if h.forward(b, &t.heads[k]) {
			return false
		}
	}
	return h.forward(b, &t.heads[f.head]) && h.msg < len(b) && b[h.msg] != 0x1b && b[h.msg] != '[' && bytes.IndexByte(h.tag, '\r') < 0
}

// forward matches what is behind the stamp of a head.
func (h *found) forward(b []byte, head *head) bool {
	h.headMatch = headMatch{head: head.Head, start: h.stamp.from, msg: h.stamp.till}
	return (h.stamp.Month != 0 || head.Dateless) && h.headMatch.forward(b, head.after) && bytes.HasPrefix(b[h.msg:], head.peek)
}

// memo is what a scanner has learned. It makes no difference but in speed.
type memo struct {
	fronts  []*front
	layouts [128][]*layout // by the first byte of a message
	bares   [128][]*bare   // by the first byte of a line
	tries   int            // lines that were learned from, or not fit for it
	hits    int            // lines that needed no scan
	turn    int            // which layout to replace

	last struct { // the last stamp
		text [32]byte
		n    int
		Stamp
	}
}

// bare is how lines without a head look, with the tag of their process.
type bare struct {
	layout
	process Process
}

// stamp reads the stamp at i, where one stands as nextStamp reads it. Many lines
// have that of the one before.
func (m *memo) stamp(b []byte, i int, st *Stamp) bool {
	last := &m.last
	if end := i + last.n; last.n > 0 && end < len(b) && string(b[i:end]) == string(last.text[:last.n]) && endsStamp(b[end]) {
		*st = last.Stamp
		st.from, st.date, st.till = i, i+st.date-last.from, end
		return true
	}
	if !nextStamp(b, i, 0, st) || st.from != i {
		return false
	}
	if last.n = st.till - i; last.n > len(last.text) {
		last.n = 0
	}
	copy(last.text[:], b[i:i+last.n])
	last.Stamp = *st
	return true
}

// endsStamp reports whether a stamp does not go on with a byte, whatever is behind.
func endsStamp(c byte) bool {
	return !digit(c) && c != '.' && c != ',' && c != 'Z' && c != '+' && c != '-'
}

// quick scans a line by what was learned. It reports whether that was all; headed,
// whether at least its head is found, in h.
func (s *scanner) quick(b []byte, h *found) (done, headed bool) {
	m := s.memo
	for _, f := range m.fronts {
		if headed = f.match(s, b, h); headed {
			break
		}
	}
	if !headed {
		return len(b) > 0 && s.quickBare(b), false
	}
	msg := b[h.msg:]
	for _, l := range m.layouts[msg[0]&0x7f] {
		values, ok := l.match(msg, s.out.values)
		if ok {
			m.hits++
			s.add(h, l, b, values)
			return true, true
		}
	}
	return false, true
}

// quickBare scans a line without a head.
func (s *scanner) quickBare(b []byte) bool {
	if s.outer.Known() {
		return false
	}
	for _, l := range s.memo.bares[b[0]&0x7f] {
		if values, ok := l.match(b, s.out.values); ok {
			s.memo.hits++
			r := s.lone(&l.layout, b, values)
			r.Process, r.Message = l.process, b[l.from:]
			r.near, r.Stamp, r.Outer = true, s.out.stamp, s.out.outer
			return true
		}
	}
	return false
}

// add takes the record of a line with a layout.
func (s *scanner) add(h *found, l *layout, b []byte, values []Value) {
	r := s.lone(l, b, values)
	r.Stamp, r.Outer, r.headed = h.stamp, h.outer, true
	r.Level, r.Tag, r.Ranks, r.Process, r.Message = h.level, h.tag, h.ranks, h.process, b[h.msg:]
	s.out.stamp, s.out.outer = h.stamp, h.outer
	if s.scouting {
		s.seen.add(h)
	}
}

// lone makes the record of a line that has no other.
func (s *scanner) lone(l *layout, b []byte, values []Value) *Record {
	e := s.out.grow()
	*e = entry{}
	r := &e.Record
	r.Kind, r.Offset, r.last, r.hash = s.t.kinds[l.kind].Kind, s.off, true, hashLine(b)
	r.Values = values[len(s.out.values):len(values):len(values)]
	s.out.values = values
	e.afterHead, s.out.headed = s.out.headed, false
	return r
}
