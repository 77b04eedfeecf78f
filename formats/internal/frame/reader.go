package frame

import "io"

// Mark begins every line of a Reader with stamps; what stands between it and the
// first space is the runtime's stamp of the line, or nothing.
const Mark = '\x1e'

// Reader is the text of a framed log without its framing: the lines of the
// process, each with a line end.
type Reader struct {
	s    *Scanner
	note func(flaw Flaw, count, first int64)
	mark bool   // whether lines begin with Mark, their stamp and a space
	head []byte // of the current line: these, still to be read
	buf  []byte // of head
	rest []byte // of the current line, still to be read
	end  bool   // whether the current line's end is still to be read
	off  int64  // of the next line in the text
	flaw [Long + 1]struct{ count, first int64 }
}

// NewReader returns the text that r holds in framing f. Lines longer than limit
// are cut. Each time a flawed line is met, note is told how many lines have had
// this flaw so far, and the offset in the text of the first of them.
func NewReader(r io.Reader, f *Framing, limit int, note func(flaw Flaw, count, first int64)) *Reader {
	return &Reader{s: NewScanner(r, f, limit), note: note}
}

// NewStampedReader is NewReader with Mark, the runtime's stamp and a space in
// front of every line. Offsets told to note do not count these.
func NewStampedReader(r io.Reader, f *Framing, limit int, note func(flaw Flaw, count, first int64)) *Reader {
	return &Reader{s: NewScanner(r, f, limit), note: note, mark: true}
}

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		switch {
		case len(r.head) > 0:
			m := copy(p[n:], r.head)
			r.head = r.head[m:]
			n += m
		case len(r.rest) > 0:
			m := copy(p[n:], r.rest)
			r.rest = r.rest[m:]
			n += m
		case r.end:
			p[n] = '\n'
			n++
			r.end = false
		case !r.next():
			if n > 0 {
				return n, nil
			}
			if err := r.s.Err(); err != nil {
				return 0, err
			}
			return 0, io.EOF
		}
	}
	return n, nil
}

// next moves to the next line.
func (r *Reader) next() bool {
	if !r.s.Next() {
		return false
	}
	line := r.s.Line()
	if line.Flaw != Sound {
		f := &r.flaw[line.Flaw]
		if f.count == 0 {
			f.first = r.off
		}
		f.count++
		r.note(line.Flaw, f.count, f.first)
	}
	if r.mark {
		r.buf = append(r.buf[:0], Mark)
		for _, c := range line.Time {
			if c <= ' ' {
				break
			}
			r.buf = append(r.buf, c)
		}
		r.buf = append(r.buf, ' ')
		r.head = r.buf
	}
	r.rest, r.end = line.Text, true
	r.off += int64(len(line.Text)) + 1
	return true
}
