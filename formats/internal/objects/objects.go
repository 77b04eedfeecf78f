// Package objects reads files that servers and gateways append to: JSON objects,
// one per line, glued together, the elements of an array or printed over several
// lines, and lines of text between them. What they mean may depend on those
// before them, so one goroutine reads them in order.
//
// An object that breaks off costs itself and no other: what follows is read from
// the next line on, or from the next element of an array on one line.
package objects

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/jsonrows"
)

const (
	chunk     = 256 << 10 // bytes read at a time
	maxRecord = 32 << 20  // bytes of the longest object or line
	batchRows = 4096
	batchGaps = 1 << 18
)

// Dialect is one format of this kind.
type Dialect struct {
	Name   string
	Run    trace.RunMeta          // of every source
	Fields map[string]int         // slots of the values that are kept, by path; see jsonrows.Walk
	New    func(out *Writer) Fold // of one source
	HowTo  string                 // where there are no requests: how to get some
	Table  bool                   // whether a source may be a table of comma-separated values, too
}

// Fold makes rows of what a source holds, in its order. Each call accounts for
// what it is given: with Parsed, Noise or Skip of its Writer.
type Fold interface {
	// Object takes an object: f has its values, text is how it is written.
	Object(f *Fields, text []byte, at int64)
	// Line takes a line of text without its end, white space around it removed.
	Line(line []byte, at int64)
	// End is called behind the last of them.
	End()
}

// reader implements formats.Reader.
type reader struct {
	Writer
	ctx   context.Context
	fold  Fold
	rc    io.ReadCloser
	err   error
	howTo string

	buf  []byte
	i    int   // of the next byte in buf
	off  int64 // of buf[0] in the source
	size int   // bytes read at a time
	eof  bool
	long int64 // objects that begin before this offset are looked for in their lines only
	over bool  // of a line that is too long the rest is skipped

	within bool // an array of objects
	torn   bool // an element of it on this line: the cursor may be within

	table  *table // nil: there are objects and lines
	begun  bool
	tables bool
	fields Fields
	batch  *trace.Batch
	ended  bool
}

// Open begins reading src.
func Open(ctx context.Context, src formats.Source, opt formats.Options, d *Dialect) (formats.Reader, error) {
	rc, err := src.Open(0)
	if err != nil {
		return nil, err
	}
	r := &reader{ctx: ctx, rc: rc, size: chunk, howTo: d.HowTo, tables: d.Table}
	if opt.Block > 0 {
		r.size = opt.Block
	}
	run := d.Run
	run.Format = d.Name
	r.Writer = Writer{Builder: trace.NewBuilder(trace.Requests), Run: &run, Lists: opt.Lists, Zone: opt.TZ}
	r.notes = assemble.Notes{File: src.Name(), Log: &r.log}
	r.account.Kinds = make(map[string]int64)
	r.fields.table = d.Fields
	r.fold = d.New(&r.Writer)
	return r, nil
}

// more reads on and reports whether there is more. In either case it moves what is
// left in buf.
func (r *reader) more() bool {
	if r.eof || r.err != nil {
		return false
	}
	if r.err = r.ctx.Err(); r.err != nil {
		return false
	}
	if r.i > 0 {
		n := copy(r.buf, r.buf[r.i:])
		r.off, r.buf, r.i = r.off+int64(r.i), r.buf[:n], 0
	}
	grow := max(r.size, len(r.buf)) // a long object is not walked again for every chunk
	if cap(r.buf)-len(r.buf) < grow {
		r.buf = append(make([]byte, 0, len(r.buf)+grow), r.buf...)
	}
	for range 100 {
		n, err := r.rc.Read(r.buf[len(r.buf) : len(r.buf)+grow])
		r.buf = r.buf[:len(r.buf)+n]
		switch {
		case err == io.EOF:
			r.eof = true
			return n > 0
		case err != nil:
			r.err = fmt.Errorf("%s: %w", r.notes.File, err)
			return false
		case n > 0:
			return true
		}
	}
	r.err = fmt.Errorf("%s: %w", r.notes.File, io.ErrNoProgress)
	return false
}

// Next implements formats.Reader.
func (r *reader) Next() bool {
	b := r.Builder
	for !r.ended && b.Rows() < batchRows && b.ListLen(trace.ChunkGaps) < batchGaps {
		if r.step() {
			continue
		}
		if r.err != nil {
			return false
		}
		r.ended = true
		r.fold.End()
		if r.Rows == 0 {
			r.Run.NoRequests = "the file holds no request; " + r.howTo
		}
		r.Run.Reported = append(r.Run.Reported, r.reported()...)
	}
	if b.Rows() == 0 {
		return false
	}
	r.batch = b.Take(r.Run, r.notes.File)
	return true
}

// step reads the next object or line. It reports false at the end.
func (r *reader) step() bool {
	if r.tables && !r.begun {
		for bytes.IndexByte(r.buf, '\n') < 0 && len(r.buf) < formats.HeadSize && r.more() {
		}
		if r.begun = true; isTable(r.buf) {
			r.table = new(table)
		}
	}
	r.space()
	if r.over { // the rest of a long line
		return r.pass()
	}
	if r.i == len(r.buf) {
		return false
	}
	switch c := r.buf[r.i]; {
	case r.table != nil:
		return r.row()
	case c == '{':
		return r.object()
	case r.torn && c != ',':
		return r.resume(0)
	case c == '[' && r.opens(), c == ',', c == ']':
		r.within = c == '[' || c == ',' && r.within
		r.i++
		return true
	}
	return r.line()
}

// space moves to the next byte that is no white space.
func (r *reader) space() {
	for !r.over {
		for r.i < len(r.buf) && (r.buf[r.i] == ' ' || r.buf[r.i] == '\n' || r.buf[r.i] == '\r' || r.buf[r.i] == '\t') {
			r.torn = r.torn && r.buf[r.i] != '\n'
			r.i++
		}
		if r.i < len(r.buf) || !r.more() {
			return
		}
	}
}

// opens tells whether the bracket at the cursor is that of an array of objects.
func (r *reader) opens() bool {
	for k := 1; ; k++ {
		if r.i+k >= len(r.buf) && !r.more() {
			return true
		}
		switch r.buf[r.i+k] {
		case ' ', '\t', '\r', '\n':
			if k > 1<<10 {
				return false
			}
		case '{', '[', ']':
			return true
		default:
			return false
		}
	}
}

// object reads the object at the cursor.
func (r *reader) object() bool {
	at := r.off + int64(r.i)
	for {
		text := r.buf[r.i:]
		if at < r.long {
			if text = line(text); len(text) == len(r.buf)-r.i && len(text) < maxRecord {
				if r.more() {
					continue
				}
				text = line(r.buf[r.i:])
			}
		}
		r.fields.Reset()
		next, ok := jsonrows.Walk(text, 0, r.fields.keep)
		if ok {
			r.fold.Object(&r.fields, text[:next], at)
			r.i += next
			return true
		}
		if next < len(text) || at < r.long { // it is broken there, or longer than its line
			if r.within && bytes.IndexByte(text[:next], '\n') < 0 {
				r.Skip(broken, at)
				return r.resume(next)
			}
			return r.skip(at, broken)
		}
		if len(text) < maxRecord && r.more() {
			continue
		}
		if r.err != nil {
			return false
		}
		r.long = r.off + int64(len(r.buf))
		if at = r.off + int64(r.i); r.eof && bytes.IndexByte(r.buf[r.i:], '\n') < 0 {
			return r.skip(at, truncated)
		}
	}
}

// skip goes on behind the line of an object that is of no use.
func (r *reader) skip(at int64, p *assemble.Problem) bool {
	r.Skip(p, at)
	return r.pass()
}

// resume moves to the next element of an array on this line, from n bytes behind
// the cursor on, or else behind the line.
func (r *reader) resume(n int) bool {
	for {
		k, found := jsonrows.Resume(r.buf, r.i+n)
		if found {
			r.i, r.torn = k, true
			return true
		}
		if k < len(r.buf) {
			return r.pass()
		}
		from := max(r.i, k-jsonrows.Behind)
		n, r.i = k-from, from
		if !r.more() {
			return r.pass()
		}
	}
}

// pass moves behind the next line feed.
func (r *reader) pass() bool {
	for {
		if k := bytes.IndexByte(r.buf[r.i:], '\n'); k >= 0 {
			r.i += k + 1
			r.over, r.torn = false, false
			return true
		}
		r.i = len(r.buf)
		if !r.more() {
			r.over = false
			return r.err == nil
		}
	}
}

// line reads the line of text at the cursor.
func (r *reader) line() bool {
	at := r.off + int64(r.i)
	for {
		text := line(r.buf[r.i:])
		if r.i+len(text) == len(r.buf) && text[len(text)-1] != '\n' && len(text) < maxRecord {
			if r.more() {
				continue
			}
			text = line(r.buf[r.i:])
		}
		if r.err != nil {
			return false
		}
		if rest, ok := bytes.CutPrefix(text, event); ok { // of a stream
			if k := len(rest) - len(bytes.TrimLeft(rest, " \t")); k < len(rest) && rest[k] == '{' {
				r.i += len(event) + k
				return r.object()
			}
		}
		if len(text) >= maxRecord {
			r.Skip(tooLong, at)
			r.i += len(text)
			r.over = text[len(text)-1] != '\n'
			return true
		}
		r.i += len(text)
		if text = bytes.TrimSpace(text); ofStream(text) {
			r.Noise()
		} else {
			r.fold.Line(text, at)
		}
		return true
	}
}

// line returns the first line of b with its end.
func line(b []byte) []byte {
	if k := bytes.IndexByte(b, '\n'); k >= 0 {
		return b[:k+1]
	}
	return b
}

var event = []byte("data:")

// ofStream tells whether a line is a comment of an event stream, its end, or a
// field other than data.
func ofStream(line []byte) bool {
	for _, field := range [...]string{":", "event:", "id:", "retry:", "data: [DONE]", "data:[DONE]"} {
		if bytes.HasPrefix(line, []byte(field)) {
			return true
		}
	}
	return false
}

var (
	broken = &assemble.Problem{Code: "broken_record", Severity: diag.DataLoss,
		Msg: "an object is no valid JSON, as when several threads write into one file: it was skipped"}
	truncated = &assemble.Problem{Code: "truncated", Severity: diag.DataLoss,
		Msg: "the file ends within an object"}
	tooLong = &assemble.Problem{Code: "line_too_long", Severity: diag.DataLoss,
		Msg: "a line is too long to be read and was skipped", Fix: "write one record per line"}
)

// Batch implements formats.Reader.
func (r *reader) Batch() *trace.Batch { return r.batch }

// Err implements formats.Reader.
func (r *reader) Err() error { return r.err }

// Diags implements formats.Reader.
func (r *reader) Diags() *diag.Log { return &r.log }

// Runs implements formats.Reader.
func (r *reader) Runs() []*trace.RunMeta { return []*trace.RunMeta{r.Run} }

// Account implements formats.Reader: of objects, and of lines that are none.
func (r *reader) Account() formats.Account { return r.account }

// Close implements formats.Reader.
func (r *reader) Close() error { return r.rc.Close() }
