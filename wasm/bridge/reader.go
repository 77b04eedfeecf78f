package bridge

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/wasm/wire"
)

// parsed is what a worker knows when it has read a range.
type parsed struct {
	Runs    []*trace.RunMeta
	Diags   []diag.Diag
	Account formats.Account
	Err     string
}

// arrived is a batch, and whether it has been folded.
type arrived struct {
	batch  *trace.Batch
	folded bool
}

// remote is the reader of a range that another worker reads.
type remote struct {
	ctx    context.Context
	cancel func()
	size   int // bytes of the range
	read   func(int) error

	mu    sync.Mutex
	parts [][]byte // that have come and have not been looked at
	over  bool     // none will come
	came  chan struct{}

	wire    wire.Reader
	batches []arrived
	end     parsed
	ended   bool
	err     error
}

// answer takes an answer of the worker; none at all is the end of answers.
func (r *remote) answer(head, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if body != nil {
		r.parts = append(r.parts, body)
	}
	r.over = r.over || head == nil
	select {
	case r.came <- struct{}{}:
	default:
	}
}

// part returns the next part, nil when there is none.
func (r *remote) part() []byte {
	for {
		r.mu.Lock()
		if len(r.parts) > 0 {
			out := r.parts[0]
			r.parts = r.parts[1:]
			r.mu.Unlock()
			return out
		}
		over := r.over
		r.mu.Unlock()
		if over {
			return nil
		}
		select {
		case <-r.came:
		case <-r.ctx.Done():
			return nil
		}
	}
}

// Next implements formats.Reader.
func (r *remote) Next() bool {
	if len(r.batches) > 0 {
		r.batches = r.batches[1:]
	}
	for len(r.batches) == 0 && !r.ended && r.err == nil {
		text := r.part()
		switch {
		case r.ctx.Err() != nil:
			r.err = context.Cause(r.ctx)
		case text == nil:
			r.err = errEnded
		default:
			r.take(text)
		}
	}
	return len(r.batches) > 0
}

func (r *remote) take(text []byte) {
	r.ended, r.err = r.wire.Parts(bytes.NewReader(text), func(b *trace.Batch) error {
		r.batches = append(r.batches, arrived{b, r.wire.Folded})
		return nil
	}, &r.end)
	switch {
	case !r.ended:
	case r.end.Err != "":
		r.err = errors.New(r.end.Err)
	default:
		r.err = r.read(r.size)
	}
}

// Batch implements formats.Reader.
func (r *remote) Batch() *trace.Batch { return r.batches[0].batch }

// Folded implements formats.Reader.
func (r *remote) Folded() bool { return r.batches[0].folded }

// Err implements formats.Reader.
func (r *remote) Err() error { return r.err }

// Diags implements formats.Reader.
func (r *remote) Diags() *diag.Log {
	log := new(diag.Log)
	for _, d := range r.end.Diags {
		log.Add(d)
	}
	return log
}

// Runs implements formats.Reader.
func (r *remote) Runs() []*trace.RunMeta { return r.end.Runs }

// Account implements formats.Reader.
func (r *remote) Account() formats.Account { return r.end.Account }

// Close implements formats.Reader.
func (r *remote) Close() error {
	r.cancel()
	return nil
}
