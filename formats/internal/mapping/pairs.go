package mapping

import (
	"bytes"

	"servescope/formats"
	"servescope/formats/internal/json"
	"servescope/formats/internal/jsonrows"
)

// Lines of text that hold pairs, as log/slog, logrus and go-kit write them (logfmt) and
// as people print them:
//
//	time=2026-11-30T14:05:01.123Z level=INFO msg="request finished" request_id=a ttft_ms=123
//	2026-11-30 14:05:01,123 INFO server: request a finished: ttft=0.123s, tokens=200
//	2026-11-30T14:05:01.123Z	INFO	api/serve.go:42	request finished	{"request_id": "a", "ttft_ms": 123}
//
// A pair is what a member of an object of JSON with that name and value is: numbers,
// true, false and null stand bare there too, and what is in quotes has the escapes of Go,
// most of which are those of JSON. What stands in front of the pairs is the column
// asctime, if it is a stamp, level, and msg. See prose.

// pairing is what a table does with such lines.
type pairing struct {
	lines bool // records are such lines
	short bool // the last value of the record may be cut off and is left out
	take  func(path, raw []byte, kind formats.Kind)
}

// line reads the next line that is not blank; other: it is none of such pairs.
func (t *table) line(in *jsonrows.Input) outcome {
	for {
		rest := in.Buf[in.I:]
		k := bytes.IndexByte(rest, '\n')
		if k < 0 {
			switch {
			case len(rest) < maxRecord && in.More():
				continue
			case in.Err != nil || len(rest) == 0:
				return ended
			case len(rest) >= maxRecord && !in.EOF:
				t.rec.off = in.At()
				in.SkipLine()
				return long
			}
			rest = in.Buf[in.I:] // which looking for more has moved
			k = len(rest)
		}
		t.rec.off, t.rec.last = in.At(), k == len(rest)
		in.I += min(k+1, len(rest))
		if text := bytes.TrimRight(rest[:k], " \t\r"); len(bytes.TrimLeft(text, " \t")) > 0 {
			return t.pairsOf(text)
		}
	}
}

// pairsOf takes the pairs of a line.
func (t *table) pairsOf(line []byte) outcome {
	l := pairScan{b: line, torn: t.rec.last}
	p := l.lead()
	if p.stamp != nil {
		t.plain("asctime", p.stamp)
	}
	n, odd := 0, 0 // pairs, words behind the first that are none
	for t.short = false; l.next(); {
		switch {
		case l.object:
			if t.take == nil {
				t.take = t.value
			}
			if n == 0 {
				p.words.to = l.from
			}
			end, ok := json.Walk(l.b, l.from, t.take)
			if !ok || end < len(l.b) {
				return t.unsound(&p)
			}
			t.said(line, &p)
			return found
		case l.key == nil:
			if n > 0 {
				odd++
			} else {
				p.word(&l)
			}
			continue
		case l.broken:
			return t.unsound(&p)
		}
		if n++; n == 1 {
			p.first = l.key
		}
		t.takePair(&l)
	}
	t.said(line, &p)
	t.short = l.short
	switch {
	case p.row:
	case p.stamp != nil || p.level != nil:
		if n > 0 || p.asks {
			return found
		}
	case n > 0 && p.asks, odd == 0 && (n > 1 && p.words.n == 0 || n > 2 && p.begins()):
		return found
	}
	clear(t.rec.cells)
	return other
}

// unsound tells what a line is that breaks off, or is not well formed.
func (t *table) unsound(p *prose) outcome {
	last := t.rec.last
	clear(t.rec.cells)
	switch {
	case p.stamp == nil && p.level == nil && !p.begins():
		return other
	case last:
		return truncated
	}
	return bad
}

// takePair takes the pair at hand.
func (t *table) takePair(l *pairScan) {
	switch {
	case l.quoted:
		if isNil(l.value) {
			return
		}
		t.value(l.key, l.value, formats.String)
	default:
		k := t.field(l.key)
		if k < 0 {
			return
		}
		if t.rec.cells[k] = textCell(l.value); isNil(l.value) {
			t.rec.cells[k].set = false
		}
	}
}

// isNil tells whether a value is what Go prints for nothing.
func isNil(raw []byte) bool { return string(raw) == "<nil>" || string(raw) == "nil" }

// plain takes a text that has no escapes.
func (t *table) plain(name string, raw []byte) {
	for k := range t.names { // few are wanted
		if t.names[k] == name {
			t.rec.cells[k] = cell{raw, formats.String, true}
			return
		}
	}
	if !t.frozen {
		if k := t.field([]byte(name)); k >= 0 {
			t.rec.cells[k] = cell{raw, formats.String, true}
		}
	}
}

// pairScan goes over the words and pairs of a line.
type pairScan struct {
	b    []byte
	i    int  // behind what next has found
	from int  // of it
	torn bool // the source ends with it, without a line end

	short  bool   // a value that may be cut off was left out
	open   bool   // some bracket or quote does not close: none is looked for any more
	object bool   // it is an object of JSON that ends the line
	key    []byte // nil: a word or an object
	value  []byte
	quoted bool // … is without its quotes, and may have escapes
	broken bool // … does not end
}

// next finds the next word, pair or object. Each call that returns true moves the cursor forward.
func (l *pairScan) next() bool {
	for l.i < len(l.b) && bytes.IndexByte([]byte(" \t,;|"), l.b[l.i]) >= 0 {
		l.i++
	}
	if l.i == len(l.b) {
		return false
	}
	l.from, l.key, l.broken, l.object = l.i, nil, false, false
	if c := l.b[l.i]; (c == '(' || c == '[') && l.keyAt(l.i+1) > 0 { // (ttft=0.1s, tokens=20)
		l.i++
	}
	if k := l.keyAt(l.i); k > 0 {
		l.key = l.b[l.i:k]
		l.i = k + 1
		l.take()
		return true
	}
	if l.endsWithObject() {
		l.object, l.i = true, len(l.b)
		return true
	}
	l.skip()
	l.short = l.torn && l.i == len(l.b)
	return !l.short
}

// endsWithObject reports whether the rest of the line is an object of JSON.
func (l *pairScan) endsWithObject() bool {
	rest := l.b[l.i:]
	return len(rest) > 1 && rest[0] == '{' && rest[len(rest)-1] == '}' && bytes.TrimLeft(rest[1:], " ")[0] == '"'
}

// keyAt returns where the = behind the key is that begins at i, or 0.
func (l *pairScan) keyAt(i int) int {
	if i == len(l.b) || !letter(l.b[i]) {
		return 0
	}
	for ; i < len(l.b); i++ {
		switch c := l.b[i]; {
		case letter(c) || c-'0' <= 9 || c == '.' || c == '-' || c == '/':
		case c == '=' && (i+1 == len(l.b) || l.b[i+1] != '='):
			return i
		default:
			return 0
		}
	}
	return 0
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '@' || c >= 0x80 }

// skip goes over a word, and what is in brackets that belong to it: f(a=1, b=2).
func (l *pairScan) skip() {
	if l.b[l.i] == '"' {
		if k := l.quote(); k > 0 {
			l.i = k
			return
		}
	}
	for ; l.i < len(l.b) && l.b[l.i] != ' ' && l.b[l.i] != '\t'; l.i++ {
		if c := l.b[l.i]; c == '(' || c == '{' || c == '[' && l.i > l.from {
			if k := l.bracket(); k > 0 {
				l.i = k - 1
			}
		}
	}
}

// take reads the value behind a key.
func (l *pairScan) take() {
	from := l.i
	l.quoted, l.value = false, nil
	if from == len(l.b) {
		return
	}
	switch l.b[from] {
	case '"', '\'':
		double := l.b[from] == '"'
		k := 0
		if double {
			k = closing(l.b, from)
		} else {
			k = l.quote()
		}
		if k > 0 {
			l.quoted, l.value, l.i = double, l.b[from+1:k-1], k
			return
		}
		if double {
			l.broken, l.i = true, len(l.b)
			return
		}
	case '[', '{', '(':
		if k := l.bracket(); k > 0 {
			l.value, l.i = l.b[from:k], k
			return
		}
	}
	l.bare()
}

// bare reads a value without quotes, and the unit that may stand behind a number.
func (l *pairScan) bare() {
	from := l.i
	for l.i < len(l.b) && l.b[l.i] != ' ' && l.b[l.i] != '\t' {
		if c := l.b[l.i]; (c == ',' || c == ';' || c == '|') && l.keyAt(l.i+1) > 0 {
			break
		} else if c == '(' || c == '{' {
			if k := l.bracket(); k > 0 {
				l.i = k
				continue
			}
		}
		l.i++
	}
	to := l.i
	if to == len(l.b) && l.torn { // it may be cut
		l.short = true
		return
	}
	for to > from && bytes.IndexByte([]byte(",;|"), l.b[to-1]) >= 0 {
		to--
	}
	for to > from && (l.b[to-1] == ')' && bytes.IndexByte(l.b[from:to], '(') < 0 || l.b[to-1] == ']' && bytes.IndexByte(l.b[from:to], '[') < 0) {
		to--
	}
	if l.value = l.b[from:to]; to == l.i && to > from && l.b[to-1]-'0' <= 9 && to+1 < len(l.b) && l.b[to] == ' ' {
		if k := to + 1 + unitAt(l.b[to+1:]); k > to+1 && (k < len(l.b) || !l.torn) {
			l.value, l.i = l.b[from:k], k
		}
	}
}

// unitAt returns the length of the unit that b begins with, as a word, or 0.
func unitAt(b []byte) int {
	k := 0
	for k < len(b) && k < 13 && (letter(b[k])) {
		k++
	}
	if u := unitOf(string(b[:k])); u == noUnit || u == written || k < len(b) && bytes.IndexByte([]byte(" \t,;|)]"), b[k]) < 0 {
		return 0
	}
	return k
}

// closing returns the offset behind the quote that ends the text whose quote is at i,
// or 0.
func closing(b []byte, i int) int {
	quote := b[i]
	for k := i + 1; k < len(b); k++ {
		switch b[k] {
		case '\\':
			k++
		case quote:
			return k + 1
		}
	}
	return 0
}

// quote returns the offset behind the text in quotes at the cursor, or 0.
func (l *pairScan) quote() int {
	if l.open {
		return 0
	}
	k := closing(l.b, l.i)
	l.open = k == 0
	return k
}

// bracket returns the offset behind the bracket that closes the one at the cursor, or 0.
func (l *pairScan) bracket() int {
	if l.open {
		return 0
	}
	l.open = true
	depth := 0
	for k := l.i; k < len(l.b); k++ {
		switch l.b[k] {
		case '"':
			end := closing(l.b, k)
			if end == 0 {
				return 0
			}
			k = end - 1
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				l.open = false
				return k + 1
			}
		}
	}
	return 0
}
