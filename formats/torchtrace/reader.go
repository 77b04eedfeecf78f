package torchtrace

import (
	"context"
	"errors"
	"fmt"
	"io"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

const (
	rowsPerBatch  = 4096
	defaultMemory = 256 << 20
)

// reader reads one trace: first all of its text, then the stored events of one
// device after the other.
type reader struct {
	formats.Base
	ctx   context.Context
	src   formats.Source
	opt   formats.Options
	meta  trace.RunMeta
	vault vault
	limit int // items of a run of the stores
	head  header
	c     *collector
	f     *folder

	lines   []*timeline
	line    int // the timeline that sweep is about
	sweep   *sweep
	place   []place // of each timeline
	summary summary
	steps   *trace.Builder
	links   *trace.Builder // collectives
	started bool
	lost    bool // the end of the text is missing
}

func newReader(ctx context.Context, src formats.Source, opt formats.Options) *reader {
	budget := opt.Memory
	if budget <= 0 {
		budget = defaultMemory
	}
	if opt.Scratch != "" {
		budget /= 2 // beyond it there is a file
	}
	return &reader{ctx: ctx, src: src, opt: opt, vault: vault{budget: budget, file: source.TempFile{Dir: opt.Scratch}}, head: newHeader(), limit: runItems,
		meta:  trace.RunMeta{Format: formatName, Side: trace.Engine, NoRequests: "a profiler trace holds no requests"},
		steps: trace.NewBuilder(trace.Steps), links: trace.NewBuilder(trace.Collectives)}
}

// Next implements formats.Reader.
func (r *reader) Next() bool {
	r.Current = nil
	if r.Fail != nil {
		return false
	}
	if !r.started {
		r.started = true
		if r.Fail = r.start(); r.Fail != nil {
			return false
		}
	}
	for r.line < len(r.lines) && r.steps.Rows() < rowsPerBatch && r.links.Rows() < rowsPerBatch {
		if r.sweep == nil {
			r.begin()
		}
		if r.sweep.next() {
			continue
		}
		if r.Fail = errors.Join(r.sweep.in.err, r.sweep.hosts.in.err, r.f.launches.err); r.Fail != nil {
			return false
		}
		r.summary.device(r, r.lines[r.line], r.sweep)
		r.sweep = nil
		r.line++
	}
	if r.Fail = r.ctx.Err(); r.Fail != nil {
		return false
	}
	for _, b := range []*trace.Builder{r.steps, r.links} {
		if b.Rows() > 0 && (b.Rows() >= rowsPerBatch || r.line == len(r.lines)) {
			r.Current = b.Take(&r.meta, r.src.Name())
			return true
		}
	}
	return false
}

// start reads the text and gives the events to steps.
func (r *reader) start() error {
	in, err := r.src.Open(0)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := r.scan(in); err != nil {
		return fmt.Errorf("%s: %w", r.src.Name(), err)
	}
	for _, s := range []*store{&r.c.device, &r.c.calls, &r.c.ranges} {
		if err := s.done(); err != nil {
			return fmt.Errorf("%s: %w", r.src.Name(), err)
		}
	}
	r.f = newFolder(r.c, r.lost)
	lines, err := r.f.timelines()
	if err != nil {
		return fmt.Errorf("%s: %w", r.src.Name(), err)
	}
	r.lines = lines
	r.describe()
	return nil
}

// scan reads the text of the trace.
func (r *reader) scan(in io.Reader) error {
	r.c = newCollector(&r.vault, r.limit)
	d := newDocument(newWindow(r.ctx, in, r.opt.Block))
	d.diag = func(code string, sev diag.Severity, offset int64, msg, fix string) {
		r.report(code, sev, offset, 1, msg, fix)
	}
	d.header = func(key string, value []byte) { r.head.add(key, value) }
	d.event = func(e *event, offset int64) {
		r.c.b = d.s.b
		r.c.event(e, offset)
		if r.c.err != nil {
			d.w.eof, d.w.err = true, r.c.err
		}
	}
	d.read()
	r.Counts, r.lost = r.c.counts.account(d.damaged), d.lost
	r.c.diags(r.report)
	return d.w.err
}

func (r *reader) report(code string, sev diag.Severity, offset, count int64, msg, fix string) {
	r.Log.Add(diag.Diag{Code: code, Severity: sev, File: r.src.Name(), Offset: offset, Count: count, Msg: msg, Fix: fix})
}

// Runs implements formats.Reader: a trace is one run.
func (r *reader) Runs() []*trace.RunMeta { return []*trace.RunMeta{&r.meta} }

// Close implements formats.Reader.
func (r *reader) Close() error { return r.vault.file.Close() }
