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
	if m.kind != wordHole {
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
	if l == nil {
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

// plain reports whether nothing in a line could be a stamp or an escape with other
// digits, but for the stamp of its head.
func (s *scanner) plain(b []byte, h *found) bool {
	if len(b) > 1<<12 || h.outer != s.outer || h.begin != 0 || h.msg >= len(b) || b[h.msg-1] != ' ' {
		return false
	}
	if c := b[h.msg]; c >= 0x80 || c == '{' || c == '[' || c == 0x1b {
		return false
	}
	for i, c := range b {
		if i >= h.stamp.from && i < h.stamp.till {
			continue
		}
		j := i + 1
		switch c {
		case '\r', 0x1b:
			return false
		case ':':
			for ; j < len(b) && digit(b[j]); j++ {
			}
			if i < h.stamp.from || j > i+1 && j < len(b) && b[j] == ':' {
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

// simple reports whether other numbers and words in place of those of a message
// could not make another kind of it: its template is the first that could match.
func (s *scanner) simple(msg []byte, k int) bool {
	l := &s.line
	if k < 0 || s.record.short || l.rigid || l.strange || l.payload || l.epoch.Known() || s.t.kinds[k].payload || s.t.kinds[k].Use != Parse {
		return false
	}
	words := len(msg)
	for _, m := range l.marks {
		if m.kind == wordHole {
			words = min(words, m.from)
		}
	}
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
		if t.risky(msg, words) {
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
	for _, m := range s.line.marks {
		if m.from <= at || m.to > len(msg) {
			return nil
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
		if h.kind != wordHole && (h.stop == '.' || h.stop|0x20 == 'e') || h.kind == wordHole && bytes.IndexByte(values[h.value].Text, h.stop) >= 0 {
			return nil
		}
	}
	for i := range l.values {
		l.values[i].Text = bytes.Clone(l.values[i].Text)
	}
	return l
}
