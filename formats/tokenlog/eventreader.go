package tokenlog

import (
	"cmp"
	"context"
	"errors"
	"sync"

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

// eventReader scans blocks in parallel and folds their events in file order, each
// shard by itself: the goroutine that has scanned a block folds it too, as its events
// are in that processor's cache. On several workers a further goroutine writes the rows
// of what has ended while the batch before is in use.
type eventReader struct {
	formats.Base
	stream    *block.Stream[*events]
	run       *trace.RunMeta
	file      string
	builder   *trace.Builder
	assembler *assemble.Assembler
	spare     spare
	flushing  bool // no events are left to fold
	ended     bool // there are no more rows

	wanted chan struct{} // by Next, of the goroutine that writes; nil: no goroutines
	ready  chan bool     // whether there is a batch
	wg     sync.WaitGroup
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// lines counts the lines of a block.
type lines struct {
	parsed, diagnosed, noise int64
	kinds                    [len(eventNames)]int64
}

// foldShard returns the step of a block in which a shard is folded.
func (r *eventReader) foldShard(k int) func(*block.Block, *events) {
	return func(_ *block.Block, e *events) {
		if k == 0 {
			e.ends = r.spare.take()
		}
		if err := r.assembler.FoldShard(k, &e.Events, e.ends); err != nil {
			r.cancel(err)
		}
	}
}

// spare is ends whose rows are written, to fold into again.
type spare struct {
	mu   sync.Mutex
	list []*assemble.Ends
}

func (s *spare) put(ends *assemble.Ends) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, ends)
}

func (s *spare) take() *assemble.Ends {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.list) - 1
	if n < 0 {
		return new(assemble.Ends)
	}
	ends := s.list[n]
	s.list = s.list[:n]
	return ends
}

// write writes the rows of requests that have ended.
func (r *eventReader) write(ends *assemble.Ends) {
	r.assembler.Write(ends)
	r.spare.put(ends)
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
		if r.flushing || !r.stream.Next() {
			r.flushing = true
			if !r.flush() {
				return
			}
			continue
		}
		e := r.stream.Value()
		r.Log.Merge(&e.log)
		e.parsed = int64(e.Len())
		r.count(&e.lines)
		r.write(e.ends)
	}
}

// flush writes some of the requests that have not ended, and reports whether there
// are more.
func (r *eventReader) flush() (more bool) {
	if r.Fail = cmp.Or(context.Cause(r.ctx), r.stream.Err()); r.Fail != nil {
		return false
	}
	ends := r.spare.take()
	more = r.assembler.FlushTo(ends, func() bool { return ends.Len() >= batchRows || ends.Chunks() >= batchValues })
	r.write(ends)
	r.Fail = r.assembler.Err()
	return more && r.Fail == nil
}

// take makes a batch of the rows so far, and reports whether there are any.
func (r *eventReader) take() bool {
	if r.builder.Rows() == 0 || r.Fail != nil {
		r.Log.Merge(r.stream.Diags())
		return false
	}
	r.Current = r.builder.Take(r.run, r.file)
	return true
}

// full reports whether the rows so far are enough for a batch.
func (r *eventReader) full() bool {
	return r.builder.Rows() >= batchRows || r.builder.ListLen(trace.ChunkGaps) >= batchValues
}

// count adds lines to the account.
func (r *eventReader) count(l *lines) {
	r.Counts.Total += l.parsed + l.diagnosed + l.noise
	r.Counts.Parsed += l.parsed
	r.Counts.Diagnosed += l.diagnosed
	r.Counts.Noise += l.noise
	for k, n := range l.kinds {
		if n > 0 {
			r.Counts.Kinds[eventNames[k]] += n
		}
	}
}

func (r *eventReader) Runs() []*trace.RunMeta { return []*trace.RunMeta{r.run} }

// Close implements formats.Reader.
func (r *eventReader) Close() error {
	r.ended = true
	r.cancel(nil)
	if r.wanted != nil {
		close(r.wanted)
		r.wg.Wait()
		r.wanted = nil
	}
	return errors.Join(r.stream.Close(), r.assembler.Close())
}
