package source

import (
	"errors"
	"fmt"
	"io"
	"time"

	"servescope/analyzer/diag"
	"servescope/formats"
)

// layer is a Source whose bytes are made from another's, from front to back:
// decompressed, transcoded, freed of framing. Damage of the content is a fault
// and ends the bytes; only errors of reading are errors.
type layer struct {
	faults
	base    formats.Source // whose faults are also ours
	decode  decode
	limits  limits
	workers int // goroutines that may decode
}

// decode begins to make the bytes of l from raw. Its reader returns l.end(…)
// where the content is damaged.
type decode func(l *layer, raw *counter) (io.ReadCloser, error)

func (l *layer) Name() string       { return l.base.Name() }
func (l *layer) Size() int64        { return -1 }
func (l *layer) ModTime() time.Time { return l.base.ModTime() }
func (l *layer) At() io.ReaderAt    { return nil }

// Open implements Source.
func (l *layer) Open(off int64) (io.ReadCloser, error) {
	if off != 0 {
		return nil, fmt.Errorf("%s: %w", l.Name(), errPipe)
	}
	base, err := l.base.Open(0)
	if err != nil {
		return nil, err
	}
	raw := &counter{r: base}
	r, err := l.decode(l, raw)
	if err != nil {
		base.Close()
		return nil, err
	}
	out := &layerReader{l: l, r: r, raw: raw, base: base}
	if l.workers > 1 {
		return readAhead(out), nil
	}
	return out, nil
}

// errPipe is what Open(off > 0) of a source without random access gives.
var errPipe = errors.New("cannot be read from the middle: it is compressed or transcoded")

// Diags implements Faulty.
func (l *layer) Diags() *diag.Log {
	log := l.faults.Diags()
	log.Merge(formats.FaultsOf(l.base))
	return log
}

// fault records a fault of the content at byte off of the decoded text.
func (l *layer) fault(code string, s diag.Severity, off int64, msg, fix string) {
	l.set(diag.Diag{Code: code, Severity: s, File: l.Name(), Offset: off, Msg: msg, Fix: fix})
}

// damage records that decoding ended at byte off of the decoded text because of
// err, and returns what the reader returns: io.EOF, or the error of raw if that
// is the cause.
func (l *layer) damage(raw *counter, what string, off int64, err error) error {
	if raw.err != nil {
		return raw.err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		l.fault("truncated_"+what, diag.DataLoss, off, "the "+what+" data ends too early; what came before was used", "copy the file again, or wait until it is complete")
	} else {
		l.fault("corrupt_"+what, diag.DataLoss, off, fmt.Sprintf("the %s data is damaged (%v); what came before was used", what, err), "copy the file again")
	}
	return io.EOF
}

// counter counts what is read from r and keeps the error other than io.EOF.
type counter struct {
	r   io.Reader
	n   int64
	err error
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

// layerReader reads a layer and stops when it blows up.
type layerReader struct {
	l    *layer
	r    io.ReadCloser
	raw  *counter
	base io.Closer
	out  int64
}

func (r *layerReader) Read(p []byte) (int, error) {
	if r.l.limits.blown(r.raw.n, r.out) {
		r.l.set(r.l.limits.fault(r.l.Name(), r.out))
		return 0, io.EOF
	}
	n, err := r.r.Read(p)
	r.out += int64(n)
	return n, err
}

func (r *layerReader) Close() error {
	return errors.Join(r.r.Close(), r.base.Close())
}

// limits guard against archives made to fill memory, disks or time.
type limits struct {
	ratio   int64 // bytes out for one byte in …
	after   int64 // … once this much is out
	members int   // of one archive
	index   int64 // bytes of a zip archive's directory
}

// Logs compress up to 100:1 and deflate cannot exceed 1032:1, so that 500:1 over
// a whole gigabyte is a file of nothing.
var defaultLimits = limits{ratio: 500, after: 1 << 30, members: 1 << 16, index: 16 << 20}

// blown reports whether out bytes made from in bytes are too many.
func (l limits) blown(in, out int64) bool { return out > l.after && out/l.ratio > in }

// fault says that name was read no further than off.
func (l limits) fault(name string, off int64) diag.Diag {
	return diag.Diag{Code: "decompression_limit", Severity: diag.DataLoss, File: name, Offset: off,
		Msg: fmt.Sprintf("stopped at byte %d: the limit is %d:1 beyond %d bytes, and no log compresses so well", off, l.ratio, l.after),
		Fix: "decompress the file first if it is genuine"}
}
