package linelog

import (
	"bytes"
	"encoding/binary"

	"servescope/formats/internal/assemble"
	"servescope/formats/internal/block"
	"servescope/formats/internal/frame"
)

// Record is one message of a Kind of use Parse, with what stood before it. Its
// texts are valid until the Fold returns.
type Record struct {
	Kind   *Kind
	Offset int64 // of its line in the source

	// T is the time in ns on the clock of the run, where Timed; else there was no
	// stamp, or none that exists. Resolution is the stamp's step in ns.
	T, Resolution int64
	Timed         bool

	// Near is the time of the last head with a stamp before a line that has none,
	// where HasNear: the line was written then or later.
	Near    int64
	HasNear bool

	Stamp   Stamp // as written
	Outer   Stamp // of what wraps the line: a container runtime, Kubernetes, journald
	Level   []byte
	Tag     []byte // file.py:123, or the logger's name
	Ranks   []byte // " DP1 TP0", see Rank
	Process Process
	Message []byte // from its first byte on; it may hold payload
	Object  []byte // the record of a JSON logger that Message is in, or nil
	Cut     bool   // the source ends in the middle of the line

	Values []Value

	headed  bool // whether a head stands before it
	near    bool // Stamp and Outer are those of the last head with a stamp before, if known
	payload bool // a quote of payload is still open at its end
	strange bool
	short   bool   // a slot is missing that it needs
	last    bool   // no other record is in its line
	hash    uint64 // of its line, where last
}

// Int returns the value of a slot, 0 and false where it is unknown.
func (r *Record) Int(slot int) (int64, bool) {
	if v := r.value(slot); v != nil {
		return v.Int, true
	}
	return 0, false
}

// Float returns the value of a slot, 0 and false where it is unknown.
func (r *Record) Float(slot int) (float64, bool) {
	if v := r.value(slot); v != nil {
		return v.Num, true
	}
	return 0, false
}

// Text returns the value of a slot, or nil.
func (r *Record) Text(slot int) []byte {
	if v := r.value(slot); v != nil {
		return v.Text
	}
	return nil
}

func (r *Record) value(slot int) *Value {
	for i := range r.Values {
		if r.Values[i].Slot == slot {
			return &r.Values[i]
		}
	}
	return nil
}

// entry is what the fold must see of a line: a record, or a run of lines that
// nothing recognised.
type entry struct {
	Record
	strangers int64  // lines that nothing recognised, the first at Offset
	text      []byte // of the first of them
	afterHead bool   // a line with a head came since the entry before, or the block's start
}

// fragment is what one block holds.
type fragment struct {
	entries []entry
	values  []Value
	arena   []byte  // texts that are not in the block as they are
	counts  []int64 // lines by kind: those that are no entry
	lines   int64
	removed int64 // bytes in front of lines that are not in the source
	headed  bool  // a line with a head came since the last entry

	stamp, outer Stamp // of the last head that has a stamp
}

// scanner makes fragments. It is used by one goroutine at a time.
type scanner struct {
	t       *Table
	out     *fragment
	stamped bool // lines begin with the stamp of a container runtime
	line    lineState
	record  Record
	cut     bool  // the current line is not complete
	glued   bool  // the head of another record ends the current one, perhaps within a number
	off     int64 // of the current line, in the source but for what earlier blocks had removed
	outer   Stamp // of the current line, from the runtime
	records int   // of the current line
	kind    int   // of the current line if it has no record; -1: nothing recognised it
	rank    int   // how much kind says
	nested  bool  // the text is the message of a JSON record
	clean   []byte
	where   []int32
	memo    *memo // nil: nothing is learned
	alone   bool  // the text is the whole line

	scouting bool // seen is wanted
	seen     seen
	heads    map[string]int64 // counts the heads of the table, where wanted
}

// seen is what scouting finds.
type seen struct {
	bare, dated Stamp // the first stamp without a year, and one with that is close to it
	inner       Stamp // of the first line that has an outer stamp as well
	outer       Stamp
}

// block scans the lines of b.
func (s *scanner) block(b *block.Block, out *fragment) {
	s.out, s.line.t = out, s.t
	*out = fragment{entries: out.entries[:0], values: out.values[:0], counts: out.counts}
	if len(out.counts) != len(s.t.kinds) {
		out.counts = make([]int64, len(s.t.kinds))
	}
	clear(out.counts)
	data := b.Data
	for at := 0; at < len(data); {
		line := data[at:]
		end := bytes.IndexByte(line, '\n')
		if s.cut = end < 0; !s.cut {
			line = line[:end]
		}
		s.outer = Stamp{}
		s.off = b.Off + int64(at) - out.removed
		at += len(line) + 1
		if s.stamped && len(line) > 0 && line[0] == frame.Mark {
			line = s.takeOuter(line)
		}
		s.scanLine(line)
	}
}

// takeOuter takes off what the stamped view of a source has put in front.
func (s *scanner) takeOuter(line []byte) []byte {
	k := bytes.IndexByte(line, ' ')
	if k < 0 {
		return line
	}
	nextStamp(line[:k], 0, 0, &s.outer)
	s.out.removed += int64(k + 1)
	return line[k+1:]
}

// scanLine scans one line without its newline.
func (s *scanner) scanLine(line []byte) {
	s.out.lines++
	for n := len(line); n > 0 && line[n-1] == '\r'; n-- {
		line = line[:n-1]
	}
	var h found
	done, headed := false, false
	if s.memo != nil && !s.cut {
		if done, headed = s.quick(line, &h); done {
			return
		}
	}
	s.records, s.kind, s.rank = 0, 0, 0
	s.alone = bytes.IndexByte(line, '\r') < 0
	switch {
	case !s.alone:
		s.segments(line)
	case headed:
		s.fromHead(line, &h)
	default:
		s.segment(line)
	}
	switch {
	case s.records > 0:
		last := &s.out.entries[len(s.out.entries)-1]
		last.last, last.hash = true, hashLine(line)
	case s.rank == rankStranger:
		s.stranger(line)
	case s.rank == rankBlank:
		s.out.counts[s.t.blank]++
	default:
		s.out.counts[s.kind]++
	}
}

// segments scans what stands between carriage returns.
func (s *scanner) segments(line []byte) {
	for more := true; more; {
		var b []byte
		if b, line, more = bytes.Cut(line, carriageReturn); !more {
			line = nil
		}
		s.segment(b)
	}
}

// hashed is how many bytes of a line tell it from others of the same time.
const hashed = 256

// hashLine returns the hash of a line. Two lanes of it go on side by side.
func hashLine(line []byte) uint64 {
	b := line[:min(len(line), hashed)]
	even, odd := assemble.HashSeed, ^assemble.HashSeed
	for ; len(b) >= 16; b = b[16:] {
		even = assemble.Mix(even, binary.LittleEndian.Uint64(b))
		odd = assemble.Mix(odd, binary.LittleEndian.Uint64(b[8:]))
	}
	return assemble.Mix(assemble.Mix(even, odd), assemble.Hash(b))
}

var carriageReturn = []byte{'\r'}

// What a line is, if it has no record: the higher counts when its segments differ.
const (
	rankBlank = iota
	rankStranger
	rankNoise
	rankMessage
)

func (s *scanner) note(rank, kind int) {
	if rank > s.rank {
		s.rank, s.kind = rank, kind
	}
}

// stranger notes a line that nothing recognised. Those that follow each other,
// without a head between them, are one entry.
func (s *scanner) stranger(line []byte) {
	if n := len(s.out.entries); n > 0 && s.out.entries[n-1].strangers > 0 && !s.out.headed {
		s.out.entries[n-1].strangers++
		return
	}
	s.out.entries = append(s.out.entries, entry{Record: Record{Offset: s.off}, strangers: 1, text: line, afterHead: s.out.headed})
	s.out.headed = false
}

// segment scans what stands between carriage returns: a number of records, each
// behind a head, or a text without one.
func (s *scanner) segment(b []byte) {
	var h found
	if len(b) > 1 && b[0] == '{' && !s.nested && s.json(b, &h) || s.wholeLine(b) {
		return
	}
	if len(b) > 1 && !s.nested && (b[0] == '{' || b[0] == '[' && b[1] == '{') && s.objects(b) {
		return
	}
	if !s.nextHead(b, 0, s.outer, &h) {
		s.headless(b, &h.outer)
		return
	}
	s.fromHead(b, &h)
}

// fromHead scans a text from its first head on.
func (s *scanner) fromHead(b []byte, h *found) {
	var next found
	for ok, first := true, true; ok; *h, first = next, false {
		from := h.msg
		if from < len(b) && b[from] == '{' && !s.nested && s.json(b[from:], h) { // the record of a JSON logger behind a head
			return
		}
		s.begin(h, true)
		k, n := s.payload(b[from:])
		if k >= 0 { // nothing in a quote counts
			from += s.values(k, b[from:], n)
			if s.t.kinds[k].Rest {
				from = len(b)
			}
		}
		ok = s.nextHead(b, from, s.outer, &next)
		end := len(b)
		if ok {
			end = next.begin
		}
		if k < 0 {
			s.line.size = cap(b) - h.msg
			s.glued = ok
			if k, n = s.recognise(b[h.msg:end]); k >= 0 {
				s.values(k, b[h.msg:end], n)
			} else if ok || s.cut || end-h.msg > maxCapture {
				k = s.torn(b[h.msg:end])
			}
			s.glued = false
		}
		if k >= 0 && ok {
			k = s.reread(k, b[h.msg:end])
		}
		s.end(k, b[h.msg:end])
		if first && !ok && s.memo != nil && s.alone && !s.cut && !s.nested {
			s.learn(b, h, k)
		}
	}
}

// wholeLine scans a text that begins with a record that goes on to its end.
func (s *scanner) wholeLine(b []byte) bool {
	for i := range s.t.rests {
		if bytes.HasPrefix(b, s.t.rests[i].lits[0]) {
			outer := s.outer
			s.headless(b, &outer)
			return true
		}
	}
	return false
}

// found is a head and what belongs to it.
type found struct {
	headMatch
	begin   int // of what belongs to the record: its process tag or its head
	stamp   Stamp
	outer   Stamp
	process Process
}

// inUTC gives the stamp the zone of its head.
func (h *found) inUTC() {
	if h.headMatch.head != nil && h.headMatch.head.UTC {
		h.stamp.Zoned = true
	}
}

// nextHead finds the first head at or behind from. Without one it leaves the
// stamp that stands in the text in h.outer.
func (s *scanner) nextHead(b []byte, from int, outer Stamp, h *found) bool {
	floor := from
	*h = found{outer: outer}
	for nextStamp(b, from, floor, &h.stamp) {
		st := &h.stamp
		var ok bool
		if h.headMatch, ok = s.t.matchHead(b, st, floor); ok {
			h.begin = h.start
			h.inUTC()
			if n := escapes(b[h.msg:]); n > 0 {
				spaced := b[h.msg-1] == ' '
				for h.msg += n; !spaced && h.msg < len(b) && b[h.msg] == ' '; { // the head's own space, behind the colour
					h.msg++
				}
			}
			s.zone(b[floor:h.start], h)
			return true
		}
		if lo, hi := max(floor, st.from-window), min(len(b), st.till+window); coloured(b[lo:hi]) && s.colouredHead(b, lo, hi, h) {
			return true
		}
		if st.Month > 0 && st.from < floor+window && (!h.outer.Known() || st.Zoned && !h.outer.Zoned) {
			h.outer = *st
		}
		from = st.till
	}
	return false
}

// window bounds how far a head reaches to both sides of its stamp.
const window = 256

// zone finds the process tag in what stands before a head.
func (s *scanner) zone(zone []byte, h *found) {
	if len(zone) == 0 {
		return
	}
	p, from, to := findProcess(zone)
	if from < 0 {
		return
	}
	h.process = p
	for to < len(zone) && zone[to] == ' ' {
		to++
	}
	if to == len(zone) {
		h.begin -= len(zone) - from
	}
}

// colouredHead finds a head in b[lo:hi] as it is without terminal escapes.
func (s *scanner) colouredHead(b []byte, lo, hi int, h *found) bool {
	s.clean, s.where = plain(s.clean[:0], s.where[:0], b[lo:hi])
	clean := s.keep(s.clean)
	var st Stamp
	for from := 0; nextStamp(clean, from, 0, &st); from = st.till {
		m, ok := s.t.matchHead(clean, &st, 0)
		if !ok {
			if st.Month > 0 && (!h.outer.Known() || st.Zoned && !h.outer.Zoned) {
				h.outer = st
			}
			continue
		}
		h.headMatch, h.stamp = m, st
		h.inUTC()
		h.begin = m.start
		s.zone(clean[:m.start], h)
		h.begin = lo + int(s.where[h.begin])
		h.msg = lo + int(s.where[m.msg])
		h.msg += escapes(b[h.msg:])
		for h.msg < len(b) && b[h.msg] == ' ' && m.msg > 0 && clean[m.msg-1] != ' ' {
			h.msg++
		}
		return true
	}
	return false
}

// keep copies text to where it stays until the block is folded.
func (s *scanner) keep(text []byte) []byte {
	if cap(s.out.arena)-len(s.out.arena) < len(text) {
		s.out.arena = make([]byte, 0, max(4096, len(text)))
	}
	from := len(s.out.arena)
	s.out.arena = append(s.out.arena, text...)
	return s.out.arena[from:len(s.out.arena):len(s.out.arena)]
}

// begin makes the current record, that of a head.
func (s *scanner) begin(h *found, headed bool) {
	if s.scouting {
		s.seen.add(h)
	}
	if s.heads != nil && h.headMatch.head != nil {
		s.heads[h.headMatch.head.Name]++
	}
	s.line = lineState{t: s.t, values: s.out.values, base: len(s.out.values), marks: s.line.marks[:0]}
	if headed && h.stamp.Known() { // that of an object may be missing
		s.out.stamp, s.out.outer = h.stamp, h.outer
	}
	s.record = Record{Offset: s.off, Stamp: h.stamp, Outer: h.outer, Level: h.level, Tag: h.tag, Ranks: h.ranks, Process: h.process, headed: headed}
}

// end takes the current record with the values read since begin, or notes what its line is.
func (s *scanner) end(k int, msg []byte) {
	r := &s.record
	if k < 0 {
		s.out.headed = s.out.headed || r.headed
		s.note(rankMessage, s.t.message)
		return
	}
	kind := &s.t.kinds[k]
	if kind.Use == Noise {
		s.out.headed = s.out.headed || r.headed
		s.note(rankNoise, k)
		return
	}
	r.Kind, r.Message = kind.Kind, msg
	if s.line.epoch.Known() {
		r.Outer = s.line.epoch
		if s.scouting {
			s.seen.add(&found{stamp: r.Stamp, outer: r.Outer})
		}
	}
	if !r.Stamp.Known() && !r.Outer.Known() {
		r.near, r.Stamp, r.Outer = true, s.out.stamp, s.out.outer
	}
	r.Values = s.line.values[len(s.out.values):len(s.line.values):len(s.line.values)]
	s.out.values = s.line.values
	r.payload, r.strange, r.Cut = s.line.payload, s.line.strange, s.cut
	r.short = s.line.torn || s.line.have&kind.need != kind.need
	s.records++
	e := s.out.grow()
	e.Record, e.strangers, e.text, e.afterHead = *r, 0, nil, s.out.headed
	s.out.headed = false
}

// grow adds an entry, to be set in place: a record is large.
func (f *fragment) grow() *entry {
	n := len(f.entries)
	if n == cap(f.entries) {
		f.entries = append(f.entries, entry{})
	}
	f.entries = f.entries[:n+1]
	return &f.entries[n]
}
