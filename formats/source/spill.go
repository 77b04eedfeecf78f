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

// Spill is a temporary file that holds what is not held in memory. It is safe for
// concurrent use, and goes with its Inputs.
type Spill struct {
	from *scratch
	mu   sync.Mutex
	file *os.File // nil until something is in it
	size int64
	room []byte // what is written next
}

// Spill returns a temporary file, or nil where none may be written.
func (in *Inputs) Spill() *Spill {
	if in.scratch.dir == "" {
		return nil
	}
	return &Spill{from: &in.scratch}
}

// Append writes p to the end of the file and returns where it is.
func (s *Spill) Append(p []byte) (off int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		if s.file, err = s.from.create(); err != nil {
			return 0, err
		}
	}
	off = s.size
	s.room = binary.LittleEndian.AppendUint32(append(s.room[:0], p...), crc32.Checksum(p, castagnoli))
	if _, err = s.file.WriteAt(s.room, off); err != nil {
		return 0, s.from.failed(err)
	}
	s.size += int64(len(s.room))
	return off, nil
}

// castagnoli is the polynomial that processors have an instruction for.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumSize is the length in bytes of the checksum that follows what was appended.
const sumSize = 4

var (
	errSpoilt = errors.New("what is read is not what was written")
	errCut    = errors.New("it is shorter than what was written")
)

// Empty gives the room of the file back. What was appended cannot be read any more.
func (s *Spill) Empty() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size = 0
	if s.file == nil {
		return nil
	}
	if err := s.file.Truncate(0); err != nil {
		return s.from.failed(err)
	}
	return nil
}

// Read reads what was appended at off: all of it, len(p) bytes. It fails if they have
// changed.
func (s *Spill) Read(p []byte, off int64) error {
	var sum [sumSize]byte
	_, err := s.file.ReadAt(p, off)
	if err == nil {
		_, err = s.file.ReadAt(sum[:], off+int64(len(p)))
	}
	switch {
	case errors.Is(err, io.EOF):
		err = errCut
	case err == nil && binary.LittleEndian.Uint32(sum[:]) != crc32.Checksum(p, castagnoli):
		err = errSpoilt
	}
	if err != nil {
		return s.from.failed(err)
	}
	return nil
}

// scratchError is why a temporary file is of no use.
type scratchError struct {
	dir string
	err error
}

func (e *scratchError) Error() string {
	return fmt.Sprintf("a temporary file in %s: %v", e.dir, e.err)
}

func (e *scratchError) Unwrap() error { return e.err }

// Hint returns what to do about it.
func (e *scratchError) Hint() string {
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

func (s *scratch) failed(err error) error { return ScratchError(s.dir, err) }

// ScratchError returns the error of making, writing or reading a temporary file in
// dir, with what to do about it and without the name of the file, which is gone.
func ScratchError(dir string, err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return &scratchError{dir, err}
}
