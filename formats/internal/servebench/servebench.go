// Package servebench reads the result files of benchmark clients: JSON objects, one
// per run, with settings, aggregates, and one array per property of a request:
//
//	{"backend": "vllm", …, "input_lens": [512, …], "ttfts": [0.084, …],
//	 "itls": [[0.0118, …], …], "errors": ["", …], "mean_ttft_ms": …}
//
// The benchmarks of vLLM and SGLang write this; what differs between them is a
// Dialect. A file may hold one object, many (one per line, glued, or in an
// array), pretty or on one line of hundreds of megabytes.
//
// An object is read twice. The first pass goes over all of it at memory speed:
// it keeps the settings and the small arrays (at most 64 bytes per request) and
// notes where the gaps between chunks lie, which are nearly all of the numbers.
// The status of a request stands behind them, so only the second pass over the
// gaps alone makes rows. In both the gaps are cut in blocks that several
// goroutines read; a block owns the lists that begin in it, and blocks are put
// together in order, so neither the number of goroutines nor the size of a block
// changes a row.
package servebench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/json"
	"servescope/formats/internal/records"
)

// Dialect is what differs between the clients that write such files.
type Dialect struct {
	Name   string   // of the format
	Nested []string // objects whose scalars are settings too, as "object.name"
	// Describe returns the run that a record is about, without Key, Format and
	// Side, and how to read its arrays. It may set NoRequests.
	Describe func(*Record) (*trace.RunMeta, Rules)
	// Judge tells whether an object is a result, by its keys; see Sniff.
	Judge func(records.Keys) (formats.Score, string)
	// HowTo says how to get per-request data when a record has none.
	HowTo string
}

// Rules say what the arrays of one record mean.
type Rules struct {
	// Counted says whether output_lens are counts, by whom in Source. Otherwise
	// they are the lengths asked for: they become max_tokens and never a count.
	Counted bool
	Source  trace.TokenSource

	// TextChunks: the client takes notice of chunks with text only, so a chunk
	// proves a token and without one there was none. Otherwise the first chunk
	// may be one that only names the role.
	TextChunks bool
	RoleChunk  bool // the first chunk is often one that only names the role

	// PerToken: the client spreads the time between two chunks evenly over the
	// tokens of the later one, so there is a gap per token, but none for the
	// tokens of the first chunk.
	PerToken bool

	NoTokens bool // pooling and embedding: requests generate nothing
}

// Open begins reading the records whose lines start in rng.
func Open(ctx context.Context, src formats.Source, rng formats.Range, opt formats.Options, d *Dialect) (formats.Reader, error) {
	from := max(0, rng.From-1) // a line starts behind a newline, which tells
	rc, err := src.Open(from)
	if err != nil {
		return nil, err
	}
	r := &reader{src: src, opt: opt, dialect: d, rc: rc, log: log{file: src.Name()}, builder: trace.NewBuilder(trace.Requests)}
	r.ctx, r.cancel = context.WithCancel(ctx)
	r.in = bufio.NewReaderSize(rc, formats.HeadSize)
	if rng.From == 0 && rng.To != 0 {
		r.judge()
	}
	r.second.src = src
	r.opt.Workers = max(1, opt.Workers)
	r.index = index{log: &r.log, c: json.NewRecords(r, from, rng.From, rng.To, r.block()), nested: make(map[string]bool), memory: opt.Memory / 2, block: r.block()}
	if opt.Memory <= 0 {
		r.index.memory = math.MaxInt64
	}
	for _, key := range d.Nested {
		r.index.nested[key] = true
	}
	if at := src.At(); at != nil && r.opt.Workers > 1 {
		r.index.survey = func(g *region) bool { return r.survey(at, g) }
	}
	return r, nil
}

// survey goes over region g on several goroutines. It reports true when the first
// pass is to go on at the end of g.
func (r *reader) survey(at io.ReaderAt, g *region) bool {
	from := g.to
	s := survey{ctx: r.ctx, at: at, size: int64(r.block()), end: r.index.c.Delimiter()}
	s.extend(g, r.opt.Workers)
	if g.to == from {
		return false
	}
	rc, err := r.src.Open(g.to)
	if err != nil {
		r.fail(err)
		return false
	}
	r.rc.Close()
	r.rc = rc
	r.in.Reset(rc)
	r.index.c.Jump(g.to)
	g.inside = false
	return true
}

// reader implements formats.Reader.
type reader struct {
	log
	ctx     context.Context
	cancel  context.CancelFunc
	src     formats.Source
	opt     formats.Options
	dialect *Dialect
	rc      io.ReadCloser // the first pass
	in      *bufio.Reader // over rc
	index   index
	second  stream
	builder *trace.Builder
	rows    *rows          // of the current record, or nil
	meta    *trace.RunMeta // of the rows in builder
	ahead   *ahead         // with several workers, once reading has begun
	done    bool
}

// block returns the size of the blocks. Tests make it small to cut anywhere.
func (r *reader) block() int {
	if r.opt.Block <= 0 {
		return json.DefaultBuffer
	}
	return max(r.opt.Block, 64)
}

// Read is the first pass's reader: it ends when the context does.
func (r *reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.in.Read(b)
}

// judge says so when a file that somebody wants read by this format does not
// look like it. Errors come again when the file is read.
func (r *reader) judge() {
	head, _ := r.in.Peek(formats.HeadSize)
	if score, why := records.Sniff(&formats.Head{Start: head, Size: -1}, r.dialect.Judge); score == formats.No {
		r.add(diag.Diag{Code: "other_format", Severity: diag.Notice, Offset: -1, Msg: "the file does not look like a result of this client: " + why})
	}
}

// Next implements formats.Reader.
func (r *reader) Next() bool {
	if r.opt.Workers > 1 {
		if r.ahead == nil {
			r.ahead = newAhead(r.prepare, r.take)
		}
		return r.ahead.next()
	}
	return r.prepare() && r.take()
}

// prepare puts the rows of the next batch into the builder. It reports false when
// there are no more.
func (r *reader) prepare() bool {
	for r.Fail == nil && !r.done {
		if r.rows != nil {
			if r.fill(); r.builder.Rows() > 0 {
				return true
			}
			continue
		}
		rec := r.index.next()
		if rec == nil {
			r.end()
			return false
		}
		r.record(rec)
	}
	return false
}

// take makes a batch of the rows in the builder, in place of the batch before.
func (r *reader) take() bool {
	r.Current = r.builder.Take(r.meta, r.file)
	return true
}

// end is reached when there are no more records.
func (r *reader) end() {
	r.done = true
	r.fail(r.index.c.Err())
}

// fail ends the stream with an I/O error, if it is one.
func (r *reader) fail(err error) {
	if err != nil {
		r.Fail = fmt.Errorf("%s: %w", r.file, err)
	}
}

// Rows of a batch, and gaps after which a batch ends early.
const (
	batchRows = 4096
	batchGaps = 1 << 15
)

// fill puts rows of the current record into the builder.
func (r *reader) fill() {
	w, b := r.rows, r.builder
	r.meta = w.meta
	r.fail(r.ctx.Err())
	for r.Fail == nil && w.i < w.n && b.Rows() < batchRows && b.ListLen(trace.ChunkGaps) < batchGaps {
		r.fail(w.row(b))
	}
	if w.i == w.n && w.gaps != nil && r.Fail == nil {
		r.fail(w.gaps.end())
	}
	if w.i == w.n || r.Fail != nil {
		w.finish(&r.log)
		r.rows = nil
	}
}

// record turns a record into a run and prepares its rows.
func (r *reader) record(rec *Record) {
	r.Counts.Total++
	if !rec.result() {
		r.Counts.Diagnosed++
		r.add(diag.Diag{Code: "not_a_result", Severity: diag.DataLoss, Offset: rec.Offset, Msg: "an object that is not a benchmark result was skipped"})
		return
	}
	r.Counts.Parsed++
	if rec.Broken {
		msg := "the result breaks off: " + rec.Cut.Msg + "; what stands before that is used"
		r.add(diag.Diag{Code: "truncated", Severity: diag.DataLoss, Offset: rec.Cut.Offset, Msg: msg})
	}
	meta, rules := r.dialect.Describe(rec)
	meta.Key, meta.Format, meta.Side, meta.Positions = rec.Offset, r.dialect.Name, trace.Client, true
	r.List = append(r.List, meta)
	w := newRows(rec, meta, rules, r.opt.Lists, &r.log)
	switch {
	case rec.overflow:
		meta.NoRequests = "the requests of this result do not fit into the memory budget"
		r.add(diag.Diag{Code: "memory", Severity: diag.Error, Offset: rec.Offset, Msg: meta.NoRequests, Fix: "raise the memory limit"})
	case w.n == 0:
		if meta.NoRequests == "" {
			meta.NoRequests = "this file holds no per-request data; " + r.dialect.HowTo
			if n, ok := rec.Number("completed"); ok && n == 0 {
				meta.NoRequests += " to see why the requests failed"
			}
		}
		r.add(diag.Diag{Code: "no_requests", Severity: diag.Notice, Offset: rec.Offset, Msg: "a result holds no per-request data, only what the client computed from them", Fix: r.dialect.HowTo})
	default:
		if w.wantGaps {
			var err error
			if w.gaps, err = r.gaps(&rec.lists); err == nil {
				err = w.look()
			}
			r.fail(err)
		}
		r.rows = w
	}
}

// result tells whether an object can be a benchmark's result at all.
func (r *Record) result() bool {
	for _, key := range []string{"completed", "duration", "request_throughput", "request_inthroughput", "request_rate", "errors", "itls"} {
		if r.Has(key) {
			return true
		}
	}
	for a := range r.arrays {
		if r.arrays[a].present {
			return true
		}
	}
	return false
}

// Close implements formats.Reader.
func (r *reader) Close() error {
	r.cancel()
	if r.ahead != nil {
		r.ahead.close()
	}
	if r.rows != nil && r.rows.gaps != nil {
		r.rows.gaps.close()
		r.rows = nil
	}
	r.second.close()
	if r.rc == nil {
		return nil
	}
	err := r.rc.Close()
	r.rc = nil
	return err
}

// log collects what happens while a file is read.
type log struct {
	formats.Base
	file string
}

func (l *log) add(d diag.Diag) {
	d.File = l.file
	l.Log.Add(d)
}

// stray counts text between the records.
func (l *log) stray(at int64, msg string) {
	l.Counts.Total++
	l.Counts.Diagnosed++
	l.add(diag.Diag{Code: "stray_text", Severity: diag.DataLoss, Offset: at, Msg: msg})
}
