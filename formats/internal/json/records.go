package json

import (
	"bytes"
	"io"
)

// lines is the state of a cursor over JSON lines.
type lines struct {
	records  bool
	from, to int64
	own      bool // the current record starts in [from, to)
	single   bool // the current record is one line
	closed   bool // end is the end of the current record
	newline  bool // the byte before buf[0] ended a line
	over     bool // there are no more records
}

// NewRecords returns a cursor over JSON lines: a line that begins with '{'
// begins a record. The record ends with that line; only if the brace stands
// alone on it, as pretty-printers put it, does it go on to the next line that
// begins with '{'. Other lines form a record of their own with the same end.
//
// So where records begin does not depend on what they hold: one that breaks off
// does not take the next one with it, and readers of the ranges of a file agree.
// The cursor delivers the records that start in [from, to) and the other lines
// behind them; to < 0 is the end of the text. r begins at offset, which is
// from - 1, because only the byte before tells whether a line begins, or 0.
//
// Call Next before each record.
func NewRecords(r io.Reader, offset, from, to int64, size int) *Cursor {
	c := New(r, offset, size)
	c.lines = lines{records: true, from: from, to: to, own: from == 0, closed: true, over: to >= 0 && from >= to}
	return c
}

// Next skips what is left of the current record, forgets its problem, and goes
// to the next one. It reports false when there is none.
func (c *Cursor) Next() bool {
	c.reset()
	for !c.over && c.skipRecord() {
		start := c.buf[c.pos] == '{'
		if at := c.Offset(); start && at >= c.from {
			c.own = true
			c.over = c.to >= 0 && at >= c.to
		}
		c.single = start && c.oneLine()
		c.bound(c.pos + 1)
		if c.own && !c.over {
			return true
		}
	}
	c.over = true
	c.pos, c.end, c.closed = c.full, c.full, true
	return false
}

// skipRecord goes to the first byte behind the current record. It reports
// false at the end of the text, and when no record can start before to.
func (c *Cursor) skipRecord() bool {
	for !c.closed {
		c.pos = c.end
		if !c.own && c.to >= 0 && c.Offset() >= c.to || !c.fill() && !c.closed {
			return false
		}
	}
	c.pos, c.closed = c.end, false
	return c.pos < c.full || c.fill() || c.end < c.full
}

// oneLine tells whether something stands behind the brace at pos on its line.
func (c *Cursor) oneLine() bool {
	for i := c.pos + 1; ; i++ {
		if i == c.full {
			if c.done || c.pos == 0 && c.full == len(c.buf) {
				return false
			}
			c.newline = c.pos > 0 && c.buf[c.pos-1] == '\n'
			copy(c.buf, c.buf[c.pos:c.full])
			c.base += int64(c.pos)
			i, c.full, c.pos = i-c.pos, c.full-c.pos, 0
			if c.load(); i == c.full {
				return false
			}
		}
		if b := c.buf[i]; b != ' ' && b != '\t' && b != '\r' {
			return b != '\n'
		}
	}
}

var (
	lineStart = []byte("\n{")
	lineEnd   = []byte("\n")
)

// bound sets the end of the current record, whose bytes before from are known
// not to end it.
func (c *Cursor) bound(from int) {
	c.end, c.closed = c.full, false
	if !c.records || from >= c.full {
		return
	}
	end := lineEnd
	if !c.single {
		if end = lineStart; from > 0 {
			from--
		} else if c.newline && c.buf[0] == '{' {
			c.end, c.closed = 0, true
			return
		}
	}
	if i := bytes.Index(c.buf[from:c.full], end); i >= 0 {
		c.end, c.closed = from+i+1, true
	}
}

// Delimiter returns the byte without which a record does not end: the line feed,
// or of one that goes on to the next record the brace that begins that.
func (c *Cursor) Delimiter() byte {
	if c.single {
		return '\n'
	}
	return '{'
}

// Jump makes the cursor go on at the given offset, within the same containers
// and the same record, which is for the caller to know. The next byte that its
// reader gives must be the one there, and the byte before no line feed.
func (c *Cursor) Jump(offset int64) {
	c.base, c.pos, c.end, c.full = offset, 0, 0, 0
	c.done, c.closed, c.newline, c.err = false, false, false, nil
}

// SkipLine goes to the end of the line, before its line feed, or to the end of
// the record. It forgets the open containers and the problem.
func (c *Cursor) SkipLine() {
	c.reset()
	for w := c.Window(); len(w) > 0; w = c.Window() {
		if i := bytes.IndexByte(w, '\n'); i >= 0 {
			c.pos += i
			return
		}
		c.pos = c.end
	}
}

func (c *Cursor) reset() { c.depth, c.first, c.broken, c.problem = 0, true, false, Problem{} }
