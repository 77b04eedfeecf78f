package block

import (
	"bytes"
	"sync"

	"servescope/formats"
)

// filler reads blocks. Its methods are safe for concurrent use.
type filler interface {
	// claim takes a sequence number without reading.
	claim() int64
	// next claims the next block and reads it into buf, which may grow. An
	// error belongs to the block of that number; end means there is none.
	next(b *Block, buf []byte) (seq int64, out []byte, end bool, err error)
	close() error
}

// extent is what both kinds of filler know of their task.
type extent struct {
	from, to int64 // the lines that start here; to < 0: up to the end of the source
	size     int   // bytes per block
	maxLine  int   // bytes of the longest line, without its newline
	limit    int   // bytes of a buffer from which it waits for its turn
	turn     *turn
}

func newFiller(src formats.Source, rng formats.Range, opt Options, limit int, t *turn) filler {
	e := extent{rng.From, rng.To, opt.Block, opt.MaxLine, limit, t}
	if at := src.At(); at != nil {
		return newPaged(e, at, src.Size())
	}
	return &piped{extent: e, src: src}
}

// lineStart returns the first index from i on at which a line of buf starts.
func lineStart(buf []byte, i int64) int64 {
	if i <= 0 {
		return 0
	}
	if k := bytes.IndexByte(buf[i-1:], '\n'); k >= 0 {
		return i + int64(k)
	}
	return int64(len(buf))
}

// buffers holds those of streams that are closed: a large source is read by many
// readers, one after the other.
var buffers sync.Pool // of *[]byte

// buffer returns buf empty with room for n bytes and the padding.
func buffer(buf []byte, n int) []byte {
	if cap(buf) == 0 {
		if spare, ok := buffers.Get().(*[]byte); ok {
			buf = *spare
		}
	}
	return reserve(buf[:0], n)
}

// skew is where in a cache line of 64 bytes a buffer begins: where in one of the
// source the byte lies before a slot. Processors copy up to three times as fast
// from a page of the cache to memory that is aligned as it is.
const skew = 63

// reserve returns buf with room for n more bytes and the padding.
func reserve(buf []byte, n int) []byte {
	if cap(buf)-len(buf) >= n+Pad {
		return buf
	}
	out := make([]byte, skew+len(buf)+n+Pad)[skew:][:len(buf)] // what is as large as that begins a page
	copy(out, buf)
	return out
}

// pad puts newlines behind buf.
func pad(buf []byte) []byte {
	buf = reserve(buf, 0)
	behind := buf[len(buf) : len(buf)+Pad]
	for i := range behind {
		behind[i] = '\n'
	}
	return buf
}
