package linelog

import (
	"bytes"

	"servescope/formats/internal/numx"
	"servescope/formats/internal/pyrepr"
)

// Value is one value of a record.
type Value struct {
	Slot int // in the table; Unknown for a key that the kind does not list
	Int  int64
	Num  float64
	Text []byte // of an Unknown: its key
}

// Unknown in place of a slot marks a key that is not in the kind's Fields.
const Unknown = -1

// pairs reads the values behind a template. It takes the styles that servers
// print, in any order and mixture:
//
//	Running: 10 reqs, KV usage: 58.0%      key, colon, number, unit
//	rate: 0.92, 0.61, next: 3              a list is part of its key's value
//	hit rate: GPU: 1.0%, CPU: 2.0%         keys "hit rate: GPU" and "CPU"
//	7986 context tokens, 3.00 ms (dummy)   number before its key; a word as flag
//	start=1.5, transfer=80.00ms; n(2)      other separators, name(value)
//	Call(id=a, n=1): t(5) = a(2) + b(3)    and sums of these
//	params: Params(n=1, stop=['a, b'])     a call's arguments are pairs too
//	prompt: 'it\'s'                        Python text, passed over as a whole
type pairs struct {
	b      []byte
	i      int
	kind   *kind
	guess  int  // index of the field that is expected next
	list   int  // where the list begins that the last value is; 0: it is none
	cut    bool // the text ends in the middle of a line
	behind int  // the end of the last payload
	open   bool // no bracket closes any more
	line   *lineState
}

// lineState collects what a scan of one record finds.
type lineState struct {
	t       *Table
	values  []Value
	have    uint64 // slots
	strange bool   // a value that is no measurement
	payload bool   // a quote of payload is not closed
	epoch   Stamp  // of a value that is the time of its line
	torn    bool   // the message ends within its template

	base     int    // of the values, where those of the record begin
	size     int    // capacity of the message, which tells where a part of it stands
	marks    []mark // see layout
	captures int    // how many of them are of the template
	rigid    bool   // the message has what no layout describes

	others [][]byte // see simple
}

// restart forgets what was read of a message.
func (l *lineState) restart() {
	l.values, l.have, l.marks, l.captures, l.rigid = l.values[:l.base], 0, l.marks[:0], 0, false
}

// lastValue returns which value of the record was added last.
func (l *lineState) lastValue() int { return len(l.values) - 1 - l.base }

// scan reads all pairs.
func (p *pairs) scan() {
	for p.i < len(p.b) {
		c := p.b[p.i]
		switch {
		case c == ' ' || c == ',' || c == ';' || c == ')' || c == '|' || c == '\t' || c == ':' || c == '=' || c == '+':
			p.i++
		case digit(c) || c == '-' && p.i+1 < len(p.b) && digit(p.b[p.i+1]):
			p.reversed()
		case c == '(':
			p.flag()
		case p.expected():
		default:
			p.pair()
		}
	}
}

// expected reads a pair whose key is one of the fields that are still to come, the
// next mostly; its end need not be looked for.
func (p *pairs) expected() bool {
	rest := p.b[p.i:]
	for i := p.guess; i < len(p.kind.Fields); i++ {
		key := p.kind.Fields[i].Key
		n := len(key)
		if n == 0 || len(rest) < n+2 || rest[0] != key[0] || rest[n] != ':' && rest[n] != '=' || string(rest[:n]) != key {
			continue
		}
		stop := &behindEquals
		next := p.i + n + 1
		if rest[n] == ':' {
			for stop = &behindColon; next < len(p.b) && p.b[next] == ' '; {
				next++
			}
			if nested(p.b, next) {
				return false
			}
		}
		p.guess, p.i = i, next
		p.value(rest[:n], stop)
		return true
	}
	return false
}

// reversed reads "7986 context tokens", or a further number of a list.
func (p *pairs) reversed() {
	from := p.i
	end := numberEnd(p.b, from)
	if end < len(p.b) && p.b[end] == ' ' && end+1 < len(p.b) && letter(p.b[end+1]) {
		k := end + 1
		for k < len(p.b) && p.b[k] != ',' && p.b[k] != ';' && p.b[k] != '(' {
			k++
		}
		p.i = k
		key := bytes.TrimRight(p.b[end+1:k], " ")
		p.emit(p.field(key), key, p.b[from:end], nil)
		return
	}
	p.i = max(p.skipTo(end, ","), from+1)
	if n := len(p.line.values); p.list > 0 && n > 0 && !(p.cut && end == len(p.b)) {
		p.line.values[n-1].Text = p.b[p.list:end]
	}
}

// flag reads "(dummy)".
func (p *pairs) flag() {
	k := -1
	if !p.open {
		k = bytes.IndexByte(p.b[p.i:], ')')
	}
	if k < 0 {
		p.open = true
		p.i++
		return
	}
	word := p.b[p.i+1 : p.i+k]
	p.i += k + 1
	if f := p.field(word); f >= 0 && p.line.t.Slots[f].Type == Flag {
		p.line.add(Value{Slot: f, Int: 1})
	}
}

// pair reads a key, what separates it from its value, and the value.
func (p *pairs) pair() {
	from := p.i
	for i := from; i < len(p.b); i++ {
		switch c := p.b[i]; c {
		case ':':
			next := i + 1
			for next < len(p.b) && p.b[next] == ' ' {
				next++
			}
			if nested(p.b, next) {
				i = next
				continue
			}
			p.i = next
			p.value(keyText(p.b[from:i]), &behindColon)
			return
		case '=':
			p.i = i + 1
			p.value(keyText(p.b[from:i]), &behindEquals)
			return
		case '(':
			if i > from && p.b[i-1] != ' ' && i+1 < len(p.b) && digit(p.b[i+1]) { // name(value)
				p.i = i + 1
				p.value(p.b[from:i], &inParentheses)
				return
			}
			if k := bytes.IndexByte(p.b[i:min(i+40, len(p.b))], ')'); k > 0 { // gen throughput (token/s)
				i += k
			}
		case ',', ';':
			p.i = i + 1
			return
		}
	}
	p.i = len(p.b)
}

// keyText returns a key without what may stand around it: {'key': …
func keyText(b []byte) []byte {
	b = bytes.TrimSpace(b[bytes.LastIndexByte(b, '{')+1:])
	if n := len(b); n > 1 && (b[0] == '\'' || b[0] == '"') && b[n-1] == b[0] {
		b = b[1 : n-1]
	}
	return b
}

// nested reports whether another key stands where a value should: a short word
// and a colon.
func nested(b []byte, i int) bool {
	from := i
	for i < len(b) && i-from < 16 && letter(b[i]) {
		i++
	}
	return i > from && i+1 < len(b) && b[i] == ':' && b[i+1] == ' '
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// stops says which bytes end a value.
type stops struct{ text, number string }

var (
	behindColon   = stops{",;", ",;("}
	behindEquals  = stops{",; )}", ",; )}("}
	inParentheses = stops{")", ")("}
)

// value reads the value of a key.
func (p *pairs) value(key []byte, stop *stops) {
	if p.i >= len(p.b) {
		return
	}
	from := p.i
	p.list = 0
	switch c := p.b[from]; {
	case digit(c) || (c == '-' || c == '+') && from+1 < len(p.b) && digit(p.b[from+1]):
		end := numberEnd(p.b, from)
		p.i = p.skipTo(end, stop.number)
		if p.cut && (end == len(p.b) || end == len(p.b)-1 && p.b[end] == '.') {
			return // the number may go on
		}
		if f := p.field(key); f >= 0 && (p.line.t.Slots[f].Type == Word || p.line.t.Slots[f].Type == Text) {
			p.text(f, bytes.TrimSpace(p.b[from:p.i])) // it only begins with a number
			return
		} else if whole := grouped(p.b, end); whole > end && f >= 0 && p.line.t.Slots[f].Type != List {
			p.line.rigid = true
			p.i = p.skipTo(whole, stop.number)
			p.emit(f, key, bytes.ReplaceAll(p.b[from:whole], []byte{','}, nil), bytes.TrimSpace(p.b[whole:p.i]))
		} else {
			p.emit(f, key, p.b[from:end], bytes.TrimSpace(p.b[end:p.i]))
		}
		if n := len(p.line.values); n > 0 && p.line.isList(n-1) {
			p.list = from
		}
	case c == '\'' || c == '"':
		f := p.field(key)
		end, closed := pyrepr.QuoteEnd(p.b, from)
		for f == Payload && closed && end < len(p.b) && !bytes.ContainsRune([]byte(",.)]}"), rune(p.b[end])) {
			end, closed = pyrepr.QuoteEnd(p.b, end-1) // a quote in the text that was not escaped
		}
		p.i = end
		if f == Payload {
			p.line.payload, p.behind = !closed, end
		} else if f >= 0 && closed {
			p.text(f, p.b[from+1:end-1])
		}
	case c == '[' || c == '{' || c == '<':
		p.i = bracketEnd(p.b, from)
		if f := p.field(key); f >= 0 {
			p.text(f, p.b[from:p.i])
		}
	default:
		end := p.skipTo(from, stop.number)
		if end < len(p.b) && p.b[end] == '(' && end > from && nameByte(p.b[end-1]) { // a call: its arguments follow
			p.i = end + 1
			return
		}
		if end = p.skipTo(end, stop.text); p.cut && end == len(p.b) {
			p.i = end
			return
		}
		p.i = end
		p.word(key, bytes.TrimSpace(p.b[from:end]))
	}
}

// word takes a value that is neither a number nor quoted.
func (p *pairs) word(key, w []byte) {
	f := p.field(key)
	if f < 0 {
		if f == Unknown {
			p.unknown(key)
		}
		return
	}
	switch p.line.t.Slots[f].Type {
	case Text, Word:
		if len(w) > 0 && string(w) != "None" {
			p.text(f, w)
		}
	case Flag:
		switch string(w) {
		case "True", "true":
			p.line.add(Value{Slot: f, Int: 1})
		case "False", "false":
			p.line.add(Value{Slot: f})
		}
	}
}

func (p *pairs) text(f int, text []byte) {
	if t := p.line.t.Slots[f].Type; t == Text || t == List || t == Word {
		if p.line.add(Value{Slot: f, Text: text}); t == Word {
			p.line.mark(text, mark{kind: wordHole, value: p.line.lastValue()})
		}
	}
}

// emit takes a number with the unit behind it, for a slot, or for none.
func (p *pairs) emit(f int, key, num, unit []byte) {
	if f < 0 {
		p.line.mark(num, mark{value: -1})
		if f == Unknown {
			p.unknown(key)
		}
		return
	}
	p.line.number(f, num, unit)
}

// unknown keeps a key that the kind does not know.
func (p *pairs) unknown(key []byte) {
	if p.kind.Open && len(key) > 0 && len(key) <= 64 {
		p.line.values = append(p.line.values, Value{Slot: Unknown, Text: key})
	}
}

// field returns the slot of a key, Unknown, or Payload. Fields stand in their
// usual order.
func (p *pairs) field(key []byte) int {
	fields := p.kind.Fields
	for n := range fields {
		i := p.guess + n
		if i >= len(fields) {
			i -= len(fields)
		}
		if string(key) == fields[i].Key {
			p.guess = i + 1
			return fields[i].Slot
		}
	}
	return Unknown
}

// skipTo returns the first index from i on of a byte in stop, or the end.
func (p *pairs) skipTo(i int, stop string) int {
	for ; i < len(p.b); i++ {
		for j := range len(stop) {
			if p.b[i] == stop[j] {
				return i
			}
		}
	}
	return i
}

func (l *lineState) isList(i int) bool {
	v := &l.values[i]
	return v.Slot >= 0 && l.t.Slots[v.Slot].Type == List
}

func (l *lineState) add(v Value) {
	l.values = append(l.values, v)
	l.have |= 1 << v.Slot
}

// number takes the text of a number for a slot.
func (l *lineState) number(f int, num, unit []byte) {
	s := &l.t.Slots[f]
	v := Value{Slot: f}
	if s.Type == Epoch {
		l.rigid = true
		if l.strange = l.strange || !epochStamp(num, &l.epoch); !l.strange {
			l.have |= 1 << f
		}
		return
	}
	if s.Type >= Text {
		l.rigid = true
		v.Text = num
		l.add(v)
		return
	}
	m := mark{typ: s.Type, max: s.Max}
	d, ok := plainDecimal(num)
	switch s.Type {
	case Int, Flag:
		ok = ok && d.frac == 0
		v.Int = d.digits
		v.Num = float64(v.Int)
	case Float:
		v.Num = float64(d.digits) / pow10[d.frac]
	case Ratio:
		if len(unit) > 0 && unit[0] == '%' {
			d.frac += 2
			m.scale = 2
		}
		v.Num = float64(d.digits) / pow10[d.frac]
	case Nanos, Millis:
		m.scale = scale(s.Type, unit)
		if v.Int, _, ok = numx.Scaled(num, m.scale); ok {
			v.Num = float64(v.Int)
		}
	}
	if !ok || s.Max > 0 && (v.Num > s.Max || v.Num < 0) {
		l.strange = true
		return
	}
	l.add(v)
	m.value = l.lastValue()
	l.mark(num, m)
}

// decimal is a number of few enough digits that float64(digits) is exact, and so
// the quotient with a power of ten is rounded once.
type decimal struct {
	digits int64
	frac   int // of these, behind the point
}

const maxDigits = 15

var pow10 = [maxDigits + 3]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17}

// plainDecimal reads a number without an exponent: no server prints one. It
// reports false for another, and for one of too many digits.
func plainDecimal(num []byte) (d decimal, ok bool) {
	i, point := 0, -1
	neg := len(num) > 0 && num[0] == '-'
	if neg || len(num) > 0 && num[0] == '+' {
		i = 1
	}
	from := i
	for ; i < len(num); i++ {
		c := num[i] - '0'
		switch {
		case c <= 9:
			d.digits = d.digits*10 + int64(c)
		case num[i] == '.' && point < 0:
			point = i
		default:
			return d, false
		}
		if i-from > maxDigits {
			return d, false
		}
	}
	if n := i - from; n == 0 || point >= 0 && n > maxDigits+1 || point < 0 && n > maxDigits {
		return d, false
	}
	if point >= 0 {
		d.frac = i - point - 1
	}
	if neg {
		d.digits = -d.digits
	}
	return d, true
}

// scale returns the power of ten of a unit of time in ns.
func scale(t Type, unit []byte) int {
	switch {
	case bytes.HasPrefix(unit, []byte("ms")):
		return numx.Millisecond
	case bytes.HasPrefix(unit, []byte("us")), bytes.HasPrefix(unit, []byte("µs")):
		return numx.Microsecond
	case bytes.HasPrefix(unit, []byte("ns")):
		return numx.Nanosecond
	case bytes.HasPrefix(unit, []byte("s")) || t == Nanos:
		return numx.Second
	}
	return numx.Millisecond
}
