package formats

import (
	"io"
	"time"

	"servescope/analyzer/diag"
)

// Source is a named sequence of bytes, decompressed, that can be opened any
// number of times. It is safe for concurrent use. A file that shrinks while it
// is read ends before its Size, with io.EOF; see Faulty.
type Source interface {
	// Name is the path as the user wrote it; members of archives are "archive!member".
	Name() string
	// Size is the length in bytes, or -1 when unknown before reading.
	Size() int64
	// ModTime is the file's modification time, or zero.
	ModTime() time.Time
	// Open returns the bytes from off. Sources without At take only off == 0.
	Open(off int64) (io.ReadCloser, error)
	// At gives random access, or is nil (compressed files).
	At() io.ReaderAt
}

// Faulty is implemented by sources that may turn out damaged while they are
// read: a truncated gzip file, a log that shrinks. The data before the fault
// is delivered as usual; whoever has read the source merges Diags afterwards.
type Faulty interface {
	// Diags returns the faults seen so far. Reading a source again does not
	// count its faults again. It is safe for concurrent use.
	Diags() *diag.Log
}

// FaultsOf returns the faults of src seen so far, or nil if it cannot have any.
func FaultsOf(src Source) *diag.Log {
	if f, ok := src.(Faulty); ok {
		return f.Diags()
	}
	return nil
}
