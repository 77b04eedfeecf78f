package source

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"

	"servescope/analyzer/diag"
)

// maxWindow is the largest window of a zstd frame that is decoded: what the zstd
// command accepts without --long.
const maxWindow = 128 << 20

func newZstd(r io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
}

// zstdReader decompresses all frames of a zstd file.
type zstdReader struct {
	l   *layer
	raw *counter
	d   *zstd.Decoder
	out int64
	err error
}

var unzstd = parted(&splitter{framesOf, unzstdAll}, unzstdFrom)

// unzstdFrom decompresses what raw holds, with out bytes before it.
func unzstdFrom(l *layer, raw *counter, _, out int64) (io.ReadCloser, error) {
	d, err := newZstd(raw)
	if err != nil {
		return nil, err
	}
	return &zstdReader{l: l, raw: raw, d: d, out: out}, nil
}

func (z *zstdReader) Close() error {
	z.d.Close()
	return nil
}

func (z *zstdReader) Read(p []byte) (int, error) {
	if z.err != nil {
		return 0, z.err
	}
	n, err := z.d.Read(p)
	z.out += int64(n)
	if err != nil && err != io.EOF {
		err = zstdDamage(z.l, z.raw, z.out, err)
	}
	z.err = err
	if n > 0 {
		return n, nil
	}
	return 0, err
}

// zstdDamage is layer.damage with what is peculiar to zstd.
func zstdDamage(l *layer, raw *counter, out int64, err error) error {
	switch {
	case raw.err != nil:
	case errors.Is(err, zstd.ErrMagicMismatch) && out > 0:
		l.fault("trailing_garbage", diag.Notice, out, "after the last zstd frame the file goes on with something else, which was ignored", "")
		return io.EOF
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		l.fault("zstd_window", diag.DataLoss, out, "a zstd frame needs a window of more than 128 MiB", "decompress the file first: zstd -d --long=31")
		return io.EOF
	}
	return l.damage(raw, "zstd", out, err)
}

// messageReader decompresses what the file exporter of the OpenTelemetry
// collector writes with compression: messages without a line end, each one zstd
// frame behind its length in 4 bytes, big-endian. It makes each a line. A
// damaged message does not harm the next.
//
// https://github.com/open-telemetry/opentelemetry-collector-contrib/tree/main/exporter/fileexporter
type messageReader struct {
	l     *layer
	raw   *counter
	br    *bufio.Reader
	frame io.LimitedReader // the compressed bytes of the current message
	d     *zstd.Decoder
	open  bool // within a message
	last  byte // last byte delivered
	out   int64
	bad   diag.Diag // counts the damaged messages
	err   error
}

func unmessage(l *layer, raw *counter) (io.ReadCloser, error) {
	d, err := newZstd(nil)
	if err != nil {
		return nil, err
	}
	return &messageReader{l: l, raw: raw, d: d, br: bufio.NewReaderSize(raw, 64<<10), last: '\n'}, nil
}

func (m *messageReader) Close() error {
	m.d.Close()
	return nil
}

func (m *messageReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for m.err == nil {
		if !m.open {
			if m.last != '\n' {
				m.last = '\n'
				p[0] = '\n'
				m.out++
				return 1, nil
			}
			m.err = m.next()
			continue
		}
		n, err := m.d.Read(p)
		m.out += int64(n)
		if n > 0 {
			m.last = p[n-1]
		}
		if err != nil {
			m.open = false
			m.err = m.finish(err)
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, m.err
}

// next begins the next message.
func (m *messageReader) next() error {
	var length [4]byte
	switch _, err := io.ReadFull(m.br, length[:]); {
	case err == io.EOF:
		return err
	case err != nil:
		return m.l.damage(m.raw, "zstd", m.out, err)
	}
	m.frame = io.LimitedReader{R: m.br, N: int64(binary.BigEndian.Uint32(length[:]))}
	if err := m.d.Reset(&m.frame); err != nil {
		return m.finish(err)
	}
	m.open = true
	return nil
}

// finish ends a message with what its decoder returned.
func (m *messageReader) finish(err error) error {
	if _, err := io.Copy(io.Discard, &m.frame); err != nil {
		return err
	}
	if m.frame.N > 0 {
		return m.l.damage(m.raw, "zstd", m.out, io.ErrUnexpectedEOF)
	}
	if err != io.EOF {
		m.bad = diag.Diag{Code: "corrupt_zstd", Severity: diag.DataLoss, File: m.l.Name(), Offset: m.out, Count: m.bad.Count + 1,
			Msg: "messages could not be decompressed in full", Fix: "copy the file again"}
		m.l.set(m.bad)
	}
	return nil
}
