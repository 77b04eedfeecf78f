//go:build js && wasm

package main

import (
	"io"
	"syscall/js"

	"servescope/formats/source"
)

// chunkSize is how much of a stream is read at a time.
const chunkSize = 1 << 20

// stream reads a part of a file from front to back, which costs the browser half of
// what slices do. It holds the last two chunks, since readers go back a little, and
// the next one is on its way into the memory of an older one.
type stream struct {
	*blob
	held  [2]chunk
	at    int64         // of the next chunk
	next  chan js.Value // null at the end
	ended bool
	from  js.Value // what servescopeStream has returned
	take  js.Func
}

// chunk is what a file holds at an offset, in a Uint8Array.
type chunk struct {
	off   int64
	bytes js.Value
}

// Stream implements formats.Streamer.
func (b *blob) Stream(from, to int64) source.ReadAtCloser {
	s := &stream{blob: b, at: from, next: make(chan js.Value, 1)}
	for i := range s.held {
		s.held[i] = chunk{from, js.Global().Get("Uint8Array").New()}
	}
	s.take = js.FuncOf(func(_ js.Value, args []js.Value) any {
		s.next <- args[0] // never blocks: one chunk is asked for at a time
		return nil
	})
	s.from = js.Global().Call("servescopeStream", b.file.Call("slice", from, min(to, b.size)), chunkSize, s.take)
	s.from.Call("next", s.held[0].bytes)
	return s
}

// ReadAt implements io.ReaderAt. What the stream does not have comes in slices, which
// also tell best why a file cannot be read.
func (s *stream) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) && s.reach(off+int64(n)) {
		c := s.held[0]
		if off+int64(n) >= s.held[1].off {
			c = s.held[1]
		}
		from := int(off-c.off) + n
		n += js.CopyBytesToGo(p[n:], c.bytes.Call("subarray", from, from+len(p)-n))
	}
	if n < len(p) {
		var m int
		m, err = s.blob.ReadAt(p[n:], off+int64(n))
		n += m
	}
	return n, err
}

// reach reports whether the byte at off is held; if it is the next one, its chunk is
// waited for.
func (s *stream) reach(off int64) bool {
	if off == s.at && !s.ended {
		c := chunk{s.at, <-s.next}
		if s.ended = c.bytes.IsNull(); s.ended {
			return false
		}
		s.at += int64(c.bytes.Length())
		old := s.held[0]
		s.held[0], s.held[1] = s.held[1], c
		s.from.Call("next", old.bytes)
	}
	return off >= s.held[0].off && off < s.at
}

// Close implements io.Closer.
func (s *stream) Close() error {
	s.from.Call("close")
	s.take.Release()
	s.ended, s.at = true, s.held[0].off
	return nil
}

// onward is a file from an offset on: its beginning, at which others look too, in
// slices, the rest as a stream.
type onward struct {
	*blob
	off, read int64
	rest      source.ReadAtCloser // nil before it has begun
}

// Read implements io.Reader.
func (r *onward) Read(p []byte) (n int, err error) {
	p = p[:min(int64(len(p)), r.size-r.off)]
	switch {
	case len(p) == 0:
		return 0, io.EOF
	case r.read < windowSize:
		n, err = r.ReadAt(p, r.off)
	default:
		if r.rest == nil {
			r.rest = r.Stream(r.off, r.size)
		}
		n, err = r.rest.ReadAt(p, r.off)
	}
	r.off, r.read = r.off+int64(n), r.read+int64(n)
	return n, err
}

// Close implements io.Closer.
func (r *onward) Close() error {
	if r.rest == nil {
		return nil
	}
	return r.rest.Close()
}
