package block

import (
	"bytes"
	"context"
	"io"
	"sync/atomic"
)

// extra is room for the rest of a block's last line, where that is short.
const extra = 64 << 10

// paged reads a source with random access in slots of equal size. A slot owns
// the lines that start in it.
type paged struct {
	extent
	at  io.ReaderAt
	eof int64 // size of the source as it was opened, or -1; what is appended later is not read
	seq atomic.Int64
}

func newPaged(e extent, at io.ReaderAt, size int64) *paged {
	if size >= 0 && (e.to < 0 || e.to > size) {
		e.to = size
	}
	return &paged{extent: e, at: at, eof: size}
}

func (p *paged) claim() int64 { return p.seq.Add(1) - 1 }

func (p *paged) next(b *Block, buf []byte) (seq int64, out []byte, end bool, err error) {
	seq = p.claim()
	start := p.from + seq*int64(p.size)
	stop := start + int64(p.size)
	if p.to >= 0 {
		if start >= p.to {
			return seq, buf, true, nil
		}
		stop = min(stop, p.to)
	}
	first := max(start-1, 0) // the byte before tells whether a line starts at start
	buf = reserve(buf[:0], p.size+1+extra)
	buf, err = p.read(buf, first, int(stop-first))
	if err != nil && err != io.EOF {
		return seq, buf, false, err
	}
	if err == io.EOF && first+int64(len(buf)) <= start {
		return seq, buf, true, nil
	}
	i := 0
	if start > 0 {
		if i = bytes.IndexByte(buf, '\n') + 1; i == 0 || i == len(buf) {
			return seq, buf, false, nil // no line starts here
		}
	}
	b.Off = first + int64(i)
	if buf[len(buf)-1] != '\n' {
		if buf, err = p.lastLine(b, buf, i, seq, err == io.EOF); err != nil {
			return seq, buf, false, err
		}
	}
	buf = pad(buf)
	b.Data = buf[i:]
	return seq, buf, false, nil
}

// lastLine reads on to the end of the line that buf ends in, unless the source
// ends there. buf[i:] are the block's lines so far.
func (p *paged) lastLine(b *Block, buf []byte, i int, seq int64, eof bool) (out []byte, err error) {
	line := i + bytes.LastIndexByte(buf[i:], '\n') + 1
	end := -1 // where its newline is
	for step := 4096; end < 0 && !eof && len(buf)-line <= p.maxLine; step = min(2*step, 1<<20) {
		if len(buf)+step > p.limit && !p.turn.wait(seq) {
			return buf, context.Canceled
		}
		known := len(buf)
		buf, err = p.read(buf, b.Off+int64(known-i), step)
		if eof = err == io.EOF; err != nil && !eof {
			return buf, err
		}
		if k := bytes.IndexByte(buf[known:], '\n'); k >= 0 {
			end = known + k
		}
	}
	if end < 0 {
		end = len(buf)
	} else {
		buf = buf[:end+1]
	}
	if end-line > p.maxLine {
		b.TooLong = b.Off + int64(line-i)
		buf = buf[:line]
	}
	return buf, nil
}

// read appends n bytes at offset off to buf, fewer at the end of the source,
// which it reports as io.EOF.
func (p *paged) read(buf []byte, off int64, n int) ([]byte, error) {
	if p.eof >= 0 && off+int64(n) > p.eof {
		if n = int(max(p.eof-off, 0)); n == 0 {
			return buf, io.EOF
		}
	}
	buf = reserve(buf, n)
	got, err := p.at.ReadAt(buf[len(buf):len(buf)+n], off)
	buf = buf[:len(buf)+got]
	switch {
	case got == n && off+int64(n) == p.eof:
		return buf, io.EOF
	case got == n:
		return buf, nil
	case err == nil:
		err = io.ErrNoProgress
	}
	return buf, err
}

func (p *paged) close() error { return nil }
