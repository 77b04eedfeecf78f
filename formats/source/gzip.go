package source

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"

	"servescope/analyzer/diag"
)

// gzipReader decompresses all members of a gzip file, one after the other.
// Members that do not say how long they are could be guessed at by the bytes that
// begin one. They are not: a guess has to be decompressed before the chain of members
// confirms it, whatever it expands to, so that a hostile file costs its expansion once
// more or a bound on it; and what rotates logs writes a file with one member.
type gzipReader struct {
	l    *layer
	raw  *counter
	br   *bufio.Reader
	zr   *gzip.Reader
	open bool  // within a member
	out  int64 // bytes decompressed
	err  error
}

var gunzip = parted(&splitter{blocksOf, gunzipAll}, gunzipFrom)

// gunzipFrom decompresses what raw holds, with out bytes before it.
func gunzipFrom(l *layer, raw *counter, _, out int64) (io.ReadCloser, error) {
	return &gzipReader{l: l, raw: raw, br: bufio.NewReaderSize(raw, 64<<10), zr: new(gzip.Reader), out: out}, nil
}

// blocksOf finds the members that say how long they are: those of a blocked gzip
// file, as bgzip writes it.
//
// https://samtools.github.io/hts-specs/SAMv1.pdf, section 4.1
func blocksOf(at io.ReaderAt, off, size int64) (span, bool) {
	s := span{off: off}
	for s.n < partRead {
		var head [18]byte
		if n, _ := at.ReadAt(head[:], off+s.n); n < len(head) || string(head[:4]) != "\x1f\x8b\x08\x04" || string(head[10:16]) != "\x06\x00BC\x02\x00" {
			break
		}
		n := int64(binary.LittleEndian.Uint16(head[16:])) + 1
		if off+s.n+n > size {
			break
		}
		s.n += n
	}
	return s, s.n > 0
}

func gunzipAll(code []byte) ([]byte, error) {
	zr, err := gzip.NewReader(bytes.NewReader(code))
	if err != nil {
		return nil, err
	}
	out := bytes.NewBuffer(make([]byte, 0, 5*len(code)))
	if n, err := out.ReadFrom(io.LimitReader(zr, partMost+1)); err != nil {
		return nil, err
	} else if n > partMost {
		return nil, errTooMuch
	}
	return out.Bytes(), nil
}

// errTooMuch is why a part is not decompressed as one.
var errTooMuch = errors.New("more than a part holds")

func (g *gzipReader) Close() error { return nil }

func (g *gzipReader) Read(p []byte) (int, error) {
	for g.err == nil {
		if !g.open {
			g.err = g.next()
			continue
		}
		n, err := g.zr.Read(p)
		g.out += int64(n)
		switch {
		case err == io.EOF:
			g.open = false
		case errors.Is(err, gzip.ErrChecksum): // the whole member has been read
			g.open = false
			g.l.fault("gzip_checksum", diag.DataLoss, g.out, "the checksum of a gzip member, which ends here, is wrong; its data was used", "copy the file again")
		case err != nil:
			g.err = g.l.damage(g.raw, "gzip", g.out, err)
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, g.err
}

// next begins the next member.
func (g *gzipReader) next() error {
	magic, err := g.br.Peek(2)
	switch {
	case len(magic) == 0 || err != nil && err != io.EOF:
		return err
	case string(magic) != "\x1f\x8b":
		g.l.fault("trailing_garbage", diag.Notice, g.out, "after the last gzip member the file goes on with something else, which was ignored", "")
		return io.EOF
	}
	if err := g.zr.Reset(g.br); err != nil {
		return g.l.damage(g.raw, "gzip", g.out, unexpected(err))
	}
	g.zr.Multistream(false)
	g.open = true
	return nil
}

// unexpected makes an end of file in the middle of something what it is.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
