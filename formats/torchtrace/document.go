package torchtrace

import (
	"bytes"
	"fmt"

	"servescope/analyzer/diag"
)

// document walks over the text of a trace and hands out its parts: the values
// of the header, and the events one at a time. It repairs what real writers get
// wrong: text that breaks off, missing commas and brackets, bare arrays,
// damaged events. Positions are offsets in the stream.
type document struct {
	w *window
	s scan
	i int // next unread byte of the window

	header func(key string, value []byte) // both valid during the call
	event  func(e *event, offset int64)   // spans point into s.b
	diag   func(code string, sev diag.Severity, offset int64, msg, fix string)

	complete int64 // events read whole
	damaged  int64 // events that could not be read
	lastEnd  int64 // offset behind the last event that was read whole
	lost     bool  // the text broke off, or an I/O error ended it
}

func newDocument(w *window) *document {
	d := &document{w: w}
	d.sync()
	return d
}

// sync shows the window to the scanner after it has moved.
func (d *document) sync() { d.s.b, d.s.n = d.w.b, d.w.n }

// more reads on, keeping the bytes from index keep; d.i moves with the window.
func (d *document) more(keep int) bool {
	ok := d.w.more(keep)
	d.i -= keep
	d.sync()
	return ok
}

func (d *document) offset(i int) int64 { return d.w.base + int64(i) }

// peek skips white space, commas and the NULs of a preallocated file, and
// returns the next byte, 0 at the end.
func (d *document) peek() byte {
	for {
		for d.i = d.s.space(d.i); d.i < d.s.n && (d.s.b[d.i] == ',' || d.s.b[d.i] == 0); d.i = d.s.space(d.i) {
			d.i++
		}
		if d.i < d.s.n {
			return d.s.b[d.i]
		}
		if !d.more(d.i) {
			return 0
		}
	}
}

// read reads the whole document.
func (d *document) read() {
	if d.more(0); bytes.HasPrefix(d.s.b[:d.s.n], []byte("\xef\xbb\xbf")) {
		d.i = 3
	}
	switch d.peek() {
	case '{':
		d.i++
		d.object()
	case '[':
		d.i++
		d.events()
	default:
		d.rest("not_a_trace", diag.Error, "the text begins neither with an object nor with an array")
		return
	}
	if !d.lost && d.peek() != 0 {
		d.rest("trailing_data", diag.DataLoss, "the trace ends, but the file goes on")
	}
}

// rest gives up the text from here on, but sees to it that it can be read.
func (d *document) rest(code string, sev diag.Severity, msg string) {
	d.lost = true
	at := d.offset(d.i)
	n := int64(d.s.n-d.i) + d.w.drain()
	if d.w.err == nil {
		d.diag(code, sev, at, fmt.Sprintf("%s; its last %d bytes are not used", msg, n), "")
	}
}

// object reads the members of the top-level object.
func (d *document) object() {
	for {
		switch d.peek() {
		case '"':
		case '}':
			d.i++
			return
		case 0:
			d.truncated()
			return
		default:
			d.damagedHeader()
			return
		}
		if !d.member() {
			return
		}
	}
}

// member reads the member at d.i: the list of events, or a value of the header.
func (d *document) member() bool {
	for {
		value, next := d.key()
		if value > 0 && string(d.s.b[d.i+1:d.i+1+len(eventsKey)]) == eventsKey && d.s.b[value] == '[' {
			d.i = value + 1
			return d.events()
		}
		if value > 0 {
			next = d.s.value(value)
		}
		switch {
		case next == bad:
			d.damagedHeader()
			return false
		case next != short:
			end := d.s.quote(d.i + 1)
			d.header(string(d.s.b[d.i+1:end]), d.s.b[value:next])
			d.i = next
			return true
		case d.more(d.i):
		case d.w.full():
			d.diag("header_too_large", diag.DataLoss, d.offset(d.i), fmt.Sprintf("a value of the header is larger than %d bytes", maxValue), "")
			return d.skipLarge()
		default:
			d.truncated()
			return false
		}
	}
}

const eventsKey = `traceEvents"`

// key returns the index of the value whose key stands at d.i, which must be in
// the window with it; else next says why not.
func (d *document) key() (value, next int) {
	end := d.s.quote(d.i + 1)
	if end < 0 {
		return 0, end
	}
	value = d.s.colon(end + 1)
	if value < 0 {
		return 0, value
	}
	if value >= d.s.n {
		return 0, short
	}
	return value, 0
}

// events reads the list of events and reports whether it has an end.
func (d *document) events() bool {
	var e event
	d.lastEnd = d.offset(d.i)
	for {
		switch d.peek() {
		case '{':
		case ']':
			d.i++
			return true
		case 0:
			d.truncated()
			return false
		default:
			if !d.recover() {
				return false
			}
			continue
		}
		switch next := d.s.event(d.i, &e); {
		case next > 0:
			d.complete++
			d.event(&e, d.offset(d.i))
			d.i = next
			d.lastEnd = d.offset(next)
		case next == bad:
			if !d.recover() {
				return false
			}
		case d.more(d.i):
		case d.w.full():
			d.damaged++
			d.diag("event_too_large", diag.DataLoss, d.offset(d.i), fmt.Sprintf("an event is larger than %d bytes", maxValue), "")
			if !d.skipLarge() {
				return false
			}
		default:
			d.damaged++
			d.truncated()
			return false
		}
	}
}

// truncated notes that the text ends too early.
func (d *document) truncated() {
	d.lost = true
	if d.w.err != nil {
		return
	}
	if d.lastEnd == 0 {
		d.lastEnd = d.offset(d.i)
	}
	d.diag("truncated", diag.DataLoss, d.lastEnd, fmt.Sprintf("truncated after event %d at byte %d", d.complete, d.lastEnd),
		"the events before are used; record again and wait until the profiler has written its file")
}

func (d *document) damagedHeader() {
	d.rest("header_malformed", diag.DataLoss, "the trace is no valid JSON from here on")
}

// recover counts a damaged event and goes on behind it: at the next thing that
// looks like the start of an event, or behind the value itself when it has
// an end and no such start is in it.
func (d *document) recover() bool {
	d.damaged++
	d.diag("event_malformed", diag.DataLoss, d.offset(d.i), "an event is no valid JSON; reading goes on with the next one", "")
	for d.s.n-d.i < maxDamage+lookAround && d.more(d.i) {
	}
	if next := d.s.value(d.i); next > 0 && next-d.i <= maxDamage && d.follows(next) {
		d.i, _ = d.search(d.i+1, next)
		return true
	}
	from := d.i + 1
	for {
		at, ok := d.search(from, d.s.n)
		if ok {
			d.i = at
			return true
		}
		keep := max(0, at-lookAround)
		d.i = keep
		if !d.more(keep) {
			d.i = d.s.n
			d.truncated()
			return false
		}
		from = at - keep
	}
}

// follows reports whether what stands at i may stand behind an event.
func (d *document) follows(i int) bool {
	c := d.s.b[d.s.space(i)]
	return c == ',' || c == ']' || c == '{'
}

// search returns the first start of an event in the window's [from, to), or
// where to go on searching.
func (d *document) search(from, to int) (at int, ok bool) {
	for from < to {
		j := bytes.IndexByte(d.s.b[from:to], '{')
		if j < 0 {
			break
		}
		from += j
		switch d.starts(from) {
		case 1:
			return from, true
		case short:
			return from, false
		}
		from++
	}
	return to, false
}

const (
	lookAround = 128       // how far before and behind a brace recover looks
	maxDamage  = 256 << 10 // how far it looks for the end of a damaged event
)

// starts reports whether an event starts at the brace at i: 1 yes, 0 no, short
// when the window does not show enough.
func (d *document) starts(i int) int {
	j := i - 1
	for j >= 0 && j > i-lookAround && (d.s.b[j] <= ' ' || d.s.b[j] == ',') {
		j--
	}
	if j < 0 || d.s.b[j] != '}' {
		return 0
	}
	j = d.s.space(i + 1)
	if d.s.n-j < lookAround/2 && !d.w.eof {
		return short
	}
	for _, key := range eventKeys {
		if bytes.HasPrefix(d.s.b[j:d.s.n], key) {
			return 1
		}
	}
	return 0
}

var eventKeys = [][]byte{[]byte(`"ph"`), []byte(`"cat"`), []byte(`"name"`), []byte(`"pid"`), []byte(`"tid"`), []byte(`"ts"`),
	[]byte(`"dur"`), []byte(`"id"`), []byte(`"args"`), []byte(`"s"`), []byte(`"bp"`)}

// skipLarge skips the value or member at d.i, which is larger than the window
// may be, byte by byte. It reports false when the text ends first.
func (d *document) skipLarge() bool {
	depth, quoted := 0, false
	for {
		for ; d.i < d.s.n; d.i++ {
			switch c := d.s.b[d.i]; {
			case quoted && c == '\\':
				d.i++
			case c == '"':
				quoted = !quoted
			case quoted:
			case c == '{', c == '[':
				depth++
			case c == '}', c == ']':
				if depth--; depth <= 0 {
					if depth == 0 {
						d.i++
					}
					d.lastEnd = d.offset(d.i)
					return true
				}
			case c == ',' && depth == 0:
				return true
			}
		}
		over := d.i - d.s.n // an escape may reach beyond the window
		d.i = d.s.n
		if !d.more(d.s.n) {
			d.truncated()
			return false
		}
		d.i += over
	}
}
