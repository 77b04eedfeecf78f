package tokenlog

import (
	"context"
	"sync"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/block"
)

// The names of the formats.
const (
	recordsName = "tokenlog"
	eventsName  = "tokenlog-events"
)

// Format is the shape of one request per line.
var Format = formats.Format{
	Name:     recordsName,
	Title:    "servescope's own JSONL, one request per line",
	Priority: 10,
	Shape:    formats.Records,
	Sniff:    sniffRecords,
	Open:     openRecords,
}

// recordReader reads requests, one batch per block.
type recordReader struct {
	formats.Base
	stream *block.Stream[*records]
	run    *trace.RunMeta
	done   bool
}

func openRecords(ctx context.Context, src formats.Source, rng formats.Range, opt formats.Options) (formats.Reader, error) {
	first, err := probe(src, parseRecord)
	if err != nil {
		return nil, err
	}
	r := &recordReader{run: first.meta(recordsName), Base: formats.Base{Counts: formats.Account{Kinds: map[string]int64{}}}}
	first.noteEmpty(&r.Log, src, rng)
	fresh := func() *records { return newRecords(src.Name(), r.run, first.clock, opt.Lists) }
	r.stream = block.Map(ctx, src, rng, block.Options{Workers: opt.Workers, Block: opt.Block}, fresh, scanRecords)
	r.stream.Spare = func(out *records) { spares.Put(out) }
	return r, nil
}

// spares holds what readers that are closed have used: a large source is read by
// many, one after the other.
var spares sync.Pool // of *records

func (r *recordReader) Next() bool {
	for r.stream.Next() {
		s := r.stream.Value()
		r.Log.Merge(&s.log)
		r.Counts.Total += s.parsed + s.diagnosed + s.noise
		r.Counts.Parsed += s.parsed
		r.Counts.Diagnosed += s.diagnosed
		r.Counts.Noise += s.noise
		if s.parsed > 0 {
			r.Counts.Kinds["request"] += s.parsed
			r.Current = s.batch
			return true
		}
	}
	if !r.done {
		r.Log.Merge(r.stream.Diags())
	}
	r.done = true
	return false
}

func (r *recordReader) Err() error             { return r.stream.Err() }
func (r *recordReader) Runs() []*trace.RunMeta { return []*trace.RunMeta{r.run} }
func (r *recordReader) Close() error           { return r.stream.Close() }

// records is what one block becomes.
type records struct {
	parser parser
	writer assemble.Writer

	log                      diag.Log
	batch                    *trace.Batch
	parsed, diagnosed, noise int64
}

func newRecords(file string, run *trace.RunMeta, clock trace.Clock, lists bool) *records {
	r, ok := spares.Get().(*records)
	if !ok {
		r = &records{writer: assemble.Writer{Builder: trace.NewBuilder(trace.Requests)}}
	}
	r.parser.Notes = assemble.Notes{File: file, Log: &r.log}
	w := &r.writer
	w.Notes, w.Run, w.Clock, w.Lists = r.parser.Notes, run, clock, lists
	return r
}

// scanRecords reads the lines of a block.
func scanRecords(b *block.Block, out *records) {
	out.log = diag.Log{}
	out.parsed, out.diagnosed, out.noise = 0, 0, 0
	p, w := &out.parser, &out.writer
	p.text = b.Data[:len(b.Data)+block.Pad]
	if b.TooLong >= 0 {
		out.diagnosed++
	}
	for i := 0; i < len(b.Data); {
		p.start(i)
		for more := true; more; {
			var problem *assemble.Problem
			problem, more = p.record(b.Off)
			switch problem {
			case nil:
				w.Add(&p.row)
				out.parsed++
			case blank:
				out.noise++
			default:
				if p.lineEnd() >= len(b.Data) && problem == badJSON {
					problem = truncated
				}
				w.Note(problem, b.Off+int64(i))
				out.diagnosed++
			}
		}
		i = p.lineEnd() + 1
	}
	out.batch = w.Builder.Take(w.Run, w.File)
}

// record reads the object at the cursor as a request and moves to the line's
// end. more tells that another object follows on the line, as when two writers'
// lines were glued together; the cursor is on it.
func (p *parser) record(base int64) (problem *assemble.Problem, more bool) {
	if p.lead(); p.text[p.i] == '\n' {
		return blank, false
	}
	p.row.Reset(base + int64(p.i))
	p.event = eventFields{}
	if p.text[p.i] != '{' || !p.object() {
		return badJSON, false
	}
	more, ok := p.after()
	switch {
	case !ok:
		return badJSON, false
	case p.event.hasName && p.event.hasAt && !p.row.HasTokens:
		return wantsEvents, more
	case !p.row.Measured():
		return notARequest, more
	}
	return nil, more
}

// lead moves to the object at or behind the cursor. Where the elements of an array
// stand on lines of their own, the comma may come before them.
func (p *parser) lead() {
	if p.space(); p.text[p.i] == ',' {
		p.i++
		p.space()
	}
}

// after reads what follows an object: nothing, a comma as between the elements
// of an array, or another object.
func (p *parser) after() (more, ok bool) {
	p.lead()
	switch p.text[p.i] {
	case '{':
		return true, true
	case '\n':
		p.end = p.i
		return false, true
	}
	return false, false
}

// parseRecord is record for the probe.
func parseRecord(p *parser) bool {
	problem, _ := p.record(0)
	return problem == nil || p.row.Measured()
}
