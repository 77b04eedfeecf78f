package servebench

import (
	"cmp"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"servescope/formats"
	"servescope/formats/internal/json"
)

// gapSource delivers the gaps of one request after the other, in order. err is
// an I/O error or errChanged. end is asked once all have been delivered that the
// first pass has counted: errChanged says that there are more.
type gapSource interface {
	next() (gaps []int64, ok bool, err error)
	end() error
	close()
}

// stream is the second look at a source without random access: it is opened
// once more and only ever moves forward.
type stream struct {
	src formats.Source
	rc  io.ReadCloser
	at  int64
}

// section returns the bytes [from, to).
func (s *stream) section(from, to int64) (io.Reader, error) {
	if s.rc == nil {
		rc, err := s.src.Open(0)
		if err != nil {
			return nil, err
		}
		s.rc = rc
	}
	n, err := io.CopyN(io.Discard, s.rc, from-s.at)
	s.at += n
	if err == io.EOF {
		err = errChanged
	}
	return &counted{io.LimitReader(s.rc, to-from), &s.at}, err
}

func (s *stream) close() {
	if s.rc != nil {
		s.rc.Close()
		s.rc = nil
	}
}

// counted counts what is read.
type counted struct {
	r io.Reader
	n *int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	*c.n += int64(n)
	return n, err
}

// gaps opens the second look at a region.
func (r *reader) gaps(g *region) (gapSource, error) {
	if at := r.src.At(); at != nil && !g.odd && r.opt.Workers > 1 && g.to-g.from > int64(r.block()) {
		return newBlocks(at, g, r.opt.Workers, r.block()), nil
	}
	var text io.Reader
	if at := r.src.At(); at != nil {
		text = io.NewSectionReader(at, g.from, g.to-g.from)
	} else {
		var err error
		if text, err = r.second.section(g.from, g.to); err != nil {
			return nil, err
		}
	}
	s := &sequence{region: g, size: int64(r.block())}
	if g.odd {
		s.odd.c = json.New(io.MultiReader(strings.NewReader("["), text, strings.NewReader("]")), g.from-1, r.block())
		s.odd.c.Open()
	} else {
		n := r.block() + slack
		s.parser = parser{buf: alongside(make([]byte, n+line), g.from, int64(n)), step: n}
		s.parser.start(text, g.from)
	}
	return s, nil
}

// sequence reads a region on the caller's goroutine.
type sequence struct {
	*region
	parser parser
	odd    oddLists
	part   part
	size   int64
}

func (s *sequence) close() {}

func (s *sequence) next() ([]int64, bool, error) {
	if s.part.next == len(s.part.lists) {
		s.part.reset()
		if err := s.more(); err != nil {
			return nil, false, err
		}
	}
	gaps, ok := s.part.take()
	return gaps, ok, nil
}

// more reads at least one list.
func (s *sequence) more() error {
	for at := int64(-1); len(s.part.lists) == 0; {
		var err error
		if s.region.odd {
			_, err = s.odd.next(&s.part)
		} else {
			err = s.parser.block(&s.part, s.parser.offset()+s.size)
		}
		if err == nil && len(s.part.lists) == 0 && (s.region.odd || at == s.parser.offset()) {
			err = errChanged
		}
		if err != nil {
			return err
		}
		at = s.parser.offset()
	}
	return nil
}

func (s *sequence) end() error {
	if s.region.odd {
		if s.part.next < len(s.part.lists) || s.odd.c.More() {
			return errChanged
		}
		return s.odd.err()
	}
	s.part.lists = s.part.lists[s.part.next:]
	if err := s.parser.block(&s.part, s.region.to); err != nil || len(s.part.lists) == 0 {
		return err
	}
	return errChanged
}

// blocks reads a region on several goroutines. A block of the region owns the
// lists that begin in it; parts are delivered in the order of the blocks. A
// worker takes an empty part before it claims a block, so at most credits
// blocks are ahead of the reader.
type blocks struct {
	at      io.ReaderAt
	region  *region
	size    int64
	claimed atomic.Int64
	free    chan *part
	done    []chan result // done[i % len(done)] delivers block i
	quit    chan struct{}
	workers sync.WaitGroup

	current int64
	part    *part
}

type result struct {
	part *part
	err  error
}

func newBlocks(at io.ReaderAt, g *region, workers, size int) *blocks {
	credits := 2 * workers
	b := &blocks{at: at, region: g, size: int64(size), free: make(chan *part, credits), done: make([]chan result, credits), quit: make(chan struct{})}
	for i := range b.done {
		b.free <- new(part)
		b.done[i] = make(chan result, 1)
	}
	for range workers {
		b.workers.Go(b.work)
	}
	return b
}

func (b *blocks) work() {
	buf := make([]byte, b.size+slack+line)
	p := parser{step: slack}
	for {
		var out *part
		select {
		case out = <-b.free:
		case <-b.quit:
			return
		}
		i := b.claimed.Add(1) - 1
		from := b.region.from + i*b.size
		if from >= b.region.to {
			return
		}
		out.reset()
		p.buf = alongside(buf, from, b.size+slack)
		p.start(io.NewSectionReader(b.at, from, b.region.to-from), from)
		err := p.block(out, min(from+b.size, b.region.to))
		b.done[i%int64(len(b.done))] <- result{out, err} // never blocks: see credits
	}
}

func (b *blocks) next() ([]int64, bool, error) {
	if more, err := b.more(); err != nil || !more {
		return nil, false, cmp.Or(err, errChanged)
	}
	gaps, ok := b.part.take()
	return gaps, ok, nil
}

func (b *blocks) end() error {
	more, err := b.more()
	if more {
		return errChanged
	}
	return err
}

// more makes part one with a list to take. It reports false behind the last.
func (b *blocks) more() (bool, error) {
	for b.part == nil || b.part.next == len(b.part.lists) {
		if b.part != nil {
			b.free <- b.part
			b.part = nil
		}
		if b.region.from+b.current*b.size >= b.region.to {
			return false, nil
		}
		r := <-b.done[b.current%int64(len(b.done))]
		b.part = r.part
		if r.err != nil {
			return false, r.err
		}
		b.current++
	}
	return true, nil
}

func (b *blocks) close() {
	close(b.quit)
	b.workers.Wait()
}
