package linelog

import (
	"bytes"
	"slices"
)

// mark is a value of a message that others may have different. Marks are kept in
// the order of the text.
type mark struct {
	from, to int // in the message
	kind     holeKind
	value    int // which of the values; -1: none
	typ      Type
	scale    int
	max      float64
}

// mark notes the text of a number that was read, or of a word. value is -1 if it is
// no value of the record.
func (l *lineState) mark(text []byte, m mark) {
	m.from = l.size - cap(text) // text is a part of the message
	m.to = m.from + len(text)
	if m.kind < wordHole {
		d, ok := plainDecimal(text)
		if !ok || !digit(text[0]) {
			l.rigid = true
			return
		}
		if d.frac > 0 {
			m.kind = pointHole
		}
	}
	l.marks = append(l.marks, m)
}

// Bounds of what is learned.
const (
	maxFronts  = 8
	maxLayouts = 8   // of messages that begin with the same byte
	maxFront   = 64  // bytes
	freeTries  = 256 // lines that are tried before enough of them are alike
)

// learn learns from line b, which has one record, of kind k, behind head h.
func (s *scanner) learn(b []byte, h *found, k int) {
	m := s.memo
	if m.tries++; m.tries > freeTries+m.hits/16 {
		return
	}
	if !s.plain(b, h) {
		return
	}
	if !slices.ContainsFunc(m.fronts, func(f *front) bool { return f.match(s, b, new(found)) }) {
		f := s.newFront(b, h)
		if f == nil {
			return
		}
		if len(m.fronts) < maxFronts {
			m.fronts = append(m.fronts, f)
		} else {
			m.turn++
			m.fronts[m.turn%maxFronts] = f
		}
	}
	msg := b[h.msg:]
	if !s.simple(msg, k) {
		return
	}
	l := s.newLayout(msg, k)
	if l == nil || !l.avoid(s.line.others) {
		return
	}
	list := &m.layouts[msg[0]]
	if len(*list) < maxLayouts {
		*list = append(*list, l)
	} else {
		m.turn++
		(*list)[m.turn%maxLayouts] = l
	}
}

// learnBare learns from line b, which has no head and one record, that of template
// number i of those for such lines; its message begins at from.
func (s *scanner) learnBare(b []byte, from, i int) {
	m, t := s.memo, &s.t.starts[i]
	if m.tries++; m.tries > freeTries+m.hits/16 || !s.settled(t.kind) {
		return
	}
	r := &s.out.entries[len(s.out.entries)-1]
	if s.outer.Known() || !r.near || r.strangers > 0 || r.Kind.index != t.kind || b[0] >= 0x80 || b[0] == '{' ||
		cap(b)-cap(r.Message) != from || !s.harmlessBytes(b, 0, 0) || t.numbered() {
		return
	}
	words := s.firstWord(len(b))
	for _, other := range s.t.rests {
		if other.risky(b, words) {
			return
		}
	}
	for k := range i {
		if s.t.starts[k].risky(b[from:], words-from) {
			return
		}
	}
	l := s.newLayout(b, t.kind)
	if l == nil {
		return
	}
	l.from = from
	x := &bare{*l, Process{bytes.Clone(r.Process.Name), r.Process.PID}}
	if list := &m.bares[b[0]]; len(*list) < maxLayouts {
		*list = append(*list, x)
	} else {
		m.turn++
		(*list)[m.turn%maxLayouts] = x
	}
}

// settled reports whether the current record, of kind k, is one that a layout may
// describe.
func (s *scanner) settled(k int) bool {
	l := &s.line
	return k >= 0 && !s.record.short && !l.rigid && !l.strange && !l.payload && !l.epoch.Known() && !s.t.kinds[k].payload && s.t.kinds[k].Use == Parse
}

// firstWord returns where the first word or text stands that others may have
// different, or end.
func (s *scanner) firstWord(end int) int {
	for _, m := range s.line.marks {
		if m.kind >= wordHole {
			end = min(end, m.from)
		}
	}
	return end
}

// plain reports whether nothing in a line could be a stamp or an escape with other
// digits, but for the stamp of its head.
func (s *scanner) plain(b []byte, h *found) bool {
	if len(b) > 1<<12 || h.outer != s.outer || h.begin != 0 || h.msg >= len(b) || b[h.msg-1] != ' ' {
		return false
	}
	if c := b[h.msg]; c >= 0x80 || c == '{' || c == '[' || c == 0x1b {
		return false
	}
	return s.harmlessBytes(b, h.stamp.from, h.stamp.till)
}

// harmlessBytes reports that of a line with a stamp from from to till. Before the
// stamp no colon may be.
func (s *scanner) harmlessBytes(b []byte, from, till int) bool {
	for i, c := range b {
		if i >= from && i < till {
			continue
		}
		j := i + 1
		switch c {
		case '\r', 0x1b:
			return false
		case ':':
			for ; j < len(b) && digit(b[j]); j++ {
			}
			if i < from || j > i+1 && j < len(b) && b[j] == ':' {
				return false
			}
		case '[':
			for ; j < len(b) && (digit(b[j]) || b[j] == ';'); j++ {
			}
			if j < len(b) && b[j] == 'm' {
				return false
			}
		}
	}
	return true
}

// newFront learns how line b begins; nil: in no simple way.
func (s *scanner) newFront(b []byte, h *found) *front {
	f := &front{head: -1, pid: -1, back: h.stamp.from - h.start}
	before := b[:h.stamp.from]
	for _, r := range s.t.rests {
		if len(before) == 0 || r.lits[0][0] == before[0] {
			return nil
		}
	}
	if len(before) == 0 || len(before) > maxFront || digit(before[0]) || digit(before[len(before)-1]) {
		return nil
	}
	for k := range s.t.Heads {
		m := headMatch{start: h.stamp.from}
		if !m.backward(b, s.t.heads[k].before, 0) {
			continue
		}
		if s.t.heads[k].Head == h.head {
			f.head, f.level = k, bytes.Clone(m.level)
			break
		}
		f.others = append(f.others, k)
	}
	if f.head < 0 {
		return nil
	}
	from := 0
	for i := 0; i < len(before); i++ {
		if !digit(before[i]) {
			continue
		}
		f.lits = append(f.lits, bytes.Clone(before[from:i]))
		for from = i; digit(before[from]); from++ {
		}
		i = from
	}
	f.lits = append(f.lits, bytes.Clone(before[from:]))
	if len(f.lits) > maxRuns+1 || !f.learnProcess(before, h) {
		return nil
	}
	return f
}

// learnProcess learns where the name and the number of a process are.
func (f *front) learnProcess(before []byte, h *found) bool {
	name := h.process.Name
	if f.tagged = h.process.PID > 0 || len(name) > 0; !f.tagged {
		return before[0] != '('
	}
	end := 1 + len(name)
	if before[0] != '(' || !bytes.HasPrefix(before[1:], name) {
		return false
	}
	pid := bytes.Index(before[end:], []byte("pid="))
	i, last := 0, 0
	for k := range len(f.lits) - 1 {
		i += len(f.lits[k])
		if i == end+pid+len("pid=") && pid >= 0 {
			f.pid = k
		}
		for ; digit(before[i]); i++ {
		}
		if i <= end {
			f.inName, last = k+1, i
		}
	}
	f.name = end - last
	return f.pid >= 0 || h.process.PID == 0
}

// avoid has the first word of a message begin with none of the given texts.
func (l *layout) avoid(others [][]byte) bool {
	for i := range l.holes {
		if h := &l.holes[i]; h.kind == wordHole {
			h.not = slices.Clone(others)
			return true
		}
	}
	return len(others) == 0
}

// simple reports whether other numbers and words in place of those of a message
// could not make another kind of it: its template is the first that could match.
// What the first word must not begin with, since another template goes on there,
// is put into others.
func (s *scanner) simple(msg []byte, k int) bool {
	l := &s.line
	l.others = l.others[:0]
	if !s.settled(k) {
		return false
	}
	words := s.firstWord(len(msg))
	lead := 0
	for i := range s.t.leads {
		if n, ok := s.t.leads[i].match(s.t, msg, func(int, []byte) {}); ok {
			lead = n
			break
		}
	}
	if lead > 0 && words < len(msg) {
		return false
	}
	for _, p := range s.t.payloads {
		if p.risky(msg, words) {
			return false
		}
	}
	for i := range s.t.leads {
		if s.t.leads[i].risky(msg, words) && lead == 0 {
			return false
		}
	}
	msg = msg[lead:]
	for _, t := range s.t.first[msg[0]] {
		if t.kind == k && bytes.HasPrefix(msg, t.lits[0]) {
			return !t.numbered()
		}
		if n := len(t.lits[0]); lead == 0 && n > words && bytes.HasPrefix(t.lits[0], msg[:words]) && !t.numbered() {
			l.others = append(l.others, t.lits[0][words:])
		} else if t.risky(msg, words) {
			return false
		}
	}
	return false
}

// risky reports whether a template that does not match a message might do so with
// other digits, or other words from words on.
func (m *template) risky(msg []byte, words int) bool {
	lit := m.lits[0]
	n := min(len(lit), words)
	if k := slices.IndexFunc(lit, digitByte); k >= 0 {
		n = min(n, k)
	}
	if !bytes.HasPrefix(msg, lit[:n]) {
		return false
	}
	return n < len(lit) || words < len(msg) || m.numbered()
}

// numbered reports whether there are digits in what is literal in a template.
func (m *template) numbered() bool {
	return slices.ContainsFunc(m.lits, func(lit []byte) bool { return slices.ContainsFunc(lit, digitByte) })
}

func digitByte(c byte) bool { return digit(c) }

// newLayout learns how a message looks whose values have just been read; nil: in no
// simple way.
func (s *scanner) newLayout(msg []byte, k int) *layout {
	values := s.out.entries[len(s.out.entries)-1].Values
	l := &layout{kind: k, values: slices.Clone(values)}
	at := 0
	for i, m := range s.line.marks {
		if m.from <= at || m.to > len(msg) || m.kind == textHole && (i+1 >= s.line.captures || !harmless(msg[m.from:m.to])) {
			return nil // behind a text stands what its template has before the next capture
		}
		l.holes = append(l.holes, hole{before: bytes.Clone(msg[at:m.from]), kind: m.kind, value: m.value, typ: m.typ, scale: m.scale, max: m.max})
		at = m.to
	}
	if len(l.holes) == 0 {
		return nil
	}
	l.tail = bytes.Clone(msg[at:])
	for i := range l.holes {
		h := &l.holes[i]
		behind := l.tail
		if i+1 < len(l.holes) {
			behind = l.holes[i+1].before
		}
		if len(behind) > 0 {
			h.stop = behind[0]
		}
		if h.kind == textHole && (h.stop == ':' || h.before[len(h.before)-1] == ':') {
			return nil
		}
		if h.kind < wordHole && (h.stop == '.' || h.stop|0x20 == 'e') || h.kind == wordHole && bytes.IndexByte(values[h.value].Text, h.stop) >= 0 {
			return nil
		}
	}
	for i := range l.values {
		l.values[i].Text = bytes.Clone(l.values[i].Text)
	}
	return l
}
