package otlp

import (
	"context"
	"fmt"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
)

// Rows of a batch, and gaps after which a batch ends early.
const (
	batchRows = 4096
	batchGaps = 1 << 18
)

// reader implements formats.Reader.
type reader struct {
	formats.Base
	src   formats.Source
	in    parts
	fold  *fold
	part  *part
	at    int // next span of the part
	ended bool
}

func newReader(ctx context.Context, src formats.Source, opt formats.Options) (formats.Reader, error) {
	in, err := open(ctx, src, opt)
	if err != nil {
		return nil, err
	}
	return &reader{src: src, in: in, fold: newFold(src.Name(), opt)}, nil
}

// Next implements formats.Reader.
func (r *reader) Next() bool {
	r.Current = nil
	for r.Fail == nil {
		if r.Current = r.fold.batch(false); r.Current != nil {
			return true
		}
		switch {
		case r.ended:
			if r.fold.sglang.relieve(true) {
				continue
			}
			if r.Current = r.fold.batch(true); r.Current == nil {
				r.Current = r.fold.stepBatch()
			}
			return r.Current != nil
		case r.part != nil && r.at < len(r.part.spans):
			r.fold.span(r.part, &r.part.spans[r.at])
			r.at++
		default:
			r.more()
		}
	}
	return false
}

// more goes on to the next part.
func (r *reader) more() {
	var ok bool
	if r.part, ok = r.in.next(); ok {
		r.at = 0
		for _, x := range r.part.incidents {
			r.fold.incident(x)
		}
		return
	}
	r.part, r.ended = nil, true
	if err := r.in.err(); err != nil {
		r.Fail = fmt.Errorf("%s: %w", r.src.Name(), err)
	}
}

// batch returns the rows of a run that has enough of them for a batch, or, with all
// set, the rows of the first run that has any.
func (f *fold) batch(all bool) *trace.Batch {
	for _, r := range f.runs {
		if n := r.rows.Rows(); n >= batchRows || n > 0 && (all || r.rows.ListLen(trace.ChunkGaps) >= batchGaps) {
			return r.rows.Take(&r.meta, f.file)
		}
	}
	return nil
}

// Diags implements formats.Reader.
func (r *reader) Diags() *diag.Log { return &r.fold.diags }

// Runs implements formats.Reader.
func (r *reader) Runs() []*trace.RunMeta {
	r.fold.finish()
	list := make([]*trace.RunMeta, len(r.fold.runs))
	for i, x := range r.fold.runs {
		list[i] = &x.meta
	}
	return list
}

// Account implements formats.Reader. The records are spans, and whatever else
// stands between them.
func (r *reader) Account() formats.Account { return r.fold.account }

// Close implements formats.Reader.
func (r *reader) Close() error {
	if r.in == nil {
		return nil
	}
	err := r.in.close()
	r.in = nil
	return err
}
