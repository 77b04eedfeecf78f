package torchtable

import (
	"bytes"
	"context"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/block"
)

// reader reads the tables of one file. It has no rows: all they say is in the
// run's reported figures.
type reader struct {
	formats.Base
	ctx  context.Context
	src  formats.Source
	opt  formats.Options
	meta trace.RunMeta
	done bool
}

func newReader(ctx context.Context, src formats.Source, opt formats.Options) *reader {
	return &reader{ctx: ctx, src: src, opt: opt, meta: trace.RunMeta{Format: formatName, Side: trace.Engine,
		NoRequests: "a profiler's summary table holds no requests: it is a cross-check of the trace"}}
}

// Next implements formats.Reader: there is no batch.
func (r *reader) Next() bool {
	if !r.done {
		r.done = true
		r.Fail = r.read()
	}
	return false
}

func (r *reader) read() error {
	s := block.Map(r.ctx, r.src, formats.Whole, block.Options{Workers: 1, Block: r.opt.Block, MaxLine: 1 << 20},
		func() struct{} { return struct{}{} }, func(*block.Block, struct{}) {})
	defer s.Close()
	t := table{kinds: make(map[string]int64), column: -1}
	for s.Next() {
		b := s.Block()
		at := b.Off
		for line := range bytes.Lines(b.Data) {
			r.line(&t, line, at)
			at += int64(len(line))
		}
		if b.TooLong >= 0 {
			r.Counts.Diagnosed++
			t.kinds["too long"]++
		}
	}
	r.Log.Merge(s.Diags())
	if t.state != outside {
		r.add("truncated", diag.DataLoss, -1, "the file ends within a table")
	}
	r.Counts.Kinds = t.kinds
	r.Counts.Total = r.Counts.Parsed + r.Counts.Noise + r.Counts.Diagnosed
	t.report(&r.meta)
	return s.Err()
}

func (r *reader) line(t *table, line []byte, at int64) {
	known, used := t.line(line)
	switch {
	case known && used:
		r.Counts.Parsed++
	case known:
		r.Counts.Noise++
	default:
		r.Counts.Diagnosed++
		t.kinds["unknown"]++
		r.add("unknown_line", diag.Notice, at, "a line is no part of a profiler's table")
	}
}

func (r *reader) add(code string, sev diag.Severity, at int64, msg string) {
	r.Log.Add(diag.Diag{Code: code, Severity: sev, File: r.src.Name(), Offset: at, Msg: msg})
}

// Runs implements formats.Reader.
func (r *reader) Runs() []*trace.RunMeta { return []*trace.RunMeta{&r.meta} }
