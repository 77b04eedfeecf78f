package source

import (
	"io"
	"unsafe"
)

// line is the length of a cache line, and worthAligning the shortest read that is
// worth a second one.
const (
	line          = 64
	worthAligning = 4096
)

// readAligned is r.ReadAt(p, off) of a file. Processors copy the pages of the
// system's cache up to three times as fast to memory that lies in its cache lines
// as the bytes do in theirs. Where p does not, they are read as far behind its
// beginning as makes it so, moved there, and the last few read on their own.
func readAligned(r io.ReaderAt, p []byte, off int64) (n int, err error) {
	shift := int((uintptr(off) - uintptr(unsafe.Pointer(unsafe.SliceData(p)))) % line)
	if shift == 0 || len(p) < worthAligning {
		return r.ReadAt(p, off)
	}
	n, err = r.ReadAt(p[shift:], off)
	copy(p, p[shift:shift+n])
	if err != nil {
		return n, err
	}
	m, err := r.ReadAt(p[n:], off+int64(n))
	return n + m, err
}
