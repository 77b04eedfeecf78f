package block

import (
	"bytes"
	"context"
	"io"
	"sync"

	"servescope/formats"
)

// piped reads a source from its start, one block at a time.
type piped struct {
	extent
	src formats.Source

	mu     sync.Mutex
	seq    int64
	r      io.ReadCloser
	off    int64  // offset of carry in the source
	carry  []byte // read, but behind the last block
	inLine bool   // carry begins in a line that is to be skipped
	eof    bool   // all has been read, or as much as err allowed
	err    error  // to be reported behind the bytes read before it
	ended  bool   // the last block has been claimed
}

func (p *piped) claim() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seq++
	return p.seq - 1
}

func (p *piped) next(b *Block, buf []byte) (seq int64, out []byte, end bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	seq = p.seq
	p.seq++
	if p.r == nil && !p.ended {
		p.open()
	}
	if p.ended || p.to >= 0 && p.off >= p.to {
		err, p.err = p.err, nil
		return seq, buf, err == nil, err
	}
	buf = append(buf[:0], p.carry...)
	buf = p.read(buf, max(p.size-len(buf), 1))
	if p.inLine {
		if buf = p.skipLine(buf); p.to >= 0 && p.off >= p.to {
			p.ended = true
			return seq, buf, true, nil
		}
	}
	b.Off = p.off
	buf, last, ok := p.cut(b, buf, seq)
	if !ok {
		return seq, buf, false, context.Canceled
	}
	p.carry = append(p.carry[:0], buf[last:]...)
	p.off += int64(last)
	p.ended = p.eof && len(p.carry) == 0
	if b.TooLong >= 0 {
		last = 0
	}
	buf = buf[:last]
	if last > 0 && p.to >= 0 && p.off >= p.to { // lines that start at or behind to are another range's
		buf = buf[:lineStart(buf, p.to-b.Off)]
		p.ended = true
	}
	buf = pad(buf)
	b.Data = buf
	return seq, buf, false, nil
}

// open opens the source and goes to the byte before the range.
func (p *piped) open() {
	if p.r, p.err = p.src.Open(0); p.err != nil {
		p.ended = true
		return
	}
	if p.from == 0 {
		return
	}
	p.inLine = true
	p.off, p.err = io.CopyN(io.Discard, p.r, p.from-1)
	if p.err != nil {
		p.eof, p.ended = true, true
	}
	if p.err == io.EOF {
		p.err = nil
	}
}

// cut returns the index behind the last whole line of buf, which it reads on to
// the end of its first line. If that is too long, it sets b.TooLong, and the
// index is behind what is known of it. ok is false when the context is done.
func (p *piped) cut(b *Block, buf []byte, seq int64) (out []byte, last int, ok bool) {
	known, end := 0, -1
	for {
		if k := bytes.IndexByte(buf[known:], '\n'); k >= 0 {
			end = known + k
		}
		if known = len(buf); end >= 0 || p.eof || known > p.maxLine {
			break
		}
		n := min(3*max(known, p.size), p.maxLine+1-known) // few steps: each copies all and leaves a buffer behind
		if known+n > p.limit && !p.turn.wait(seq) {
			return buf, 0, false
		}
		buf = p.read(buf, n)
	}
	switch {
	case end > p.maxLine || end < 0 && known > p.maxLine:
		b.TooLong = p.off
		if p.inLine = end < 0; p.inLine {
			return buf, known, true
		}
		return buf, end + 1, true
	case p.eof:
		return buf, known, true
	}
	return buf, bytes.LastIndexByte(buf, '\n') + 1, true
}

// skipLine drops the rest of the line that buf begins in.
func (p *piped) skipLine(buf []byte) []byte {
	for {
		if k := bytes.IndexByte(buf, '\n') + 1; k > 0 {
			p.off += int64(k)
			p.inLine = false
			rest := copy(buf, buf[k:])
			return p.read(buf[:rest], max(p.size-rest, 1))
		}
		p.off += int64(len(buf))
		if buf = buf[:0]; p.eof {
			return buf
		}
		buf = p.read(buf, p.size)
	}
}

// read appends up to n bytes to buf and notes the end of the source. An error is
// an end too, but it is kept.
func (p *piped) read(buf []byte, n int) []byte {
	buf = reserve(buf, n)
	for n > 0 && !p.eof {
		got, err := p.r.Read(buf[len(buf) : len(buf)+n])
		buf = buf[:len(buf)+got]
		n -= got
		if err != nil {
			p.eof = true
			if err != io.EOF {
				p.err = err
			}
		}
	}
	return buf
}

func (p *piped) close() error {
	if p.r == nil {
		return nil
	}
	return p.r.Close()
}
