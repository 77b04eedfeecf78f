package torchtrace

import (
	"context"
	"errors"
	"io"
)

const (
	defaultBlock = 256 << 10 // stays in the L2 cache together with the events made of it
	maxValue     = 16 << 20  // longest event or header value that is read; longer ones are skipped
	pad          = 16        // zero bytes behind the window, so that loops may look ahead
)

// window holds a part of a stream: b[:n], whose first byte has the offset base,
// followed by zeros.
type window struct {
	ctx   context.Context
	src   io.Reader
	block int
	b     []byte
	n     int
	base  int64
	eof   bool
	err   error // of reading or of the context; ends the stream as eof does
}

func newWindow(ctx context.Context, src io.Reader, block int) *window {
	if block <= 0 {
		block = defaultBlock
	}
	return &window{ctx: ctx, src: src, block: block, b: make([]byte, block+pad)}
}

// more drops the bytes before keep and reads further ones. It reports false at
// the end of the stream, and when maxValue bytes would have to be held (full).
// Every index into the window moves down by keep, whatever it reports.
func (w *window) more(keep int) bool {
	if keep > 0 {
		copy(w.b, w.b[keep:w.n])
		w.n -= keep
		w.base += int64(keep)
		clear(w.b[w.n : w.n+pad])
	}
	if w.eof || w.full() {
		return false
	}
	want := max(w.block, min(w.n, maxValue-w.n)) // twice as much as was not enough
	if need := w.n + want + pad; need > len(w.b) {
		grown := make([]byte, need)
		copy(grown, w.b[:w.n])
		w.b = grown
	}
	from := w.n
	w.read(from + want)
	clear(w.b[w.n : w.n+pad])
	return w.n > from
}

// full reports whether the window holds as much as it may.
func (w *window) full() bool { return w.n >= maxValue }

// read reads until the window holds to bytes, or to the end.
func (w *window) read(to int) {
	for idle := 0; w.n < to && !w.eof; idle++ {
		if w.err = w.ctx.Err(); w.err != nil {
			w.eof = true
			return
		}
		n, err := w.src.Read(w.b[w.n:to])
		if n > 0 {
			w.n += n
			idle = 0
		}
		switch {
		case errors.Is(err, io.EOF):
			w.eof = true
		case err != nil:
			w.eof, w.err = true, err
		case idle == 100:
			w.eof, w.err = true, io.ErrNoProgress
		}
	}
}

// drain reads to the end without keeping anything and returns how many bytes
// there were.
func (w *window) drain() int64 {
	from := w.base + int64(w.n)
	for !w.eof {
		w.base += int64(w.n)
		w.n = 0
		w.read(len(w.b) - pad)
	}
	return w.base + int64(w.n) - from
}
