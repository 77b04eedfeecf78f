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
// several workers one goroutine folds, and another writes the rows of what has ended
// while the batch before is in use.
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

	own    step          // of a reader without goroutines
	spare  chan *step    // to fold the next into
	steps  chan *step    // that were folded; closed behind the last
	wanted chan struct{} // by Next, of the goroutine that writes; nil: no goroutines
	ready  chan bool     // whether there is a batch
	wg     sync.WaitGroup
	ctx    context.Context
	cancel context.CancelFunc
}

// step is what folding a block, or some of what is left at the end, leads to.
type step struct {
	lines
	ends assemble.Ends
	log  diag.Log
}

// lines counts the lines of a block.
type lines struct {
	parsed, diagnosed, noise int64
	kinds                    [len(eventNames)]int64
}

// depth is how many blocks may be folded before the rows of the first are written.
const depth = 4

// fold folds ahead of the goroutine that writes.
func (r *eventReader) fold() {
	defer close(r.steps)
	for {
		select {
		case s := <-r.spare:
			if !r.step(s) {
				return
			}
			r.steps <- s // never blocks: there is room for all
		case <-r.ctx.Done():
			return
		}
	}
}

// step makes the next step of s, and reports whether there is one.
func (r *eventReader) step(s *step) bool {
	r.assembler.Reuse(&s.ends)
	s.lines, s.log = lines{}, diag.Log{}
	switch {
	case r.assembler.Err() != nil:
		return false
	case !r.flushing && r.stream.Next():
		e := r.stream.Value()
		s.log.Merge(&e.log)
		r.assembler.FoldTo(&e.Events, &s.ends)
		s.lines = e.lines
		s.parsed = int64(len(e.Ticks))
		return true
	case r.stream.Err() != nil:
		return false
	}
	r.flushing = true
	more := r.assembler.FlushTo(&s.ends, func() bool {
		return s.ends.Len() >= batchRows || s.ends.Chunks() >= batchValues
	})
	return more || s.ends.Len() > 0
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
		s, ok = <-r.steps
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
