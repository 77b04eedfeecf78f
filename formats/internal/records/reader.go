package records

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/json"
)

const (
	chunk     = 256 << 10 // bytes read at a time
	maxRecord = 32 << 20  // bytes of the longest object or line
	batchRows = 4096
	batchGaps = 1 << 18
)

// Dialect is a format whose records are read in order; see Open.
type Dialect struct {
	Name   string
	Run    trace.RunMeta          // of every source
	Fields map[string]int         // slots of the values that are kept, by path; see json.Walk
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

// Torn is a Fold whose objects hold lists of others.
type Torn interface {
	// Torn takes the beginning of an object that is broken, cut off or too long, and
	// returns where the last whole element of a list in it ends, or its first may begin;
	// 0: there is no list.
	Torn(text []byte, at int64) int
}

// Stepper is a Fold that has rows of the steps table at the end of the source.
type Stepper interface {
	// Steps writes the next rows, at most n; none at the end.
	Steps(b *trace.Builder, n int)
}

// reader implements formats.Reader.
type reader struct {
	Writer
	fold  Fold
	rc    io.ReadCloser
	howTo string

	in     Input
	eol    int64 // offset behind the latest line feed that was found; see first
	clear  int64 // no line feed lies between the cursor and this offset
	long   int64 // objects that begin before this offset are looked for in their lines only
	over   bool  // of a line that is too long the rest is skipped
	within bool  // an array of objects

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
	r := &reader{rc: rc, in: Input{Ctx: ctx, R: rc, Size: chunk}, howTo: d.HowTo, tables: d.Table}
	if opt.Block > 0 {
		r.in.Size = opt.Block
	}
	run := d.Run
	run.Format = d.Name
	r.Writer = newWriter(src, &run)
	r.Lists, r.Zone = opt.Lists, opt.TZ
	r.fields.table = d.Fields
	r.fold = d.New(&r.Writer)
	return r, nil
}

// Next implements formats.Reader.
func (r *reader) Next() bool {
	b := r.Builder
	for !r.ended && b.Rows() < batchRows && b.ListLen(trace.ChunkGaps) < batchGaps {
		if r.step() {
			continue
		}
		if r.in.Err != nil {
			return false
		}
		r.ended = true
		r.fold.End()
		if r.Rows == 0 {
			r.Run.NoRequests = "the file holds no request; " + r.howTo
		}
		r.Run.Reported = append(r.Run.Reported, r.reported()...)
	}
	if f, ok := r.fold.(Stepper); ok && b.Rows() == 0 {
		b = trace.NewBuilder(trace.Steps)
		f.Steps(b, batchRows)
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
		for bytes.IndexByte(r.in.Buf, '\n') < 0 && len(r.in.Buf) < formats.HeadSize && r.in.More() {
		}
		if r.begun = true; isTable(r.in.Buf) {
			r.table = new(table)
		}
	}
	r.space()
	if r.over { // the rest of a long line
		return r.pass()
	}
	if r.in.I == len(r.in.Buf) {
		return false
	}
	switch c := r.in.Buf[r.in.I]; {
	case r.table != nil:
		return r.row()
	case c == '{':
		return r.object()
	case r.in.Torn && c != ',':
		return r.element(0)
	case c == '[' && r.opens(), c == ',', c == ']':
		r.within = c == '[' || c == ',' && r.within
		r.in.I++
		return true
	}
	return r.line()
}

// space moves to the next byte that is no white space.
func (r *reader) space() {
	for !r.over {
		for r.in.I < len(r.in.Buf) && (r.in.Buf[r.in.I] == ' ' || r.in.Buf[r.in.I] == '\n' || r.in.Buf[r.in.I] == '\r' || r.in.Buf[r.in.I] == '\t') {
			r.in.Torn = r.in.Torn && r.in.Buf[r.in.I] != '\n'
			r.in.I++
		}
		if r.in.I < len(r.in.Buf) || !r.in.More() {
			return
		}
	}
}

// opens tells whether the bracket at the cursor is that of an array of objects.
func (r *reader) opens() bool {
	for k := 1; ; k++ {
		if r.in.I+k >= len(r.in.Buf) && !r.in.More() {
			return true
		}
		switch r.in.Buf[r.in.I+k] {
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
	at := r.in.At()
	for {
		text := r.in.Buf[r.in.I:]
		if at < r.long {
			if text = r.first(); len(text) == len(r.in.Buf)-r.in.I && len(text) < maxRecord {
				if r.in.More() {
					continue
				}
				text = r.first()
			}
		}
		r.fields.Reset()
		next, ok := json.Walk(text, 0, r.fields.keep)
		if ok {
			r.fold.Object(&r.fields, text[:next], at)
			r.in.I += next
			return true
		}
		if next < len(text) || at < r.long { // it is broken there, or longer than its line
			if n := r.torn(text[:next], at); n > 0 {
				r.Skip(broken, r.in.At())
				return r.element(next - n)
			}
			if r.within {
				r.Skip(broken, at)
				return r.element(next)
			}
			return r.skip(at, broken)
		}
		if len(text) < maxRecord && r.in.More() {
			continue
		}
		if r.in.Err != nil {
			return false
		}
		at = r.in.At()
		if n := r.torn(text, at); n > 0 {
			if r.in.EOF {
				r.Skip(truncated, r.in.At())
				r.in.I = len(r.in.Buf)
			}
			return true
		}
		r.long = r.in.Off + int64(len(r.in.Buf))
		if r.in.EOF && bytes.IndexByte(r.in.Buf[r.in.I:], '\n') < 0 {
			return r.skip(at, truncated)
		}
	}
}

// torn gives the beginning of an object that is not whole to a fold that reads what
// is whole within it, and goes behind that. The rest is read as that of an array. It
// returns how far it went, 0 where there is nothing.
func (r *reader) torn(text []byte, at int64) int {
	f, ok := r.fold.(Torn)
	if !ok {
		return 0
	}
	n := f.Torn(text, at)
	r.in.I += n
	r.within = r.within || n > 0
	return n
}

// skip goes on behind the line of an object that is of no use.
func (r *reader) skip(at int64, p *assemble.Problem) bool {
	r.Skip(p, at)
	return r.pass()
}

// element moves to the next element of an array on this line, from n bytes behind
// the cursor on, or else behind the line.
func (r *reader) element(n int) bool {
	r.in.SkipElement(n)
	return r.in.Err == nil
}

// pass moves behind the next line feed.
func (r *reader) pass() bool {
	more := r.in.SkipLine()
	r.over = false
	return more || r.in.Err == nil
}

// line reads the line of text at the cursor.
func (r *reader) line() bool {
	at := r.in.At()
	for {
		text := r.first()
		if r.in.I+len(text) == len(r.in.Buf) && text[len(text)-1] != '\n' && len(text) < maxRecord {
			if r.in.More() {
				continue
			}
			text = r.first()
		}
		if r.in.Err != nil {
			return false
		}
		if rest, ok := bytes.CutPrefix(text, event); ok { // of a stream
			if k := len(rest) - len(bytes.TrimLeft(rest, " \t")); k < len(rest) && rest[k] == '{' {
				r.in.I += len(event) + k
				return r.object()
			}
		}
		if len(text) >= maxRecord {
			r.Skip(tooLong, at)
			r.in.I += len(text)
			r.over = text[len(text)-1] != '\n'
			return true
		}
		r.in.I += len(text)
		if text = bytes.TrimSpace(text); ofStream(text) {
			r.Noise()
		} else {
			r.fold.Line(text, at)
		}
		return true
	}
}

// first returns the text from the cursor to the end of its line, that included, or all
// that has been read if the end is not among it. It remembers how far it has looked:
// a line may hold many records.
func (r *reader) first() []byte {
	at := r.in.At()
	if at >= r.eol {
		from := max(at, r.clear)
		k := bytes.IndexByte(r.in.Buf[from-r.in.Off:], '\n')
		if k < 0 {
			r.clear = r.in.Off + int64(len(r.in.Buf))
			return r.in.Buf[r.in.I:]
		}
		r.eol = from + int64(k) + 1
	}
	return r.in.Buf[r.in.I : r.eol-r.in.Off]
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
		Msg: "a record is not well formed, as when several threads write into one file: it was skipped"}
	truncated = &assemble.Problem{Code: "truncated", Severity: diag.DataLoss,
		Msg: "the file ends within a record"}
	tooLong = &assemble.Problem{Code: "line_too_long", Severity: diag.DataLoss,
		Msg: "a line is too long to be read and was skipped", Fix: "write one record per line"}
)

// Batch implements formats.Reader.
func (r *reader) Batch() *trace.Batch { return r.batch }

// Err implements formats.Reader.
func (r *reader) Err() error {
	if err := r.in.Err; err != nil && err != r.in.Ctx.Err() {
		return fmt.Errorf("%s: %w", r.notes.File, err)
	}
	return r.in.Err
}

// Close implements formats.Reader.
func (r *reader) Close() error { return r.rc.Close() }
