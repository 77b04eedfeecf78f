package otlp

import (
	"context"
	"io"
	"sync"
	"sync/atomic"

	"servescope/formats"
	"servescope/formats/internal/json"
)

// parts delivers the parts of a source in file order. A part is valid until the
// next call.
type parts interface {
	next() (*part, bool)
	err() error
	close() error
}

// guarded is a reader that ends with its context.
type guarded struct {
	ctx context.Context
	r   io.Reader
}

func (g guarded) Read(b []byte) (int, error) {
	if err := g.ctx.Err(); err != nil {
		return 0, err
	}
	return g.r.Read(b)
}

// open begins to read a source: on several goroutines if it can be read at any
// offset and may be.
func open(ctx context.Context, src formats.Source, opt formats.Options) (parts, error) {
	block := opt.Block
	if block <= 0 {
		block = json.DefaultBuffer
	}
	block = min(block, 1<<20) // a span that is too large does not fit
	step := int64(block) * blocksPerRange
	if at, size := src.At(), src.Size(); opt.Workers > 1 && at != nil && size > step {
		return newRanges(ctx, at, size, step, block, opt.Workers), nil
	}
	rc, err := src.Open(0)
	if err != nil {
		return nil, err
	}
	return &serial{w: newWalker(guarded{ctx, rc}, 0, 0, -1, block), rc: rc}, nil
}

// serial reads a source from its start to its end.
type serial struct {
	w  *walker
	rc io.Closer
	p  part
}

func (s *serial) next() (*part, bool) { return &s.p, s.w.next(&s.p) }
func (s *serial) err() error          { return s.w.c.Err() }
func (s *serial) close() error        { return s.rc.Close() }

// blocksPerRange is the size of a range in blocks.
const blocksPerRange = 16

// ranges reads a source on several goroutines. Each claims a range, and reads
// the documents whose lines start in it; the parts of the ranges are delivered in
// order. As many ranges are ahead of the reader as there are slots.
type ranges struct {
	ctx     context.Context
	cancel  context.CancelFunc
	at      io.ReaderAt
	size    int64
	step    int64
	block   int
	claimed atomic.Int64
	credits chan struct{}
	free    chan *part
	slots   []chan message // parts of range i are sent to slots[i%len]
	workers sync.WaitGroup

	current int64
	last    *part
	failure error
}

// message is a part of a range. The last message of a range carries no part.
type message struct {
	part *part
	err  error
}

func newRanges(ctx context.Context, at io.ReaderAt, size, step int64, block, workers int) *ranges {
	n := workers + 1
	r := &ranges{at: at, size: size, step: step, block: block, credits: make(chan struct{}, n), free: make(chan *part, 2*n), slots: make([]chan message, n)}
	r.ctx, r.cancel = context.WithCancel(ctx)
	for i := range r.slots {
		r.slots[i] = make(chan message, 1)
		r.credits <- struct{}{}
	}
	for range cap(r.free) {
		r.free <- new(part)
	}
	for range workers {
		r.workers.Go(r.work)
	}
	return r
}

// work reads ranges until there are no more.
func (r *ranges) work() {
	for {
		select {
		case <-r.credits:
		case <-r.ctx.Done():
			return
		}
		i := r.claimed.Add(1) - 1
		from := i * r.step
		if from >= r.size {
			return
		}
		if !r.read(r.slots[i%int64(len(r.slots))], from, min(from+r.step, r.size)) {
			return
		}
	}
}

// read sends the parts of one range. It reports false when the receiver has gone.
func (r *ranges) read(out chan<- message, from, to int64) bool {
	offset := max(from-1, 0) // the byte before tells whether a line begins
	w := newWalker(guarded{r.ctx, io.NewSectionReader(r.at, offset, r.size-offset)}, offset, from, to, r.block)
	for {
		var m message
		select {
		case m.part = <-r.free:
		case <-r.ctx.Done():
			return false
		}
		if !w.next(m.part) {
			r.free <- m.part
			m = message{err: w.c.Err()}
		}
		select {
		case out <- m:
		case <-r.ctx.Done():
			return false
		}
		if m.part == nil {
			return true
		}
	}
}

func (r *ranges) next() (*part, bool) {
	if r.last != nil {
		r.free <- r.last // there is room for every part
		r.last = nil
	}
	for r.failure == nil && r.current*r.step < r.size {
		select {
		case m := <-r.slots[r.current%int64(len(r.slots))]:
			if r.last = m.part; m.part != nil {
				return m.part, true
			}
			r.failure = m.err
			r.current++
			r.credits <- struct{}{}
		case <-r.ctx.Done():
			r.failure = r.ctx.Err()
		}
	}
	return nil, false
}

func (r *ranges) err() error { return r.failure }

func (r *ranges) close() error {
	r.cancel()
	r.workers.Wait()
	return nil
}
