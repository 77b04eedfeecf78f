package tokenlog

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/block"
)

// A batch ends when it has this many rows, or values in its lists.
const (
	batchRows   = 4096
	batchValues = 1 << 18
)

// eventReader scans blocks in parallel and folds their events in file order. On
// several workers blocks go from one goroutine to the next: each shard is folded by
// one, and another writes the rows of what has ended while the batch before is in
// use.
type eventReader struct {
	stream    *block.Stream[*events]
	run       *trace.RunMeta
	file      string
	builder   *trace.Builder
	assembler *assemble.Assembler
	flushing  bool // no events are left to fold
	batch     *trace.Batch
	diags     diag.Log
	account   formats.Account
	err       error
	ended     bool // there are no more rows

	own    step                        // of a reader without goroutines
	spare  chan *step                  // to fold the next into
	steps  [assemble.Shards]chan *step // that were folded up to a shard; closed behind the last
	wanted chan struct{}               // by Next, of the goroutine that writes; nil: no goroutines
	ready  chan bool                   // whether there is a batch
	wg     sync.WaitGroup
	ctx    context.Context
	cancel context.CancelFunc
}

// step is what folding a block, or some of what is left at the end, leads to.
type step struct {
	events *events
	free   func() // gives these back
	ends   assemble.Ends
	lines
	log diag.Log
}

// lines counts the lines of a block.
type lines struct {
	parsed, diagnosed, noise int64
	kinds                    [len(eventNames)]int64
}

// depth is how many blocks may be folded before the rows of the first are written.
const depth = 4

// start begins to fold ahead.
func (r *eventReader) start() {
	r.wanted, r.ready = make(chan struct{}), make(chan bool)
	r.spare = make(chan *step, depth)
	for range depth {
		r.spare <- new(step)
	}
	for k := range r.steps {
		r.steps[k] = make(chan *step, depth) // there is room for all
		r.wg.Go(func() { r.fold(k) })
	}
	r.wg.Go(r.work)
}

// fold folds one shard, and behind the last one flushes all.
func (r *eventReader) fold(k int) {
	defer close(r.steps[k])
	for s := r.before(k); s != nil; s = r.before(k) {
		if r.assembler.FoldShard(k, &s.events.Events, &s.ends) != nil {
			r.cancel()
			return
		}
		if k == assemble.Shards-1 {
			s.finish()
		}
		r.steps[k] <- s
	}
	if k < assemble.Shards-1 {
		return
	}
	for s := r.empty(); s != nil && r.flush(s); s = r.empty() {
		r.steps[k] <- s
	}
}

// before returns the next step that has to be folded for a shard, or nil.
func (r *eventReader) before(k int) *step {
	if k > 0 {
		return <-r.steps[k-1]
	}
	if s := r.empty(); s != nil && r.scan(s) {
		return s
	}
	return nil
}

// empty returns a step to use, or nil when the context is done.
func (r *eventReader) empty() *step {
	select {
	case s := <-r.spare:
		return s
	case <-r.ctx.Done():
		return nil
	}
}

// scan takes up the events of the next block, and reports whether there is one.
func (r *eventReader) scan(s *step) bool {
	if !r.stream.Next() {
		return false
	}
	s.events = r.stream.Value()
	s.free = r.stream.Hold()
	return true
}

// finish takes what else the scanner found, and gives the block back.
func (s *step) finish() {
	e := s.events
	s.log, s.lines = diag.Log{}, e.lines
	s.log.Merge(&e.log)
	s.parsed = int64(e.Len())
	s.free()
	s.events, s.free = nil, nil
}

// flush takes some of the requests that are left, and reports whether there are any.
func (r *eventReader) flush(s *step) bool {
	if r.ctx.Err() != nil || r.stream.Err() != nil || r.assembler.Err() != nil {
		return false
	}
	s.lines, s.log = lines{}, diag.Log{}
	more := r.assembler.FlushTo(&s.ends, func() bool {
		return s.ends.Len() >= batchRows || s.ends.Chunks() >= batchValues
	})
	return more || s.ends.Len() > 0
}

// step makes the next step without goroutines, and reports whether there is one.
func (r *eventReader) step(s *step) bool {
	if r.flushing || !r.scan(s) {
		r.flushing = true
		return r.flush(s)
	}
	for k := range assemble.Shards {
		if r.assembler.FoldShard(k, &s.events.Events, &s.ends) != nil {
			return false
		}
	}
	s.finish()
	return true
}

// work makes batches, each while the one before is in use: the builder keeps that
// one until it is asked for the next.
func (r *eventReader) work() {
	for more := true; more; {
		r.fill()
		if _, ok := <-r.wanted; !ok {
			return
		}
		more = r.take()
		r.ready <- more
	}
}

func (r *eventReader) Next() bool {
	switch {
	case r.ended:
	case r.wanted == nil:
		r.fill()
		r.ended = !r.take()
	default:
		r.wanted <- struct{}{}
		r.ended = !<-r.ready
	}
	return !r.ended
}

// fill writes what has ended until there are rows for a batch, or no more.
func (r *eventReader) fill() {
	for !r.full() {
		s := r.next()
		if s == nil {
			return
		}
		r.diags.Merge(&s.log)
		r.count(&s.lines)
		r.assembler.Write(&s.ends)
		if s != &r.own {
			r.spare <- s
		}
	}
}

// next returns what was folded next, or nil at the end.
func (r *eventReader) next() *step {
	s, ok := &r.own, true
	if r.wanted == nil {
		ok = r.step(s)
	} else {
		s, ok = <-r.steps[assemble.Shards-1]
	}
	if !ok {
		r.err = cmp.Or(r.assembler.Err(), r.stream.Err(), r.ctx.Err())
		return nil
	}
	return s
}

// take makes a batch of the rows so far, and reports whether there are any.
func (r *eventReader) take() bool {
	if r.builder.Rows() == 0 || r.err != nil {
		r.diags.Merge(r.stream.Diags())
		return false
	}
	r.batch = r.builder.Take(r.run, r.file)
	return true
}

// full reports whether the rows so far are enough for a batch.
func (r *eventReader) full() bool {
	return r.builder.Rows() >= batchRows || r.builder.ListLen(trace.ChunkGaps) >= batchValues
}

// count adds lines to the account.
func (r *eventReader) count(l *lines) {
	r.account.Total += l.parsed + l.diagnosed + l.noise
	r.account.Parsed += l.parsed
	r.account.Diagnosed += l.diagnosed
	r.account.Noise += l.noise
	for k, n := range l.kinds {
		if n > 0 {
			r.account.Kinds[eventNames[k]] += n
		}
	}
}

func (r *eventReader) Batch() *trace.Batch      { return r.batch }
func (r *eventReader) Err() error               { return r.err }
func (r *eventReader) Diags() *diag.Log         { return &r.diags }
func (r *eventReader) Runs() []*trace.RunMeta   { return []*trace.RunMeta{r.run} }
func (r *eventReader) Account() formats.Account { return r.account }

// Close implements formats.Reader.
func (r *eventReader) Close() error {
	r.ended = true
	r.cancel()
	if r.wanted != nil {
		close(r.wanted)
		r.wg.Wait()
		r.wanted = nil
	}
	return errors.Join(r.stream.Close(), r.assembler.Close())
}
