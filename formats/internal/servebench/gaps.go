package servebench

import (
	"bytes"
	"cmp"
	"errors"
	"io"

	"servescope/formats/internal/json"
	"servescope/formats/internal/numx"
)

// errChanged means that the second look at a file did not find what the first
// one saw.
var errChanged = errors.New("the file changed while it was read")

// part is the gaps of consecutive requests.
type part struct {
	gaps  []int64
	lists []list
	next  int // first list not yet taken
}

// list is where the gaps of one request end in part.gaps. bad means that some
// entry was no duration: the list is empty then.
type list struct {
	end int
	bad bool
}

func (p *part) reset() { p.gaps, p.lists, p.next = p.gaps[:0], p.lists[:0], 0 }

// take returns the gaps of the next request; ok is false when they are unusable.
func (p *part) take() (gaps []int64, ok bool) {
	from := 0
	if p.next > 0 {
		from = p.lists[p.next-1].end
	}
	l := p.lists[p.next]
	p.next++
	return p.gaps[from:l.end], !l.bad
}

// close ends a list that began at start.
func (p *part) close(start int, bad bool) {
	if bad {
		p.gaps = p.gaps[:start]
	}
	p.lists = append(p.lists, list{len(p.gaps), bad})
}

// maxGaps is the longest list that is kept. No model generates as many tokens
// in one response; a file that claims so must not decide how much memory we use.
const maxGaps = 8 << 20

// parser reads lists of gaps from text that the index pass found to be plain:
// every '[' begins a list, every ']' ends one, and there are no strings.
type parser struct {
	r        io.Reader
	buf      []byte
	base     int64 // offset of buf[0]
	pos, end int
	step     int // bytes to read at a time once the buffer was filled
}

// slack is what a worker reads beyond its block at first: the end of the list
// that crosses the block's end is usually there.
const slack = 8 << 10

// line is the length of a cache line: as much room more than it needs has a buffer
// that alongside is asked about.
const line = 64

// alongside returns n bytes of buf, which begins with a cache line, that are as far
// behind the beginning of one as offset off is in the file. The system copies to
// them up to three times as fast, and nothing has to be moved afterwards.
func alongside(buf []byte, off, n int64) []byte { return buf[off%line:][:n] }

// start makes the parser read r, whose first byte has the given offset.
func (p *parser) start(r io.Reader, offset int64) {
	p.r, p.base, p.pos, p.end = r, offset, 0, 0
}

// offset returns the offset of the next unread byte.
func (p *parser) offset() int64 { return p.base + int64(p.pos) }

// fill drops what was consumed, but for less than a line, so that what remains
// lies alongside the file as it did, and reads on. It reports false at the end, and
// when the buffer is full of one number.
func (p *parser) fill() (bool, error) {
	room := p.buf
	if p.end > 0 {
		to := p.pos % line
		if p.end-p.pos+to == len(p.buf) {
			to = 0
		}
		copy(p.buf[to:], p.buf[p.pos:p.end])
		p.base += int64(p.pos - to)
		p.pos, p.end = to, p.end-p.pos+to
		room = p.buf[p.end:min(len(p.buf), p.end+p.step)]
	}
	if len(room) == 0 {
		return false, nil
	}
	n, err := io.ReadFull(p.r, room)
	p.end += n
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return n > 0, err
}

// block appends the lists that begin before limit to out.
func (p *parser) block(out *part, limit int64) error {
	for {
		i := bytes.IndexByte(p.buf[p.pos:p.end], '[')
		if i < 0 {
			p.pos = p.end
			if p.offset() >= limit {
				return nil
			}
			if more, err := p.fill(); err != nil || !more {
				return err
			}
			continue
		}
		p.pos += i
		if p.offset() >= limit {
			return nil
		}
		p.pos++
		if err := p.list(out); err != nil {
			return err
		}
	}
}

// list appends one list, the rest of which begins at pos.
func (p *parser) list(out *part) error {
	start := len(out.gaps)
	for {
		var n int
		var stop numx.Stop
		out.gaps, n, stop = numx.List(out.gaps, p.buf[p.pos:p.end], numx.Second, true)
		p.pos += n
		switch stop {
		case numx.End:
			out.close(start, len(out.gaps)-start > maxGaps)
			return nil
		case numx.Odd:
			return p.bad(out, start)
		}
		more, err := p.fill()
		switch {
		case err != nil:
			return err
		case len(out.gaps)-start > maxGaps, !more && p.end == len(p.buf): // a number as long as the buffer
			return p.bad(out, start)
		case more:
		default:
			return errChanged
		}
	}
}

// bad skips the rest of a list that cannot be used.
func (p *parser) bad(out *part, start int) error {
	for {
		if i := bytes.IndexByte(p.buf[p.pos:p.end], ']'); i >= 0 {
			p.pos += i + 1
			out.close(start, true)
			return nil
		}
		p.pos = p.end
		if more, err := p.fill(); err != nil || !more {
			return errors.Join(err, errChanged)
		}
	}
}

// oddLists reads the lists of an array whose entries may be anything.
type oddLists struct {
	c *json.Cursor
}

// next appends the next list to out. ok is false at the end. Where the text is no
// JSON, that list and those behind it cannot be used: the index pass, which looks
// at brackets only, has counted them.
func (o *oddLists) next(out *part) (ok bool, err error) {
	if !o.c.More() {
		if err := o.err(); err != nil {
			return false, err
		}
		if _, broken := o.c.Problem(); broken {
			out.close(len(out.gaps), true)
			return true, nil
		}
		return false, nil
	}
	start, bad := len(out.gaps), false
	if o.c.Kind() != json.Array {
		o.c.Skip()
		out.close(start, true)
		return true, o.c.Err()
	}
	for o.c.Open(); o.c.More(); {
		b := o.c.Literal()
		if b == nil {
			bad = true
			o.c.Skip()
			continue
		}
		v, n, ok := numx.Scaled(b, numx.Second)
		bad = bad || !ok || n != len(b) || len(out.gaps)-start == maxGaps
		if !bad {
			out.gaps = append(out.gaps, v)
		}
	}
	_, broken := o.c.Problem()
	out.close(start, bad || broken)
	return true, o.err()
}

// err returns an I/O error, or errChanged where the text ends early: all that the
// index pass has counted was complete.
func (o *oddLists) err() error {
	if p, broken := o.c.Problem(); broken && p.Truncated {
		return cmp.Or(o.c.Err(), errChanged)
	}
	return o.c.Err()
}
