// Package block reads the lines of a source in blocks that end at line ends,
// maps them on several goroutines and delivers the results in file order.
//
// A range owns the lines that start in it, so a source may be cut at any byte
// and every line is still in exactly one range and one block. Memory is bounded
// whatever the length of a line: one that is longer than MaxLine is skipped to
// its end, with a diagnostic.
//
//	s := block.Map(ctx, src, rng, opt, newResult, scan)
//	defer s.Close()
//	for s.Next() {
//		use(s.Block(), s.Value())
//	}
//	err := s.Err()
package block

import (
	"context"
	"sync"

	"servescope/analyzer/diag"
	"servescope/formats"
)

// Sizes in bytes. Size is the default block: with it the bytes, and what is made
// of them, stay in a core's second-level cache.
const (
	Size    = 256 << 10
	MaxLine = 64 << 20
	Pad     = 64
)

// soft is the buffer size, in blocks, above which a block of a very long line
// waits until it is the oldest in flight, so that only one such buffer exists.
const soft = 4

// Block is a number of whole lines. Each ends in a newline, except perhaps the
// last line of the source. At least Pad newlines follow Data within its
// capacity: Data[:len(Data)+Pad] spares a scanner the checks for the end.
type Block struct {
	Data    []byte // may be empty where TooLong is set
	Off     int64  // offset of Data[0] in the source
	TooLong int64  // offset of the line behind Data that was skipped for its length, or -1
}

// Options says how a source is read. A zero field means its default.
type Options struct {
	Workers int // goroutines that read and map, 1: none, the work is done in Next
	Block   int // bytes per block
	MaxLine int // bytes of the longest line that is read
}

// Stream delivers the results of a Map in file order. It is used by one
// goroutine.
type Stream[T any] struct {
	// Spare, if set, takes the values back when the stream is closed.
	Spare func(T)

	fill  filler
	fresh func() T
	work  func(*Block, T)
	steps []func(*Block, T) // that come behind work, each in file order
	turns []turn            // of these
	limit int               // capacity from which a buffer and its value are not kept

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	free   chan *item[T] // credits: an item is taken before a block is claimed
	done   chan *item[T]

	items   []*item[T] // all of them
	pending []*item[T] // arrived early, by sequence number modulo their count
	current *item[T]
	next    int64 // sequence number of the next item to deliver
	turn    turn

	file  string
	log   diag.Log
	err   error
	ended bool
}

// item is one block in flight.
type item[T any] struct {
	Block
	value T
	buf   []byte
	seq   int64
	end   bool // there is no such block
	err   error
}

// Map begins to read the lines that start in rng. For each block it calls work
// with a value made by fresh; values and blocks are reused once Next has moved
// on. Then the same goroutine, which has the block in its cache, calls each of steps
// when it has returned for the block before. Close must be called.
func Map[T any](ctx context.Context, src formats.Source, rng formats.Range, opt Options, fresh func() T, work func(b *Block, value T), steps ...func(b *Block, value T)) *Stream[T] {
	if opt.Block <= 0 {
		opt.Block = Size
	}
	if opt.MaxLine <= 0 {
		opt.MaxLine = MaxLine
	}
	opt.Block = min(opt.Block, opt.MaxLine)
	workers := max(opt.Workers, 1)
	credits := 1
	if workers > 1 {
		credits = 2*workers + 2
	}
	s := &Stream[T]{fresh: fresh, work: work, steps: steps, turns: make([]turn, len(steps)), file: src.Name(), pending: make([]*item[T], credits)}
	s.limit = soft*opt.Block + 2*extra
	s.ctx, s.cancel = context.WithCancel(ctx)
	s.turn.init(s.ctx)
	for k := range s.turns {
		s.turns[k].init(s.ctx)
	}
	s.fill = newFiller(src, rng, opt, s.limit, &s.turn)
	s.free = make(chan *item[T], credits)
	s.done = make(chan *item[T], credits)
	for range credits {
		it := &item[T]{value: fresh()}
		s.items = append(s.items, it)
		s.free <- it
	}
	if workers > 1 {
		s.wg.Add(workers)
		for range workers {
			go s.run()
		}
	}
	return s
}

// run claims, reads and maps blocks until there are no more.
func (s *Stream[T]) run() {
	defer s.wg.Done()
	for {
		select {
		case it := <-s.free:
			s.produce(it)
			last := it.end || it.err != nil
			s.done <- it // never blocks: there is room for every credit
			if last {
				return
			}
		case <-s.ctx.Done():
			return
		}
	}
}

// produce claims, reads and maps one block.
func (s *Stream[T]) produce(it *item[T]) {
	it.Block = Block{TooLong: -1}
	it.end, it.err = false, s.ctx.Err()
	if it.err != nil {
		it.seq = s.fill.claim()
		return
	}
	it.seq, it.buf, it.end, it.err = s.fill.next(&it.Block, it.buf)
	if it.Data != nil {
		s.work(&it.Block, it.value)
	}
	if !it.end && it.err == nil {
		s.order(it)
	}
}

// order takes the steps in which blocks come in file order.
func (s *Stream[T]) order(it *item[T]) {
	for k, step := range s.steps {
		if !s.turns[k].wait(it.seq) {
			it.err = s.ctx.Err()
			return
		}
		if it.Data != nil {
			step(&it.Block, it.value)
		}
		s.turns[k].advance(it.seq + 1)
	}
}

// Next moves on to the next block that has lines, or a line that was skipped. It returns false at the end,
// after an error, and when the context is done.
func (s *Stream[T]) Next() bool {
	for !s.ended {
		s.release()
		it := s.take()
		if err := s.ctx.Err(); err != nil {
			s.ended, s.err = true, err
			return false
		}
		s.current = it
		if it.err != nil {
			s.ended, s.err = true, it.err
			return false
		}
		if it.TooLong >= 0 {
			s.log.Add(diag.Diag{Code: "line_too_long", Severity: diag.DataLoss, File: s.file, Offset: it.TooLong,
				Msg: "a line is too long to be read and was skipped", Fix: "write one record per line"})
		}
		if it.end {
			s.ended = true
			return false
		}
		if it.Data != nil {
			return true
		}
	}
	return false
}

// take returns the item whose turn it is, or nil when the context is done.
func (s *Stream[T]) take() *item[T] {
	if cap(s.free) == 1 { // no goroutines
		it := <-s.free
		s.produce(it)
		return it
	}
	slot := &s.pending[s.next%int64(len(s.pending))]
	for *slot == nil {
		select {
		case it := <-s.done:
			s.pending[it.seq%int64(len(s.pending))] = it
		case <-s.ctx.Done():
			return nil
		}
	}
	it := *slot
	*slot = nil
	return it
}

// release gives back the current item and with it its credit.
func (s *Stream[T]) release() {
	it := s.current
	if it == nil {
		return
	}
	if cap(it.buf) > s.limit {
		it.buf, it.value = nil, s.fresh()
	}
	s.current = nil
	s.next++
	s.turn.advance(s.next)
	s.free <- it
}

// Block returns the current block, valid until the next call of Next.
func (s *Stream[T]) Block() *Block { return &s.current.Block }

// Value returns what work made of the current block, valid until the next call
// of Next.
func (s *Stream[T]) Value() T { return s.current.value }

// Err returns the error that ended the stream, or nil at the end of the source.
func (s *Stream[T]) Err() error { return s.err }

// Diags returns which lines were skipped, complete once Next has returned false.
// A source that became shorter ends early and says so itself (formats.Faulty).
func (s *Stream[T]) Diags() *diag.Log { return &s.log }

// Close stops the goroutines, waits for them and closes what they read.
func (s *Stream[T]) Close() error {
	s.ended = true
	s.cancel()
	s.wg.Wait()
	for _, it := range s.items {
		buf := it.buf
		if cap(buf) > s.limit { // as in release
			continue
		}
		if cap(buf) > 0 {
			buffers.Put(&buf)
		}
		if s.Spare != nil {
			s.Spare(it.value)
		}
	}
	s.items = nil
	return s.fill.close()
}
