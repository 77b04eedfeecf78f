package source

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"

	"servescope/analyzer/diag"
	"servescope/formats"
)

// faults collects the faults of one source, one per code: the latest count
// stands, so that a second reading does not count twice.
type faults struct {
	mu   sync.Mutex
	list map[string]diag.Diag
}

func (f *faults) set(d diag.Diag) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.list == nil {
		f.list = make(map[string]diag.Diag)
	}
	f.list[d.Code] = d
}

// Diags implements Faulty.
func (f *faults) Diags() *diag.Log {
	f.mu.Lock()
	defer f.mu.Unlock()
	log := new(diag.Log)
	for _, d := range f.list {
		log.Add(d)
	}
	return log
}

// section is a Source whose bytes are a part of something with random access:
// a file, memory, a spool, an uncompressed member of an archive.
type section struct {
	name string
	at   io.ReaderAt
	off  int64
	size int64
	mod  time.Time
	base formats.Source // whose faults are also ours, or nil
}

// FromBytes returns a source of data in memory. The caller must not change it.
func FromBytes(name string, data []byte) formats.Source {
	return FromReaderAt(name, bytes.NewReader(data), int64(len(data)), time.Time{})
}

// FromReaderAt returns a source of the first size bytes of at.
func FromReaderAt(name string, at io.ReaderAt, size int64, mod time.Time) formats.Source {
	return &section{name: name, at: at, size: size, mod: mod}
}

func (s *section) Name() string       { return s.name }
func (s *section) Size() int64        { return s.size }
func (s *section) ModTime() time.Time { return s.mod }
func (s *section) At() io.ReaderAt    { return io.NewSectionReader(s.at, s.off, s.size) }

// Open implements Source.
func (s *section) Open(off int64) (io.ReadCloser, error) {
	if off < 0 || off > s.size {
		return nil, fmt.Errorf("%s: offset %d is outside its %d bytes", s.name, off, s.size)
	}
	return io.NopCloser(io.NewSectionReader(s.at, s.off+off, s.size-off)), nil
}

// Diags implements Faulty.
func (s *section) Diags() *diag.Log {
	log := new(diag.Log)
	if s.base != nil {
		log.Merge(formats.FaultsOf(s.base))
	}
	return log
}
