package formats

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"

	"servescope/analyzer/diag"
)

// gzipReader decompresses all members of a gzip file, one after the other.
type gzipReader struct {
	l      *layer
	raw    *counter
	br     *bufio.Reader
	zr     *gzip.Reader
	member int   // 1-based
	open   bool  // within a member
	out    int64 // bytes decompressed
	err    error
}

func gunzip(l *layer, raw *counter) (io.ReadCloser, error) {
	return &gzipReader{l: l, raw: raw, br: bufio.NewReaderSize(raw, 64<<10), zr: new(gzip.Reader)}, nil
}

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
			g.l.fault("gzip_checksum", diag.DataLoss, g.out, fmt.Sprintf("the checksum of gzip member %d is wrong; its data was used", g.member), "copy the file again")
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
		g.l.fault("trailing_garbage", diag.Notice, g.out, fmt.Sprintf("after gzip member %d the file goes on with something else, which was ignored", g.member), "")
		return io.EOF
	}
	if err := g.zr.Reset(g.br); err != nil {
		return g.l.damage(g.raw, "gzip", g.out, unexpected(err))
	}
	g.zr.Multistream(false)
	g.member++
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
