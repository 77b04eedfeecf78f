package block

import (
	"bytes"
	"context"
	"io"
	"sync/atomic"

	"servescope/formats/source"
)

// The rest of a block's last line: short bytes of it are read at once, and a
// buffer has room for extra.
const (
	short = 8 << 10
	extra = 64 << 10
)

// paged reads a source with random access in slots of equal size. A slot owns
// the lines that start in it.
type paged struct {
	extent
	at  source.ReadAtCloser
	eof int64 // size of the source as it was opened, or -1; what is appended later is not read
	seq atomic.Int64
}

func newPaged(e extent, at io.ReaderAt, size int64) *paged {
	if size >= 0 && (e.to < 0 || e.to > size) {
		e.to = size
	}
	return &paged{extent: e, at: source.Stream(at, max(e.from-1, 0), e.to+short), eof: size}
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
	buf = buffer(buf, p.size+1+extra)
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
	known := len(buf)
	line := func() int { return i + bytes.LastIndexByte(buf[i:known], '\n') + 1 } // where it begins: far back
	off := b.Off + int64(known-i)
	if !eof { // the rest is mostly short
		if buf, err = p.read(buf, off, short); err != nil && err != io.EOF {
			return buf, err
		}
		eof = err == io.EOF
	}
	k := bytes.IndexByte(buf[known:], '\n')
	if k >= 0 {
		buf = buf[:known+k+1]
	} else if !eof { // find out how long it is before there is room for it
		off += int64(len(buf) - known)
		n, err := p.rest(buf[len(buf):cap(buf)], off, p.maxLine-(len(buf)-line()))
		if err != nil {
			return buf, err
		}
		if n < 0 {
			b.TooLong = b.Off + int64(line()-i)
			return buf[:line()], nil
		}
		if len(buf)+n > p.limit && !p.turn.wait(seq) {
			return buf, context.Canceled
		}
		if buf, err = p.read(buf, off, n); err == io.EOF {
			err = nil
		}
		return buf, err
	}
	if len(buf)-i <= p.maxLine {
		return buf, nil
	}
	if from := line(); len(bytes.TrimSuffix(buf[from:], []byte{'\n'})) > p.maxLine {
		b.TooLong = b.Off + int64(from-i)
		buf = buf[:from]
	}
	return buf, nil
}

// rest returns how many bytes from off on belong to the line there, with its
// newline, or -1 if there are more than most without it.
func (p *paged) rest(scratch []byte, off int64, most int) (n int, err error) {
	scratch = scratch[:cap(scratch)-Pad]
	for n <= most {
		chunk, err := p.read(scratch[:0], off+int64(n), len(scratch))
		k := bytes.IndexByte(chunk, '\n')
		switch {
		case k >= 0 && n+k <= most:
			return n + k + 1, nil
		case k >= 0:
			return -1, nil
		case err != nil && err != io.EOF:
			return 0, err
		}
		if n += len(chunk); err == io.EOF {
			break
		}
	}
	if n > most {
		n = -1
	}
	return n, nil
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

func (p *paged) close() error { return p.at.Close() }
