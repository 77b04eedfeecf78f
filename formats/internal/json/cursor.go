// Package json reads JSON as real programs write it, from a stream, in bounded
// memory, with byte offsets.
//
// A Cursor pulls one token at a time; what a caller does not want it skips at
// memory speed without decoding. Beyond the standard it takes NaN, Infinity and
// -Infinity, documents one after the other with or without separators, byte
// order marks, raw control characters and invalid UTF-8 in strings, trailing
// commas, and text that breaks off: what was complete before the end has been
// delivered, and Problem says where it ended. Nothing recurses, strings and
// containers may be of any length, and nesting is limited by MaxDepth.
//
//	c := json.New(r, 0, 0)
//	for c.Kind() == json.Object {
//		for c.Open(); c.More(); {
//			switch string(c.Key(64)) {
//			case "name":
//				name = string(c.Text(256))
//			default:
//				c.Skip()
//			}
//		}
//	}
//	if p, ok := c.Problem(); ok { … }
package json

import (
	"io"
)

// MaxDepth is the deepest nesting that is read. Real logs stay below 20.
const MaxDepth = 512

// Kind is the kind of the next value.
type Kind uint8

// The kinds of values. EOF is the end of the text or, in Records mode, of the
// record; Broken means that no value can be read here, see Problem.
const (
	EOF Kind = iota
	Broken
	Object
	Array
	String
	Number // NaN and the infinities included
	Bool
	Null // also nan, as C programs print it: in either case no number
)

// Problem is the reason why reading stopped before the end. Truncated means
// that the text ended inside a value.
type Problem struct {
	Offset    int64
	Truncated bool
	Msg       string
}

// Cursor is a position in a stream of JSON documents. Slices it returns are
// valid until its next call. After a problem every call is a no-op, More
// reports false and Kind reports Broken. It is not safe for concurrent use.
type Cursor struct {
	src  io.Reader
	err  error
	buf  []byte
	base int64 // offset of buf[0]
	pos  int   // next unread byte
	end  int   // end of the bytes that belong to the current record
	full int   // end of the bytes read
	done bool  // src is exhausted
	lines

	depth   int
	stack   [MaxDepth]byte // closing byte of each open container
	first   bool           // no member of the current container was read yet
	problem Problem
	broken  bool
	scratch []byte
	raw     []byte // a string as it is written
}

// DefaultBuffer is the number of bytes read at a time: it stays in the L2
// cache together with what is made of it.
const DefaultBuffer = 256 << 10

// minBuffer keeps the loops over the buffer free of special cases.
const minBuffer = 64

// New returns a cursor over r, whose first byte has the given offset. size is
// the length of its buffer, 0 for DefaultBuffer.
func New(r io.Reader, offset int64, size int) *Cursor {
	if size == 0 {
		size = DefaultBuffer
	}
	return &Cursor{src: r, base: offset, buf: make([]byte, max(size, minBuffer)), first: true, scratch: make([]byte, 0, minBuffer)}
}

// Offset returns the offset of the next unread byte. After Kind it is the
// offset of the next value.
func (c *Cursor) Offset() int64 { return c.base + int64(c.pos) }

// Err returns the error of the underlying reader, if it ended with one.
func (c *Cursor) Err() error { return c.err }

// Problem returns what stopped the cursor, if anything did.
func (c *Cursor) Problem() (Problem, bool) { return c.problem, c.broken }

// Window returns the unread bytes at hand, at least one unless the text or
// record ends. It lets a caller scan what it knows the structure of; Advance
// consumes.
func (c *Cursor) Window() []byte {
	if c.pos == c.end && (c.broken || !c.fill()) {
		return nil
	}
	return c.buf[c.pos:c.end]
}

// Advance consumes n bytes of the last Window.
func (c *Cursor) Advance(n int) { c.pos += n }

// Enter tells the cursor that a caller of Window consumed the opening bracket
// of an array; More and Leave then work on that array.
func (c *Cursor) Enter() bool { return c.enter(']') }

// Cut records that the text ended inside a value, for callers of Window.
func (c *Cursor) Cut() { c.truncated() }

// fill reads more once everything at hand is consumed. It reports false at the
// end of the text or record.
func (c *Cursor) fill() bool {
	if c.closed || c.done {
		return false
	}
	if c.full > 0 {
		c.newline = c.buf[c.full-1] == '\n'
	}
	c.base += int64(c.full)
	c.pos, c.end, c.full = 0, 0, 0
	c.load()
	c.bound(0)
	return c.end > 0
}

// load reads at least one byte behind those at hand, unless the text ends.
func (c *Cursor) load() {
	for had := c.full; c.full == had && !c.done; {
		n, err := c.src.Read(c.buf[c.full:])
		c.full += n
		if err != nil {
			c.done = true
			if err != io.EOF {
				c.err = err
			}
		}
	}
}

// fail stops the cursor at the next unread byte.
func (c *Cursor) fail(msg string) bool {
	if !c.broken {
		c.broken, c.problem = true, Problem{Offset: c.Offset(), Msg: msg}
	}
	return false
}

func (c *Cursor) truncated() bool {
	if !c.broken {
		at := c.Offset()
		if c.closed { // the line feed that ends the record
			at--
		}
		c.broken, c.problem = true, Problem{at, true, "the text ends inside a value"}
	}
	return false
}
