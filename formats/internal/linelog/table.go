package linelog

import (
	"bytes"
	"fmt"
	"strings"
)

// Table is what the lines of one family of logs are recognised by. It is data:
// a new version of a server that prints a line differently is a new entry.
// Compile checks and prepares it; after that it is read-only and safe for
// concurrent use.
type Table struct {
	Slots []Slot   // the values that records carry, by number
	Heads []Head   // what stands before messages; the engine knows those of Python logging
	Leads []string // templates of what may stand between a head and any message
	Kinds []Kind   // recognisers of messages; the first that matches counts

	heads  []head
	leads  []template
	kinds  []kind       // those of Kinds, then the engine's own
	first  [256][]start // by the first byte of their template
	others []start      // templates that begin with a capture
	inside []int        // kinds with Inside for messages behind a head
	bare   []int        // and for lines without one
	starts []start      // templates for lines without one

	payloads []start // templates of kinds with payload, or to the end of the line
	rests    []start // those of them for lines without a head
	within   []start // templates of kinds that are Anywhere

	blank, message, furniture, continuation int // kinds of the engine
}

// Slot is one value of a record.
type Slot struct {
	Name string  // as in templates
	Type Type    // how its text is read
	Max  float64 // a greater value is suspicious: it is no measurement; 0: no limit
}

// Type is how the text of a value is read.
type Type uint8

// The types. A value that is nan, inf, None or has no digits is unknown: it is
// absent from the record.
const (
	Int    Type = iota // an integer; Int gives it
	Float              // a number, whatever its unit; Float gives it
	Ratio              // a share: 58.0% and 0.58 both are 0.58; Float gives it
	Nanos              // a time with its unit, or in seconds; Int gives ns
	Millis             // a time with its unit, or in milliseconds; Int gives ns
	Flag               // true where the word stands at all, or a word as True; Int gives 0 or 1
	Text               // the text without quotes, escapes as they are; Text gives it
	List               // the text of one or more numbers, separated by commas; Text gives it
	Word               // text without a space: a capture with one does not match
	Epoch              // seconds since 1970: the time of its line, better than its stamp
)

// Head is one grammar of what a logger puts before a message. Before stands in
// front of the stamp and After behind it. In both, %L is a level, %F is
// file.py:123 with or without a path, %N a dotted name, %R any number of ranks
// like " DP1 TP0", and a space any number of them. A space at the end of After
// may be missing at the end of a line.
type Head struct {
	Name          string
	Before, After string
	Peek          string // literal text that the message begins with
	Dateless      bool   // the stamp may be a time of day without a date
	UTC           bool   // a stamp without a zone is in UTC, not in local time
	Since, Until  string // versions of the server that write it; for people
}

// Kind is one recogniser: one sort of message.
//
// A template is literal text with captures: "Added request {id}.$" matches a
// message that ends with a full stop and captures what is before it, as the slot
// of that name. {} captures nothing. A capture takes the fewest bytes; $ stands
// for the end of the message.
type Kind struct {
	Name     string   // as in the account
	Start    []string // templates of the beginning of a message, of which one matches
	Inside   string   // or a template that begins with literal text, anywhere in it
	Anywhere bool     // Start may also match inside a line without a known head
	Bare     bool     // Start may match at the beginning of a line without a head, Inside in one
	Fields   []Field  // of the pairs behind the template; nil: they are not read
	Whole    bool     // the template is a part of the pairs
	Open     bool     // a key that is not in Fields is worth reporting
	Rest     bool     // the rest of the line is the record's, whatever looks like another in it
	Need     []int    // slots without which a record is incomplete
	Use      Use
	Unused   Problem // of Unused: the diag
	Since    string  // versions of the server that write it, "v0.14"; for people
	Until    string

	index int // in the table
}

// Use is what becomes of the lines of a kind.
type Use uint8

// The uses.
const (
	Parse   Use = iota // given to the Fold
	Noise              // known to carry neither time nor load: counted
	NotUsed            // carries time or load that nothing uses: a diag
)

// Field maps a key of a pair to a slot.
type Field struct {
	Key  string
	Slot int
}

// Payload in place of a slot marks a value that is text of a user: it is passed
// over up to its closing quote, so that nothing in it counts as a record.
const Payload = -2

// Ignored in place of a slot marks a value that is known and has no place in a
// table: it is not reported as an unknown field.
const Ignored = -3

// kind is a Kind ready for use.
type kind struct {
	*Kind
	inside  template
	need    uint64
	payload bool // a field is Payload, or the kind takes the rest of the line
}

// start is a template of a kind.
type start struct {
	template
	kind int
}

// template is a sequence of literal, capture, literal, …: lits has one more
// element than slots.
type template struct {
	lits  [][]byte
	slots []int
	end   bool // the last literal ends the message
}

// Compile prepares t. A mistake in it is one in the program: Compile panics.
func (t *Table) Compile() *Table {
	for _, h := range append(t.Heads[:len(t.Heads):len(t.Heads)], commonHeads...) {
		t.heads = append(t.heads, compileHead(h))
	}
	for _, l := range t.Leads {
		t.leads = append(t.leads, t.template(l))
	}
	all := append(t.Kinds[:len(t.Kinds):len(t.Kinds)], commonKinds...)
	for i := range all {
		k := all[i]
		k.index = i
		c := kind{Kind: &k, inside: t.template(k.Inside), payload: k.Rest}
		for _, slot := range k.Need {
			c.need |= 1 << slot
		}
		for _, f := range k.Fields {
			c.payload = c.payload || f.Slot == Payload
		}
		t.kinds = append(t.kinds, c)
		t.add(&k, c.payload)
	}
	t.blank, t.message, t.furniture, t.continuation = t.index("blank"), t.index("message"), t.index("furniture"), t.index("payload")
	return t
}

func (t *Table) index(name string) int {
	for i := range t.kinds {
		if t.kinds[i].Name == name {
			return i
		}
	}
	panic("linelog: no kind is named " + name)
}

// add enters a kind into the indexes of the table.
func (t *Table) add(k *Kind, payload bool) {
	for _, text := range k.Start {
		s := start{t.template(text), k.index}
		switch {
		case len(s.lits[0]) == 0:
			t.others = append(t.others, s)
		case payload:
			t.payloads = append(t.payloads, s)
		default:
			c := s.lits[0][0]
			t.first[c] = append(t.first[c], s)
		}
		if k.Anywhere {
			t.within = append(t.within, s)
		}
		if k.Bare {
			t.starts = append(t.starts, s)
		}
		if k.Bare && k.Rest {
			t.rests = append(t.rests, s)
		}
	}
	if k.Inside != "" && k.Bare {
		t.bare = append(t.bare, k.index)
	} else if k.Inside != "" {
		t.inside = append(t.inside, k.index)
	}
}

// template compiles "literal {slot} literal".
func (t *Table) template(text string) template {
	var out template
	text, out.end = strings.CutSuffix(text, "$")
	for {
		lit, rest, more := strings.Cut(text, "{")
		out.lits = append(out.lits, []byte(lit))
		if !more {
			return out
		}
		name, rest, ok := strings.Cut(rest, "}")
		slot := t.slot(name)
		if name == "" {
			slot = Unknown
		}
		if !ok || slot < 0 && name != "" {
			panic(fmt.Sprintf("linelog: template %q: no slot is named %q", text, name))
		}
		if out.slots = append(out.slots, slot); len(out.slots) > maxCaptures {
			panic(fmt.Sprintf("linelog: template %q has too many captures", text))
		}
		text = rest
	}
}

func (t *Table) slot(name string) int {
	for i := range t.Slots {
		if t.Slots[i].Name == name {
			return i
		}
	}
	return -1
}

// match matches the beginning of b. take gets each capture, in order, once all
// of the template is known to match. n is the length of what matched.
func (m *template) match(t *Table, b []byte, take func(slot int, text []byte)) (n int, ok bool) {
	if !bytes.HasPrefix(b, m.lits[0]) {
		return 0, false
	}
	n = len(m.lits[0])
	var spans [maxCaptures][2]int
	for i := range m.slots {
		lit := m.lits[i+1]
		last := i == len(m.slots)-1
		k := 0
		switch {
		case m.slots[i] >= 0 && t.Slots[m.slots[i]].Type == Int:
			for n+k < len(b) && b[n+k] == ' ' {
				k++
			}
			from := k
			for n+k < len(b) && digit(b[n+k]) {
				k++
			}
			if k == from || !bytes.HasPrefix(b[n+k:], lit) || last && m.end && n+k+len(lit) != len(b) {
				return 0, false
			}
		case last && m.end:
			if k = len(b) - n - len(lit); k < 0 || !bytes.HasSuffix(b, lit) {
				return 0, false
			}
		case len(lit) == 0:
			k = len(b) - n
		default:
			if k = bytes.Index(b[n:min(len(b), n+maxCapture)], lit); k < 0 {
				return 0, false
			}
		}
		if slot := m.slots[i]; slot >= 0 && t.Slots[slot].Type == Word && (k == 0 || bytes.ContainsAny(b[n:n+k], " \t")) {
			return 0, false
		}
		spans[i] = [2]int{n, n + k}
		n += k + len(lit)
	}
	if m.end && len(m.slots) == 0 && n != len(b) {
		return 0, false
	}
	for i, slot := range m.slots {
		take(slot, b[spans[i][0]:spans[i][1]])
	}
	return n, true
}

const maxCaptures = 6

// maxCapture bounds how far the literal behind a capture is looked for: a
// megabyte may have been sent as a request id.
const maxCapture = 64 << 10
