package mapping

import (
	"bytes"
	"strings"
)

// prose is what stands in front of the pairs of a line.
type prose struct {
	stamp []byte
	level []byte
	first []byte // the first key
	asks  bool   // it names a request, and what has become of it
	row   bool   // it begins as a row of a table does
	words struct{ from, to, n int }
}

// begins tells whether the first pair is one that a logger writes first: what is in front
// of it is of what collects logs.
func (p *prose) begins() bool {
	switch string(p.first) {
	case "time", "ts", "t", "timestamp", "level", "lvl", "severity", "msg":
		return true
	}
	return false
}

// lead reads a stamp and a level that the line begins with.
func (l *pairScan) lead() (p prose) {
	for l.i < len(l.b) && (l.b[l.i] == ' ' || l.b[l.i] == '\t' || l.b[l.i] == '[') {
		l.i++
	}
	if n := stampAt(l.b[l.i:]); n > 0 {
		p.stamp = l.b[l.i : l.i+n]
		if l.i += n; l.i < len(l.b) && l.b[l.i] == ']' {
			l.i++
		}
	} else {
		l.i = 0
	}
	p.words.from, p.words.to = l.i, l.i
	return p
}

// stampAt returns the length of the date and time that b begins with, or 0.
func stampAt(b []byte) int {
	if len(b) < 16 || b[0]-'0' > 9 || b[4] != '-' && b[4] != '/' || b[10] != 'T' && b[10] != ' ' {
		return 0
	}
	n := 11
	for n < len(b) && (b[n]-'0' <= 9 || (b[n] == ':' || b[n] == '.' || b[n] == ',') && n+1 < len(b) && b[n+1]-'0' <= 9) {
		n++
	}
	if n < len(b) && b[n] == 'Z' {
		n++
	} else if n+3 <= len(b) && (b[n] == '+' || b[n] == '-') {
		for n++; n < len(b) && (b[n]-'0' <= 9 || b[n] == ':' && n+1 < len(b) && b[n+1]-'0' <= 9); {
			n++
		}
	}
	if n < len(b) && bytes.IndexByte([]byte(" \t]|:"), b[n]) < 0 {
		return 0
	}
	if _, ok := parseDate(b[:n]); !ok {
		return 0
	}
	return n
}

// word takes a word in front of the pairs. What is said begins behind a level, the name
// of a logger or of a file, and signs that part them.
func (p *prose) word(l *pairScan) {
	word := l.b[l.from:l.i]
	p.words.n++
	p.words.to = l.i
	p.row = p.row || p.stamp == nil && bytes.Contains(word, []byte(`,"`))
	own := bytes.Trim(word, "[]():")
	if head, _, more := bytes.Cut(own, []byte(":")); more && isLevel(head) { // INFO:root:
		own = head
	}
	switch k := bytes.LastIndexByte(word, ':'); {
	case p.level == nil && isLevel(own) && (p.words.n == 1 || p.stamp != nil && own[0] <= 'Z'):
		p.level = own
		p.words.from = l.i
		if k >= 0 && k < len(word)-1 {
			p.words.from = l.from + k + 1
		}
	case len(own) == 0 || string(own) == "-" || word[0] == '[':
		p.words.from = l.i
	case k >= 0 && k < len(word)-1 && !number10(word[k+1:]):
		p.words.from = l.from + k + 1
	case k >= 0 && (k < len(word)-1 || l.i < len(l.b) && !l.pairNext()):
		p.words.from = l.i
	}
}

// pairNext tells whether a pair or an object comes next.
func (l *pairScan) pairNext() bool {
	ahead := *l
	return ahead.next() && (ahead.key != nil || ahead.object)
}

// number10 tells whether b is a number, of a line of a file.
func number10(b []byte) bool {
	for _, c := range b {
		if c-'0' > 9 && c != ']' && c != ')' && c != ':' {
			return false
		}
	}
	return true
}

// isLevel tells whether a word is the level of a line of a log.
func isLevel(word []byte) bool {
	if len(word) < 3 || len(word) > 8 {
		return false
	}
	var low [8]byte
	for i, c := range word {
		low[i] = c | 0x20
	}
	switch string(low[:len(word)]) {
	case "trace", "debug", "info", "notice", "warn", "warning", "error", "err", "critical", "crit", "fatal", "panic", "dpanic", "inf", "dbg", "wrn":
		return true
	}
	return false
}

const maxWords = 12 // of what is said

// said takes what is said in front of the pairs: "request a finished" is that event of
// that request, anything else is the text of the line.
func (t *table) said(line []byte, p *prose) {
	if p.level != nil && !t.has("level") {
		t.plain("level", p.level)
	}
	if p.words.to <= p.words.from {
		return
	}
	var words [maxWords][]byte
	n := 0
	for word := range bytes.FieldsSeq(line[p.words.from:p.words.to]) {
		if word = bytes.Trim(word, `:,.[]()"'`); len(word) == 0 {
			continue
		}
		if n == maxWords {
			return
		}
		words[n] = word
		n++
	}
	who, event := subject(words[:n])
	if who == nil {
		event = words[:n]
	} else if p.asks = true; !t.has("request_id") {
		t.plain("request_id", who)
	}
	if len(event) > 0 && !t.has("msg") {
		t.plain("msg", t.joined(event))
	}
}

// has tells whether the record has a value in a column.
func (t *table) has(name string) bool {
	for k := range t.names {
		if t.names[k] == name {
			return t.rec.cells[k].set
		}
	}
	return false
}

// subject finds the request that words are about, and what has become of it: "request a
// finished", "finished request a".
func subject(words [][]byte) (who []byte, event [][]byte) {
	for i, word := range words {
		if len(word) > 10 || !isRequest(word) {
			continue
		}
		k := i + 1
		if k < len(words) && bytes.EqualFold(words[k], []byte("id")) {
			k++
		}
		if k >= len(words) {
			return nil, nil
		}
		rest := words[k+1:]
		if len(rest) == 0 {
			rest = words[:i]
		}
		if isEvent(words[k:]) > 0 && !bytes.ContainsAny(words[k], "0123456789") {
			return nil, nil // the request first token
		}
		if n := isEvent(rest); n > 0 {
			return words[k], rest[:n]
		}
		return nil, nil
	}
	return nil, nil
}

func isRequest(word []byte) bool {
	return bytes.EqualFold(word, []byte("request")) || bytes.EqualFold(word, []byte("req")) || bytes.EqualFold(word, []byte("request_id"))
}

// isEvent returns how many of the first words are the name of an event.
func isEvent(words [][]byte) int {
	const longest = 32
	for n := min(2, len(words)); n > 0; n-- {
		var room [longest]byte
		name := append(room[:0], ' ')
		for _, w := range words[:n] {
			if len(name)+len(w)+1 > longest {
				return 0
			}
			for _, c := range w {
				if c-'A' < 26 {
					c |= 0x20
				}
				name = append(name, c)
			}
			name = append(name, '_')
		}
		name[len(name)-1] = ' '
		for k := begins; k <= aborts; k++ {
			if strings.Contains(eventNames[k], string(name)) {
				return n
			}
		}
	}
	return 0
}

// joined returns words with spaces between them.
func (t *table) joined(words [][]byte) []byte {
	at := len(t.text)
	for i, w := range words {
		if i > 0 {
			t.text = append(t.text, ' ')
		}
		t.text = append(t.text, w...)
	}
	return t.text[at:]
}
