package jsonrows

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

// Dialect is one format of this kind.
type Dialect struct {
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

// The problems of lines.
var (
	notJSON = &assemble.Problem{Code: "bad_json", Severity: diag.DataLoss,
		Msg: "a line is no JSON object and was skipped"}
	broken = &assemble.Problem{Code: "broken_record", Severity: diag.DataLoss,
		Msg: "a record is not well formed, as when several threads write into one file: it was skipped"}
	truncated = &assemble.Problem{Code: "truncated", Severity: diag.DataLoss,
		Msg: "the file ends within a record"}
)

// Reader implements formats.Reader.
type Reader struct {
	dialect *Dialect
	src     formats.Source
	stream  *block.Stream[*scan]
	run     trace.RunMeta
	batch   *trace.Batch
	diags   diag.Log
	account formats.Account
	done    bool
}

// Open begins reading the lines that start in rng.
func Open(ctx context.Context, src formats.Source, rng formats.Range, opt formats.Options, d *Dialect) (formats.Reader, error) {
	r := &Reader{dialect: d, src: src, run: d.Run}
	r.run.Format = d.Name
	r.account.Kinds = make(map[string]int64)
	fresh := func() *scan { return newScan(d, src.Name()) }
	if rng.From == 0 && rng.To != 0 {
		if err := r.probe(fresh()); err != nil {
			return nil, err
		}
	}
	r.stream = block.Map(ctx, src, rng, block.Options{Workers: opt.Workers, Block: opt.Block}, fresh, func(b *block.Block, s *scan) {
		s.block(b)
		s.batch = s.builder.Take(&r.run, src.Name())
	})
	return r, nil
}

// probe says so when the first lines of the source hold no record: the format
// was forced. It depends on the source only, not on how it is cut.
func (r *Reader) probe(s *scan) error {
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
	if len(s.kinds) == 0 {
		r.diags.Add(diag.Diag{Code: "no_records", Severity: diag.Notice, File: r.src.Name(), Offset: -1, Msg: "none of the first lines is " + r.dialect.Wanted})
	}
	return nil
}

// Next implements formats.Reader.
func (r *Reader) Next() bool {
	for r.stream.Next() {
		s := r.stream.Value()
		r.diags.Merge(&s.log)
		r.account.Diagnosed += s.diagnosed
		r.account.Noise += s.noise
		for kind, n := range s.kinds {
			r.account.Parsed += n
			r.account.Kinds[kind] += n
		}
		if s.batch.Rows > 0 {
			r.batch = s.batch
			return true
		}
	}
	if !r.done {
		r.done = true
		r.diags.Merge(r.stream.Diags())
		r.account.Total = r.account.Parsed + r.account.Diagnosed + r.account.Noise
	}
	return false
}

// Batch implements formats.Reader.
func (r *Reader) Batch() *trace.Batch { return r.batch }

// Err implements formats.Reader.
func (r *Reader) Err() error { return r.stream.Err() }

// Diags implements formats.Reader.
func (r *Reader) Diags() *diag.Log { return &r.diags }

// Runs implements formats.Reader.
func (r *Reader) Runs() []*trace.RunMeta { return []*trace.RunMeta{&r.run} }

// Account implements formats.Reader: of records, and of lines without one.
func (r *Reader) Account() formats.Account { return r.account }

// Close implements formats.Reader.
func (r *Reader) Close() error { return r.stream.Close() }

// scan is what one block becomes.
type scan struct {
	anchor  []byte
	parser  Parser
	builder *trace.Builder
	batch   *trace.Batch

	notes            assemble.Notes
	log              diag.Log
	at               int64 // of the record that is read
	kinds            map[string]int64
	diagnosed, noise int64
}

func newScan(d *Dialect, file string) *scan {
	s := &scan{anchor: d.Anchor, parser: d.New(), builder: trace.NewBuilder(trace.Requests), kinds: make(map[string]int64)}
	s.notes = assemble.Notes{File: file, Log: &s.log}
	return s
}

func (s *scan) block(b *block.Block) {
	s.log = diag.Log{}
	clear(s.kinds)
	s.diagnosed, s.noise = 0, 0
	if b.TooLong >= 0 { // its diag is the stream's
		s.diagnosed++
	}
	at := b.Off
	for line := range bytes.Lines(b.Data) {
		s.line(line, at)
		at += int64(len(line))
	}
}

// line reads the records of one line.
func (s *scan) line(line []byte, at int64) {
	i := start(line)
	switch {
	case i == len(line), string(bytes.TrimSpace(line[i:])) == "[DONE]", ofStream(line):
		s.noise++
		return
	case line[i] != '{':
		s.skip(notJSON, at)
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
			s.skip(problem, at+int64(i))
			if i = s.resume(line, i+1); i < 0 {
				return
			}
			continue
		}
		s.record(at + int64(i))
		i = next
		if i += start(line[i:]); i < len(line) && line[i] != '{' {
			s.skip(notJSON, at+int64(i))
			if i = s.resume(line, i); i < 0 {
				return
			}
		}
	}
}

// alone tells whether the record in line[from:to] has nothing of another one
// within or directly behind it.
func (s *scan) alone(line []byte, from, to int) bool {
	if len(s.anchor) == 0 {
		return true
	}
	rest := bytes.TrimSpace(line[to:])
	return !bytes.Contains(line[from+1:to], s.anchor) && (len(rest) == 0 || bytes.HasPrefix(rest, s.anchor))
}

// ofStream tells whether a line is a comment of an event stream, or a field of
// one other than data.
func ofStream(line []byte) bool {
	for _, field := range [...]string{":", "event:", "id:", "retry:"} {
		if bytes.HasPrefix(line, []byte(field)) {
			return true
		}
	}
	return false
}

// resume returns where the next record of a line begins, or -1.
func (s *scan) resume(line []byte, from int) int {
	if len(s.anchor) == 0 {
		return -1
	}
	i := bytes.Index(line[from:], s.anchor)
	if i < 0 {
		return -1
	}
	return from + i
}

var event = []byte("data:")

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
func (s *scan) record(at int64) {
	s.at = at
	kind, problem := s.parser.Rows(s.builder, at, s.note)
	if problem != nil {
		s.builder.Drop()
		s.skip(problem, at)
		return
	}
	s.kinds[kind]++
}

func (s *scan) note(p *assemble.Problem) { s.notes.Note(p, s.at) }

func (s *scan) skip(p *assemble.Problem, at int64) {
	s.diagnosed++
	s.notes.Note(p, at)
}
