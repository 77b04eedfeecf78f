package documents

import (
	"context"
	"io"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/json"
)

const (
	batchRows   = 4096
	batchGaps   = 1 << 18
	maxRuns     = 10_000
	maxReported = 2000
)

// reader implements formats.Reader. A container above the requests is a frame
// of the stack, so that rows may be handed out within one.
type reader struct {
	formats.Base
	d       *Dialect
	table   map[string]member
	inside  bool // figures are inside of runs only
	ctx     context.Context
	src     formats.Source
	rc      io.ReadCloser
	c       *json.Cursor
	stack   []frame
	path    []byte
	around  []trace.Pair   // settings around the runs of the document
	run     *trace.RunMeta // current one, or nil
	owner   *trace.RunMeta // of the rows in the builder
	inRun   int            // length of the path of the current run with its point; -1: outside
	unit    string         // exponent of the unit of the distribution that is read
	unitOf  string         // its path and a point
	base    int64          // offset of the object that is a run, or of the document
	figures int            // of the current run
	rows    int            // of the current run
	found   bool           // something of the document was of use
	request Request
	builder *trace.Builder
	done    bool
}

// frame is a container that is being read.
type frame struct {
	array bool
	path  int // length of the path of the container
	run   bool
}

// Open begins reading src.
func Open(ctx context.Context, src formats.Source, opt formats.Options, d *Dialect) (formats.Reader, error) {
	rc, err := src.Open(0)
	if err != nil {
		return nil, err
	}
	r := &reader{d: d, table: d.table(), ctx: ctx, src: src, rc: rc, builder: trace.NewBuilder(trace.Requests), inRun: -1}
	r.Counts.Kinds = make(map[string]int64)
	for _, m := range r.table {
		r.inside = r.inside || m.what == 'r'
	}
	r.request.wanted = opt.Lists
	r.c = json.New(r, 0, max(opt.Block, 0))
	return r, nil
}

// Read is the cursor's reader: it ends when the context does.
func (r *reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.rc.Read(b)
}

// Next implements formats.Reader.
func (r *reader) Next() bool {
	for !r.done && r.builder.Rows() < batchRows && r.builder.ListLen(trace.ChunkGaps) < batchGaps {
		if r.owner != r.run && r.builder.Rows() > 0 {
			break
		}
		if r.owner = r.run; !r.step() {
			r.done = true
			r.finish()
		}
	}
	if r.builder.Rows() == 0 || r.Fail != nil {
		return false
	}
	r.Current = r.builder.Take(r.owner, r.src.Name())
	return true
}

// step reads the next member of the container that is open, or begins a
// document. It reports false at the end of the text.
func (r *reader) step() bool {
	if len(r.stack) == 0 {
		return r.document() && r.c.Err() == nil
	}
	top := r.stack[len(r.stack)-1]
	r.path = r.path[:top.path]
	if !r.c.More() {
		return r.leave(top)
	}
	key := ""
	if !top.array {
		b := r.c.Key(maxName)
		if _, bad := r.c.Problem(); bad {
			return r.broken()
		}
		if len(r.path) > 0 {
			r.path = append(r.path, '.')
		}
		r.path = append(r.path, b...)
		key = string(b)
	} else {
		r.path = append(r.path, "[]"...)
	}
	r.value(key)
	if _, bad := r.c.Problem(); bad {
		return r.broken()
	}
	return r.c.Err() == nil
}

// document begins the next document, or skips a line that is none.
func (r *reader) document() bool {
	r.path, r.around, r.found = r.path[:0], nil, false
	k := r.c.Kind()
	r.base = r.c.Offset()
	switch k {
	case json.EOF:
		return false
	case json.Object, json.Array:
		r.value("")
		if _, bad := r.c.Problem(); bad {
			return r.broken()
		}
		return true
	}
	r.c.SkipLine()
	r.skip(strayText, r.base)
	return len(r.c.Window()) > 0
}

// broken ends a document that breaks off or is no JSON.
func (r *reader) broken() bool {
	p, _ := r.c.Problem()
	r.add(diag.Diag{Code: "truncated", Severity: diag.DataLoss, Offset: p.Offset, Msg: "a document breaks off: " + p.Msg + "; what stands before that is used"})
	r.stack = r.stack[:0]
	r.close()
	r.c.SkipLine()
	return r.c.Err() == nil
}

// leave closes a container that has been read.
func (r *reader) leave(top frame) bool {
	if _, bad := r.c.Problem(); bad {
		return r.broken()
	}
	r.stack = r.stack[:len(r.stack)-1]
	if top.run || len(r.stack) == 0 {
		r.close()
	}
	return r.c.Err() == nil
}

// close ends the current run, or the document.
func (r *reader) close() {
	if r.run != nil {
		if r.rows == 0 {
			r.run.NoRequests = "this file holds no per-request data; " + r.d.HowTo
		}
		if r.d.Finish != nil {
			r.d.Finish(r.run)
		}
		if r.figures > 0 {
			r.parsed("report")
		}
	}
	r.run, r.inRun, r.figures, r.rows = nil, -1, 0, 0
	if len(r.stack) == 0 && !r.found {
		r.skip(notAResult, r.base)
	}
}
