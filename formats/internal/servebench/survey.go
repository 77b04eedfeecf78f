package servebench

import (
	"bytes"
	"context"
	"io"
	"sync"
	"sync/atomic"
)

// longRegion is the number of blocks after which a region is surveyed on several
// goroutines: shorter ones end before those have begun.
const longRegion = 4

// survey is the first pass over a long region on several goroutines. A block
// owns the lists that begin in it, and what a goroutine finds out about one does
// not depend on those before. Only when the blocks are put together in their
// order does it show which still belong to the region: the first that is not all
// plain lists, and everything behind it, is left to the cursor, which knows what
// stands there. So the survey decides nothing that a cursor would decide
// otherwise.
type survey struct {
	ctx     context.Context
	at      io.ReaderAt
	from    int64 // offset of the first block
	size    int64 // bytes per block
	end     byte  // what may end the record, which stands in no plain region
	claimed atomic.Int64
	stop    atomic.Bool
}

// plot is what a survey found in one block.
type plot struct {
	region       // its lists
	before int64 // offset behind the last byte before its first list, or its end, that is no separator
	plain  bool  // from its first list on there are only lists and separators
}

// extend surveys on from the end of r, which is outside of a list.
func (s *survey) extend(r *region, workers int) {
	s.from = r.to
	credits := make(chan struct{}, 2*workers) // for blocks in flight
	done := make([]chan plot, 2*workers)      // done[i % len(done)] delivers block i
	for i := range done {
		done[i] = make(chan plot, 1)
		credits <- struct{}{}
	}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			buf := make([]byte, s.size+slack+line)
			for range credits {
				if s.stop.Load() {
					return
				}
				i := s.claimed.Add(1) - 1
				from := s.from + i*s.size
				done[i%int64(len(done))] <- s.block(alongside(buf, from, s.size+slack), from)
			}
		})
	}
	for i := int64(0); ; i++ {
		p := <-done[i%int64(len(done))]
		if !s.join(r, &p, s.from+i*s.size) {
			break
		}
		credits <- struct{}{}
	}
	s.stop.Store(true)
	close(credits)
	wg.Wait()
}

// join adds a block that begins at the given offset to the region before it.
func (s *survey) join(r *region, p *plot, from int64) bool {
	switch {
	case r.to >= from+s.size: // within a list of an earlier block
		return true
	case !p.plain || p.before != max(r.to, from):
		return false
	case p.n > 0:
		r.n, r.filled, r.to = r.n+p.n, r.filled+p.filled, p.to
	}
	return true
}

// block surveys the block at offset from. Where the file ends, or cannot be
// read, it is not plain; when the context ends, none is.
func (s *survey) block(buf []byte, from int64) (p plot) {
	if s.ctx.Err() != nil {
		return p
	}
	n, _ := s.at.ReadAt(buf, from)
	if int64(n) < s.size || bytes.IndexByte(buf[:s.size], s.end) >= 0 {
		return p
	}
	own, behind := buf[:s.size], buf[s.size:n]
	first := bytes.IndexByte(own, '[')
	if first < 0 {
		first = len(own)
	}
	p.before = from + int64(len(bytes.TrimRight(own[:first], ", \t\r\n")))
	_, p.plain = p.scan(own[first:], from+int64(first))
	for at := from + s.size; p.plain && p.inside && !s.stop.Load(); { // the list goes on behind the block
		if len(behind) == 0 {
			n, _ = s.at.ReadAt(buf, at)
			behind = buf[:n]
		}
		if k := bytes.IndexByte(behind, ']'); k >= 0 {
			behind = behind[:k+1]
		}
		if len(behind) == 0 || bytes.IndexByte(behind, s.end) >= 0 {
			break
		}
		_, p.plain = p.scan(behind, at)
		at, behind = at+int64(len(behind)), nil
	}
	return p
}
