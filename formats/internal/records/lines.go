package records

import (
	"bytes"
	"context"
	"errors"
	"io"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/block"
	"servescope/formats/internal/json"
)

// LineDialect is a format whose records are objects of one line each; see OpenLines.
type LineDialect struct {
	Name   string
	Wanted string        // what a line of the format is, for messages
	Run    trace.RunMeta // of every source
	New    func() Parser // one per goroutine
	Anchor []byte        // the text that begins a record, by which one is found behind another that breaks off
}

// Parser makes rows of one object at a time.
type Parser interface {
	// Begin forgets the object before.
	Begin()
	// Value takes a value as Walk visits it. The slices are not to be kept.
	Value(path, raw []byte, kind formats.Kind)
	// Rows adds the rows of the object that was read to b, with EndRow, and
	// returns its kind for the account, or why it is skipped.
	Rows(b *trace.Builder, offset int64, note func(*assemble.Problem)) (kind string, skip *assemble.Problem)
}

var notJSON = &assemble.Problem{Code: "bad_json", Severity: diag.DataLoss,
	Msg: "a line is not a JSON object and was skipped"}

// lineReader implements formats.Reader.
type lineReader struct {
	Writer
	dialect *LineDialect
	src     formats.Source
	stream  *block.Stream[*lineScan]
	batch   *trace.Batch
	done    bool
}

// OpenLines begins reading the lines that start in rng.
func OpenLines(ctx context.Context, src formats.Source, rng formats.Range, opt formats.Options, d *LineDialect) (formats.Reader, error) {
	run := d.Run
	run.Format = d.Name
	r := &lineReader{dialect: d, src: src, Writer: newWriter(src, &run)}
	fresh := func() *lineScan {
		return &lineScan{Writer: newWriter(src, &run), anchor: d.Anchor, parser: d.New()}
	}
	if rng.From == 0 && rng.To != 0 {
		if err := r.probe(fresh()); err != nil {
			return nil, err
		}
	}
	r.stream = block.Map(ctx, src, rng, block.Options{Workers: opt.Workers, Block: opt.Block}, fresh, func(b *block.Block, s *lineScan) {
		s.block(b)
		s.batch = s.Builder.Take(&run, src.Name())
	})
	return r, nil
}

// probe says so when the first lines of the source hold no record: the format
// was forced. It depends on the source only, not on how it is cut.
func (r *lineReader) probe(s *lineScan) error {
	rc, err := r.src.Open(0)
	if err != nil {
		return err
	}
	defer rc.Close()
	head := make([]byte, formats.HeadSize)
	n, err := io.ReadFull(rc, head)
	head = head[:n]
	if err == nil { // more follows
		if head = head[:bytes.LastIndexByte(head, '\n')+1]; len(head) == 0 {
			return nil
		}
	} else if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil // it comes again when the source is read
	}
	s.block(&block.Block{Data: head, TooLong: -1})
	if s.account.Parsed == 0 {
		r.log.Add(diag.Diag{Code: "no_records", Severity: diag.Notice, File: r.src.Name(), Offset: -1, Msg: "none of the first lines is " + r.dialect.Wanted})
	}
	return nil
}

// Next implements formats.Reader.
func (r *lineReader) Next() bool {
	for r.stream.Next() {
		s := r.stream.Value()
		r.merge(&s.Writer)
		if s.batch.Rows > 0 {
			r.batch = s.batch
			return true
		}
	}
	if !r.done {
		r.done = true
		r.log.Merge(r.stream.Diags())
	}
	return false
}

// Batch implements formats.Reader.
func (r *lineReader) Batch() *trace.Batch { return r.batch }

// Err implements formats.Reader.
func (r *lineReader) Err() error { return r.stream.Err() }

// Close implements formats.Reader.
func (r *lineReader) Close() error { return r.stream.Close() }

// lineScan is what one block becomes.
type lineScan struct {
	Writer
	anchor []byte
	parser Parser
	batch  *trace.Batch
	at     int64 // of the record that is read
}

func (s *lineScan) block(b *block.Block) {
	s.reset()
	if b.TooLong >= 0 { // its diag is the stream's
		s.account.Total++
		s.account.Diagnosed++
	}
	at := b.Off
	for line := range bytes.Lines(b.Data) {
		s.line(line, at)
		at += int64(len(line))
	}
}

// line reads the records of one line.
func (s *lineScan) line(line []byte, at int64) {
	i := start(line)
	switch {
	case i == len(line), string(bytes.TrimSpace(line[i:])) == "[DONE]", ofStream(line):
		s.Noise()
		return
	case line[i] != '{':
		s.Skip(notJSON, at)
		if i = s.resume(line, 0); i < 0 {
			return
		}
	}
	for i < len(line) {
		s.parser.Begin()
		next, ok := json.Walk(line, i, s.parser.Value)
		if !ok || !s.alone(line, i, next) {
			problem := broken
			if line[len(line)-1] != '\n' && next >= len(line) {
				problem = truncated
			}
			s.Skip(problem, at+int64(i))
			if i = s.resume(line, i+1); i < 0 {
				return
			}
			continue
		}
		s.record(at + int64(i))
		i = next
		if i += start(line[i:]); i < len(line) && line[i] != '{' {
			s.Skip(notJSON, at+int64(i))
			if i = s.resume(line, i); i < 0 {
				return
			}
		}
	}
}

// alone tells whether the record in line[from:to] has nothing of another one
// within or directly behind it.
func (s *lineScan) alone(line []byte, from, to int) bool {
	if len(s.anchor) == 0 {
		return true
	}
	rest := bytes.TrimSpace(line[to:])
	return !bytes.Contains(line[from+1:to], s.anchor) && (len(rest) == 0 || bytes.HasPrefix(rest, s.anchor))
}

// resume returns where the next record of a line begins, or -1.
func (s *lineScan) resume(line []byte, from int) int {
	if len(s.anchor) == 0 {
		return -1
	}
	i := bytes.Index(line[from:], s.anchor)
	if i < 0 {
		return -1
	}
	return from + i
}

// maxBrackets is how many brackets of arrays may stand before a record.
const maxBrackets = 4

// start returns the offset of the first byte of a record: behind white space,
// what parts the elements of an array, and the field name of an event stream.
func start(line []byte) int {
	i := 0
	brackets := 0
	for i < len(line) && brackets <= maxBrackets && bytes.IndexByte([]byte(" \t\r\n,[]"), line[i]) >= 0 && !bytes.HasPrefix(line[i:], []byte("[DONE]")) {
		if line[i] == '[' || line[i] == ']' {
			brackets++
		}
		i++
	}
	if bytes.HasPrefix(line[i:], event) {
		i += len(event)
		for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
			i++
		}
	}
	return i
}

// record makes rows of the object that the parser has seen.
func (s *lineScan) record(at int64) {
	s.at = at
	kind, problem := s.parser.Rows(s.Builder, at, s.note)
	if problem != nil {
		s.Builder.Drop()
		s.Skip(problem, at)
		return
	}
	s.Parsed(kind)
}

func (s *lineScan) note(p *assemble.Problem) { s.Note(p, s.at) }
