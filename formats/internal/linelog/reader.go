package linelog

import (
	"context"
	"fmt"
	"io"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/block"
	"servescope/formats/source"
)

// Fold makes rows of records. One belongs to one reader, which calls it on one
// goroutine, in the order of the file.
type Fold interface {
	// Record takes a record. A problem means that it could not be used: its
	// line counts as diagnosed.
	Record(r *Record) *Problem
	// Batch returns rows that are ready, or nil. all asks for what there is,
	// otherwise it is better to wait until a batch is worth it.
	Batch(all bool) *trace.Batch
	// End is called once behind the last record, before the last calls of Batch.
	End()
}

// Problem is a kind of diagnostic. Its message does not quote the log.
type Problem struct {
	Code     string
	Severity diag.Severity
	Msg, Fix string
}

// Log is where a Fold and the engine tell what they found.
type Log struct {
	diags diag.Log
	file  string
	meta  *trace.RunMeta
}

// Note records one occurrence of a problem at the line at offset.
func (l *Log) Note(p *Problem, offset int64) { l.NoteMany(p, offset, 1) }

// NoteMany records n occurrences of a problem, the first at offset.
func (l *Log) NoteMany(p *Problem, offset, n int64) {
	l.diags.Add(diag.Diag{Code: p.Code, Severity: p.Severity, File: l.file, Offset: offset, Count: n, Msg: p.Msg, Fix: p.Fix})
}

// Diags returns where diags are collected.
func (l *Log) Diags() *diag.Log { return &l.diags }

// File returns the name of the source.
func (l *Log) File() string { return l.file }

// batchRows is the number of rows from which a batch is worth handing out.
const batchRows = 4096

// Ready reports whether a builder holds rows enough for a batch.
func Ready(b *trace.Builder, all bool) bool {
	return b.Rows() >= batchRows || all && b.Rows() > 0
}

// Open returns a reader of src by table t. meta is the run that all rows belong
// to; its clock is set by the engine: wall, or run where the year is unknown. make
// makes the fold.
func Open(ctx context.Context, src formats.Source, rng formats.Range, opt formats.Options, t *Table, meta *trace.RunMeta, make func(*Log) Fold) (formats.Reader, error) {
	r := &reader{t: t, src: src, meta: meta, log: Log{file: src.Name(), meta: meta}}
	text, stamped := src, false
	if s := source.StampedOf(src); s != nil {
		text, stamped = s, true
	}
	r.clock = clock{log: &r.log, zone: opt.TZ, year: opt.Year, mod: src.ModTime()}
	if err := r.scout(ctx, text, stamped); err != nil {
		return nil, err
	}
	r.counts = make64(len(t.kinds))
	r.fold = make(&r.log)
	r.stream = block.Map(ctx, text, rng, block.Options{Workers: opt.Workers, Block: opt.Block},
		func() *worker { return &worker{scanner: scanner{t: t, stamped: stamped, memo: new(memo)}} },
		func(b *block.Block, w *worker) { w.scanner.block(b, &w.fragment) })
	return r, nil
}

func make64(n int) []int64 { return make([]int64, n) }

// worker scans one block and keeps what it found.
type worker struct {
	scanner
	fragment
}

type reader struct {
	formats.Base
	t      *Table
	src    formats.Source
	meta   *trace.RunMeta
	log    Log
	clock  clock
	fold   Fold
	stream *block.Stream[*worker]
	ended  bool

	lines, parsed, diagnosed int64
	counts                   []int64 // records, and lines that are none, by kind
	removed                  int64   // bytes of the stamped view that the source does not have
	accepted                 bool    // a record of the current line was
	payload                  bool    // the last record ended in an open quote of payload
	inRun                    bool    // the last entry was a run of strangers
	stamp, outer             Stamp   // of the last head with a stamp of the blocks before
	strangers                strangers
	unknown                  keys
	prints                   prints
}

// Next implements formats.Reader.
func (r *reader) Next() bool {
	for {
		if r.Current = r.fold.Batch(r.ended); r.Current != nil {
			return true
		}
		if r.ended {
			return false
		}
		if r.stream.Next() {
			r.take(r.stream.Block(), &r.stream.Value().fragment)
			continue
		}
		if r.Fail = r.stream.Err(); r.Fail != nil {
			return false
		}
		r.ended = true
		r.fold.End()
		r.finish()
	}
}

// take folds what one block holds.
func (r *reader) take(b *block.Block, f *fragment) {
	r.lines += f.lines
	for k, n := range f.counts {
		r.counts[k] += n
	}
	if b.TooLong >= 0 {
		r.lines++
		r.diagnosed++
		r.log.Note(tooLong, b.TooLong-r.removed-f.removed)
	}
	for i := range f.entries {
		e := &f.entries[i]
		e.Offset -= r.removed
		if e.afterHead {
			r.payload, r.inRun = false, false
		}
		if e.strangers > 0 {
			r.strange(e)
		} else {
			r.record(&e.Record)
		}
	}
	if f.headed {
		r.payload, r.inRun = false, false
	}
	if f.stamp.Known() {
		r.stamp, r.outer = f.stamp, f.outer
	}
	r.removed += f.removed
}

// record hands a record to the fold and accounts for its line.
func (r *reader) record(rec *Record) {
	r.inRun = false
	if p := r.use(rec); p != nil {
		r.log.Note(p, rec.Offset)
	} else {
		r.accepted = true
		r.counts[rec.Kind.index]++
	}
	if rec.headed || rec.payload {
		r.payload = rec.payload
	}
	if !rec.last {
		return
	}
	if r.accepted {
		r.parsed++
		if rec.Timed {
			r.prints.add(rec.hash)
		}
	} else {
		r.diagnosed++
	}
	r.accepted = false
}

// use gives a record to the fold, unless it is seen not to be usable.
func (r *reader) use(rec *Record) *Problem {
	switch {
	case r.payload && !rec.headed:
		return inPayload
	case rec.Kind.Use == NotUsed:
		return &rec.Kind.Unused
	case rec.strange:
		return suspicious
	case rec.short && rec.Cut:
		return Truncated
	case rec.short:
		return incomplete
	}
	if rec.near && !rec.Stamp.Known() {
		rec.Stamp, rec.Outer = r.stamp, r.outer
	}
	rec.T, rec.Resolution, rec.Timed = r.clock.time(rec)
	if rec.near {
		rec.Near, rec.HasNear = rec.T, rec.Timed
		rec.T, rec.Resolution, rec.Timed = 0, 0, false
	}
	for i := range rec.Values {
		if v := &rec.Values[i]; v.Slot == Unknown {
			r.unknown.add(v.Text, rec.Offset)
		}
	}
	return r.fold.Record(rec)
}

// The problems of records. A Fold uses Truncated for a record that is Cut where
// that matters.
var (
	tooLong    = &Problem{"line_too_long", diag.DataLoss, "a line is too long to be read and was skipped", ""}
	suspicious = &Problem{"suspicious_value", diag.Notice, "a line looks like the server's but holds a value that no server prints: it may be text of a user, and was skipped", ""}
	Truncated  = &Problem{"truncated_line", diag.DataLoss, "the log ends in the middle of a line that carries times: it was skipped", "take the log again once it is complete"}
	incomplete = &Problem{"incomplete_line", diag.DataLoss, "a line lacks values that its kind has: it is torn, or of a version that is not known, and was skipped", ""}
	inPayload  = &Problem{"payload_line", diag.Notice, "a line inside the text of a user looks like the server's: it was skipped", ""}
)

// finish completes diags and account behind the last record.
func (r *reader) finish() {
	r.clock.finish()
	r.strangers.report(r)
	r.unknown.report(&r.log)
}

func (r *reader) Err() error             { return r.named(r.Fail) }
func (r *reader) Runs() []*trace.RunMeta { return []*trace.RunMeta{r.meta} }

func (r *reader) named(err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", r.src.Name(), err)
	}
	return nil
}

// Diags implements formats.Reader.
func (r *reader) Diags() *diag.Log { return &r.log.diags }

// Account implements formats.Reader. Kinds holds records, and lines that are no
// record.
func (r *reader) Account() formats.Account {
	a := formats.Account{Total: r.lines, Parsed: r.parsed, Diagnosed: r.diagnosed, Kinds: make(map[string]int64)}
	for k, n := range r.counts {
		if n > 0 {
			a.Kinds[r.t.kinds[k].Name] += n
		}
	}
	a.Noise = a.Total - a.Parsed - a.Diagnosed
	a.Prints = r.prints.list()
	return a
}

func (r *reader) Close() error { return r.stream.Close() }

// scoutBytes is how far a source is read for what its stamps do not say.
const scoutBytes = 1 << 20

// scout reads the beginning of the text for lines that tell the year or the zone
// of the stamps of others, which may come before them.
func (r *reader) scout(ctx context.Context, text formats.Source, stamped bool) error {
	in, err := text.Open(0)
	if err != nil {
		return r.named(err)
	}
	defer in.Close()
	size := int64(scoutBytes)
	if n := text.Size(); n >= 0 {
		size = min(size, n)
	}
	buf := make([]byte, size)
	n, err := io.ReadFull(in, buf)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return r.named(err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	w := worker{scanner: scanner{t: r.t, stamped: stamped, scouting: true, memo: new(memo)}}
	w.scanner.block(&block.Block{Data: buf[:n]}, &w.fragment)
	r.clock.prepare(&w.scanner.seen)
	return nil
}
