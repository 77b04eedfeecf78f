package tokenlog

import (
	"encoding/binary"
	"math/bits"

	"servescope/formats/internal/assemble"
	"servescope/formats/internal/numx"
)

// template is the layout of an event line, learned from one: the bytes before
// and between its three values. Most lines of a log have one layout, and
// comparing its bytes is much faster than reading keys.
type template struct {
	lit    [3]literal
	order  [3]kind // eventTime, text (the request's id) or eventName
	scale  int     // of the time
	quoted bool    // a quote follows the last value
}

// literal is up to 24 bytes, compared eight at a time.
type literal struct {
	word, mask [3]uint64
	size       int
}

const maxLiteral = 24

func makeLiteral(b []byte) (l literal, ok bool) {
	if len(b) > maxLiteral {
		return l, false
	}
	var word, mask [maxLiteral]byte
	for i, c := range b {
		word[i], mask[i] = c, 0xff
	}
	for i := range l.word {
		l.word[i] = binary.LittleEndian.Uint64(word[8*i:])
		l.mask[i] = binary.LittleEndian.Uint64(mask[8*i:])
	}
	l.size = len(b)
	return l, true
}

// match reports whether b, which has at least 24 bytes, begins with l.
func (l *literal) match(b []byte) bool {
	w := (*[maxLiteral]byte)(b)
	return (binary.LittleEndian.Uint64(w[0:])^l.word[0])&l.mask[0]|
		(binary.LittleEndian.Uint64(w[8:])^l.word[1])&l.mask[1]|
		(binary.LittleEndian.Uint64(w[16:])^l.word[2])&l.mask[2] == 0
}

// learn returns the layout of the line at i, if it is plain: the first members
// that the format knows are ts, request_id and event, without escapes. What
// stands between them must be the same in every line.
func (s *scanner) learn(i int) (t template, ok bool) {
	s.start(i)
	if s.space(); s.text[s.i] != '{' {
		return t, false
	}
	s.i++
	from := i
	seen := map[kind]bool{}
	for n := 0; n < len(t.order); {
		s.space()
		f, ok := s.key()
		if !ok || f != nil && (!f.isPlace() || seen[f.kind]) {
			return t, false
		}
		value := s.i
		if !s.skip() {
			return t, false
		}
		if f != nil {
			if s.text[value] == '"' {
				value++ // the quotes belong to what stands before and behind
			}
			if t.lit[n], ok = makeLiteral(s.text[from:value]); !ok || !s.plainValue(f, value) {
				return t, false
			}
			t.order[n] = f.kind
			if seen[f.kind] = true; f.kind == eventTime {
				t.scale = int(f.scale)
			}
			from = s.i
			if s.text[value-1] == '"' {
				from--
			}
			n++
		}
		if s.space(); s.text[s.i] != ',' {
			break
		}
		s.i++
	}
	t.quoted = t.order[2] != eventTime
	return t, len(seen) == len(t.order)
}

// isPlace reports whether a template has a place for the field.
func (f *field) isPlace() bool {
	return f.kind == eventTime || f.kind == eventName || f.name == "request_id"
}

// plainValue reports whether the value that begins at from and ends before the
// cursor, quotes apart, is one that match reads.
func (s *scanner) plainValue(f *field, from int) bool {
	if f.kind == eventTime {
		_, n, ok := numx.Scaled(s.text[from:], int(f.scale))
		return ok && from+n == s.i
	}
	return s.text[from-1] == '"' && stop(s.text, from) == s.i-1 && from < s.i-1
}

// match reads the event at i by the template. next is where the object goes on
// behind the three values; ok is false when the line has another layout.
func (t *template) match(b []byte, i int, ev *assemble.Event) (next int, ok bool) {
	for k := range t.order {
		if !t.lit[k].match(b[i:]) {
			return 0, false
		}
		i += t.lit[k].size
		switch t.order[k] {
		case eventTime:
			var n int
			if t.scale == numx.Second {
				ev.At, n, ok = numx.Seconds(b[i:])
			} else {
				ev.At, n, ok = numx.Scaled(b[i:], t.scale)
			}
			if !ok || ev.At <= 0 {
				return 0, false
			}
			i += n
		case eventName:
			kind, n := eventWord(b[i:])
			if n == 0 {
				return 0, false
			}
			ev.Kind = kind
			i += n
		default:
			ev.ID.From = uint32(i)
			if i, ev.Hash = hashText(b, i); b[i] != '"' || i == int(ev.ID.From) {
				return 0, false
			}
			ev.ID.To = uint32(i)
		}
	}
	if t.quoted {
		if b[i] != '"' {
			return 0, false
		}
		i++
	}
	return i, true
}

// hashText hashes the text at b[i:] up to a quote, backslash or control
// character, and returns the offset of that.
func hashText(b []byte, i int) (end int, hash uint64) {
	from := i
	h := assemble.HashSeed
	for {
		x := binary.LittleEndian.Uint64(b[i:])
		if m := notPlain(x); m != 0 {
			n := bits.TrailingZeros64(m) >> 3
			h = assemble.Mix(h, x&(1<<(8*n)-1))
			return i + n, assemble.Mix(h, uint64(i+n-from))
		}
		h = assemble.Mix(h, x)
		i += 8
	}
}

// eventNames are the names of the kinds of events.
var eventNames = [...]string{
	assemble.Arrival: "arrival", assemble.Dispatched: "dispatched", assemble.Queued: "queued", assemble.Admitted: "admitted",
	assemble.PrefillStart: "prefill_start", assemble.PrefillEnd: "prefill_done", assemble.FirstEvent: "first_event",
	assemble.Token: "token", assemble.Finish: "finish", assemble.Failure: "error", assemble.Abort: "abort",
}

// eventNameOf returns s as a text, without allocation where it is one of the
// names of events.
func eventNameOf(s []byte) string {
	for _, name := range eventNames {
		if string(s) == name {
			return name
		}
	}
	return string(s)
}

// eventWord returns the kind of the event whose name b begins with, before a
// quote, and the name's length, or 0.
func eventWord(b []byte) (assemble.Kind, int) {
	const token, six = 't' | 'o'<<8 | 'k'<<16 | 'e'<<24 | 'n'<<32 | '"'<<40, 1<<48 - 1
	if binary.LittleEndian.Uint64(b)&six == token {
		return assemble.Token, 5
	}
	for k, name := range eventNames {
		if n := len(name); string(b[:n]) == name && b[n] == '"' {
			return assemble.Kind(k), n
		}
	}
	return 0, 0
}
