package mapping

import "bytes"

// pairScan goes over the words and key=value pairs of a line.
type pairScan struct {
	b    []byte
	i    int  // the cursor
	from int  // where the last word, pair or object begins
	torn bool // the source ends with this line, without a line end

	short  bool   // a value that may be cut off was left out
	open   bool   // a bracket or quote does not close: no other is looked for
	object bool   // a JSON object ends the line
	key    []byte // nil: a word or an object
	value  []byte
	quoted bool // value stands in double quotes and may have escapes
	broken bool // the quote of value does not close
}

// next finds the next word, pair or object. Each call that returns true moves the cursor
// forward.
func (l *pairScan) next() bool {
	for l.i < len(l.b) && bytes.IndexByte([]byte(" \t,;|"), l.b[l.i]) >= 0 {
		l.i++
	}
	if l.i == len(l.b) {
		return false
	}
	l.from, l.key, l.broken, l.object = l.i, nil, false, false
	if c := l.b[l.i]; (c == '(' || c == '[') && l.keyAt(l.i+1) > 0 { // as in (ttft=0.1s, tokens=20)
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

// keyAt returns the index of the = behind the key that begins at i, or 0 if none begins
// there.
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

// skip moves over a word and the brackets that belong to it, as in f(a=1, b=2).
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

// bare reads a value without quotes. A unit may follow a number: 1.5 s.
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

// unitAt returns the length of the unit that b begins with, or 0.
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

// closing returns the offset behind the closing quote of the text whose opening quote is
// at i, or 0.
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

// quote returns the offset behind the quoted text at the cursor, or 0.
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

// lead reads the stamp that the line may begin with and moves behind it.
func (l *pairScan) lead() (p preamble) {
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
	p.from, p.to = l.i, l.i
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
