package source

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"

	"servescope/analyzer/diag"
	"servescope/formats"
)

// zip adds the members of the zip archive src.
func (u *unpacker) zip(input Input, src formats.Source) error {
	at := &guardedAt{at: src.At()}
	at.left.Store(u.limits.index)
	zr, err := zip.NewReader(at, src.Size())
	if at.err.Load() != nil {
		return *at.err.Load()
	}
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // names are only shown, never written to
		if at.left.Load() < 0 {
			err = fmt.Errorf("its directory is larger than the limit of %d bytes", u.limits.index)
		}
		return fmt.Errorf("%s: the zip archive cannot be read, it is damaged or cut off (%w)", src.Name(), err)
	}
	at.left.Store(1 << 62)
	zr.RegisterDecompressor(zip.Deflate, func(r io.Reader) io.ReadCloser { return flate.NewReader(r) })
	zr.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor(zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true)))
	m := u.members(input, src)
	locked, total := 0, int64(0)
	for _, f := range zr.File {
		if f.FileInfo().IsDir() {
			continue
		}
		if f.Name == "xl/workbook.xml" {
			return fmt.Errorf("%s: this is an Excel workbook, which is not read: write the requests as text (vLLM's multi-turn benchmark: --stats-json-output)", src.Name())
		}
		name, ok := m.name(f.Name, f.Mode().IsRegular())
		if !ok {
			continue
		}
		if f.Flags&1 != 0 {
			locked++
			continue
		}
		total += int64(min(f.UncompressedSize64, 1<<40)) // the reader lets no member exceed it
		if u.limits.blown(src.Size(), total) {
			u.in.Diags.Add(u.limits.fault(src.Name(), total))
			break
		}
		if !m.add(zipSource(name, f, src, at)) {
			break
		}
	}
	u.skip("encrypted", diag.DataLoss, src.Name(), locked, "encrypted members were not read", "unpack the archive first")
	return m.done()
}

// zipSource returns the source of one member: a section of the archive if it is
// not compressed.
func zipSource(name string, f *zip.File, archive formats.Source, at *guardedAt) formats.Source {
	if f.Method == zip.Store && f.CompressedSize64 == f.UncompressedSize64 {
		off, err := f.DataOffset()
		if size := int64(f.UncompressedSize64); err == nil && size >= 0 && size <= archive.Size()-off {
			return &section{name: name, at: at, off: off, size: size, mod: f.Modified}
		}
	}
	return &zipMember{name: name, file: f, at: at}
}

// zipMember is a compressed member of a zip archive.
type zipMember struct {
	faults
	name string
	file *zip.File
	at   *guardedAt
}

func (z *zipMember) Name() string       { return z.name }
func (z *zipMember) Size() int64        { return int64(min(z.file.UncompressedSize64, 1<<62)) }
func (z *zipMember) ModTime() time.Time { return z.file.Modified }
func (z *zipMember) At() io.ReaderAt    { return nil }

// Open implements Source.
func (z *zipMember) Open(off int64) (io.ReadCloser, error) {
	if off != 0 {
		return nil, fmt.Errorf("%s: %w", z.name, errPipe)
	}
	r, err := z.file.Open()
	if err != nil {
		return io.NopCloser(eof{z.damage(0, err)}), nil
	}
	return &zipReader{z: z, r: r}, nil
}

// eof is a reader that has nothing but an error.
type eof struct{ error }

func (e eof) Read([]byte) (int, error) { return 0, e.error }

// damage records what is wrong with the content, or returns the I/O error.
func (z *zipMember) damage(off int64, err error) error {
	if p := z.at.err.Load(); p != nil {
		return *p
	}
	d := diag.Diag{Code: "corrupt_zip", Severity: diag.DataLoss, File: z.name, Offset: off,
		Msg: fmt.Sprintf("the member is damaged (%v); what came before was used", err), Fix: "copy the archive again"}
	switch {
	case errors.Is(err, zip.ErrChecksum):
		d.Code, d.Msg = "zip_checksum", "the checksum of the member is wrong; its data was used"
	case errors.Is(err, zip.ErrAlgorithm):
		d.Code, d.Msg, d.Fix = "zip_method", fmt.Sprintf("the member is compressed with method %d, which is not supported", z.file.Method), "unpack the archive first"
	}
	z.set(d)
	return io.EOF
}

type zipReader struct {
	z   *zipMember
	r   io.ReadCloser
	out int64
}

func (r *zipReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.out += int64(n)
	if err != nil && err != io.EOF {
		err = r.z.damage(r.out, err)
	}
	return n, err
}

func (r *zipReader) Close() error { return r.r.Close() }

// guardedAt keeps the first error of reading, and lets a limited number of
// bytes be read: the directory of an archive is held in memory.
type guardedAt struct {
	at   io.ReaderAt
	left atomic.Int64
	err  atomic.Pointer[error]
}

func (g *guardedAt) ReadAt(p []byte, off int64) (int, error) {
	if g.left.Add(-int64(len(p))) < 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := g.at.ReadAt(p, off)
	if err != nil && err != io.EOF {
		g.err.CompareAndSwap(nil, &err)
	}
	return n, err
}
