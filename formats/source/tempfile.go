package source

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
)

// TempFile is a temporary file for what does not fit in memory. It is made when
// something is written to it first, and removed by Close. It is safe for concurrent
// use. Its errors name the directory and say what to do.
type TempFile struct {
	Dir    string                         // where the file is made; empty: nowhere, and a write fails with ErrNoDir
	Create func(dir string) (File, error) // makes the file; nil: os.CreateTemp. Tests let it fail

	mu   sync.Mutex
	file File // nil until something is written
	size int64
	buf  []byte // what Append writes
}

// File is what a TempFile needs of a file.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
}

var (
	// ErrChanged reports that a temporary file does not hold what was written.
	ErrChanged = errors.New("what is read is not what was written")
	// ErrNoDir reports a write to a temporary file without a directory.
	ErrNoDir = errors.New("there is no directory for temporary files")
	// ErrCut reports that a temporary file is shorter than what was written.
	ErrCut = errors.New("it is shorter than what was written")
)

// castagnoli is the polynomial that processors have an instruction for.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumSize is the length in bytes of the checksum behind what Append writes.
const sumSize = 4

// Append writes p and its checksum to the end of the file and returns where p is.
func (t *TempFile) Append(p []byte) (off int64, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = binary.LittleEndian.AppendUint32(append(t.buf[:0], p...), crc32.Checksum(p, castagnoli))
	off = t.size
	return off, t.write(t.buf)
}

// Read reads all len(p) bytes that were appended at off. It fails with ErrChanged or
// ErrCut if they are not what was written.
func (t *TempFile) Read(p []byte, off int64) error {
	var sum [sumSize]byte
	_, err := t.file.ReadAt(p, off)
	if err == nil {
		_, err = t.file.ReadAt(sum[:], off+int64(len(p)))
	}
	switch {
	case errors.Is(err, io.EOF):
		err = ErrCut
	case err == nil && binary.LittleEndian.Uint32(sum[:]) != crc32.Checksum(p, castagnoli):
		err = ErrChanged
	}
	return t.failed(err)
}

// Write writes p to the end of the file, without a checksum.
func (t *TempFile) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.write(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// ReadAt implements io.ReaderAt. It checks no checksum.
func (t *TempFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := t.file.ReadAt(p, off)
	if err != io.EOF {
		err = t.failed(err)
	}
	return n, err
}

// Size returns the length of the file in bytes.
func (t *TempFile) Size() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.size
}

// Empty frees the room of the file. What was written cannot be read any more.
func (t *TempFile) Empty() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.size = 0
	if t.file == nil {
		return nil
	}
	return t.failed(t.file.Truncate(0))
}

// Close removes the file. It is no longer in use, and may be made again by a Write.
func (t *TempFile) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file == nil {
		return nil
	}
	err := t.file.Close()
	t.file, t.size = nil, 0
	return t.failed(err)
}

// write writes p to the end of the file and makes the file first if there is none.
func (t *TempFile) write(p []byte) error {
	if t.file == nil {
		if t.Dir == "" {
			return ErrNoDir
		}
		create := t.Create
		if create == nil {
			create = createTemp
		}
		file, err := create(t.Dir)
		if err != nil {
			return t.failed(err)
		}
		t.file = file
	}
	if _, err := t.file.WriteAt(p, t.size); err != nil {
		return t.failed(err)
	}
	t.size += int64(len(p))
	return nil
}

// createTemp makes a file. Where the system can, it is unlinked at once, so that it
// goes even if the program is killed.
func createTemp(dir string) (File, error) {
	f, err := os.CreateTemp(dir, "servescope-*.tmp")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name())
	return unlinked{f}, nil
}

// unlinked is a file that has no name any more, or must lose it when it is closed.
type unlinked struct{ *os.File }

func (f unlinked) Close() error {
	err := f.File.Close()
	if rm := os.Remove(f.Name()); rm != nil && !errors.Is(rm, os.ErrNotExist) {
		err = errors.Join(err, rm)
	}
	return err
}

// failed returns err with the directory instead of the name of the file, which is gone.
func (t *TempFile) failed(err error) error {
	if err == nil {
		return nil
	}
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return &tempError{t.Dir, err}
}

// tempError reports that a temporary file could not be made, written or read.
type tempError struct {
	dir string
	err error
}

func (e *tempError) Error() string {
	return fmt.Sprintf("a temporary file in %s: %v", e.dir, e.err)
}

func (e *tempError) Unwrap() error { return e.err }

// Hint says what to do about the error.
func (e *tempError) Hint() string {
	switch {
	case isCrowded(e.err):
		return crowdedError{}.Hint()
	case errors.Is(e.err, fs.ErrNotExist):
		return "create the directory, or name another in TMPDIR"
	case errors.Is(e.err, fs.ErrPermission), errors.Is(e.err, syscall.EROFS), errors.Is(e.err, syscall.ENOTDIR):
		return "name a directory in TMPDIR that may be written to"
	}
	return "make room there, or name another directory in TMPDIR"
}
