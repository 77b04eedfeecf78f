package dataset

import (
	"sync"

	"servescope/analyzer/stat"
)

// MaxPlain caps the bytes of columns that are held unpacked, however much memory there
// is: batches are read a few times, one after another, and packing costs little.
const MaxPlain = 96 << 20

// Store holds the columns of resident batches: as they are while there are few,
// else packed, in a temporary file where there may be one. It is safe for
// concurrent use; its first error stands.
type Store struct {
	plain int64 // bytes that may be held as they are
	Spill Spill // nil where nothing may be written

	mu   sync.Mutex
	held []*Batch // as they are; nil once batches are packed
	size int64    // bytes of these
	Full bool     // batches are packed
	err  error
}

// Spill is where a store keeps what it does not hold: a temporary file.
type Spill interface {
	stat.Store
	Empty() error
}

// NewStore returns an empty store that packs its columns beyond that many bytes, into file
// if it is not nil.
func NewStore(plain int64, file Spill) *Store { return &Store{plain: plain, Spill: file} }

// Add takes the columns of r. No other goroutine may read r yet.
func (s *Store) Add(r *Batch) {
	s.mu.Lock()
	list := []*Batch{r}
	if s.size += r.Columns.Bytes(); !s.Full {
		s.held = append(s.held, r)
		if s.size <= s.plain {
			s.mu.Unlock()
			return
		}
		s.Full, list, s.held = true, s.held, nil
	}
	s.mu.Unlock()
	var code []byte
	for _, r := range list {
		code, r.packed = r.Columns.Pack(code[:0])
		r.Columns, r.store, r.Length = nil, s, len(code)
		if s.Spill == nil {
			r.code = append([]byte(nil), code...)
			continue
		}
		var err error
		if r.Offset, err = s.Spill.Append(code); err != nil {
			s.fail(err)
			return
		}
	}
}

// Append implements stat.Store.
func (s *Store) Append(p []byte) (int64, error) {
	off, err := s.Spill.Append(p)
	if err != nil {
		s.fail(err)
	}
	return off, err
}

// Read implements stat.Store.
func (s *Store) Read(p []byte, off int64) error {
	err := s.Spill.Read(p, off)
	if err != nil {
		s.fail(err)
	}
	return err
}

// Empty gives the room of a store back, which may be used again, and forgets its error.
// Nothing of what it held is read any more.
func (s *Store) Empty() {
	s.mu.Lock()
	s.held, s.size, s.Full, s.err = nil, 0, false, nil
	s.mu.Unlock()
	if s.Spill == nil {
		return
	}
	if err := s.Spill.Empty(); err != nil {
		s.fail(err)
	}
}

func (s *Store) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

// Failed returns why something is lost, or nil. s may be nil: nothing is in it.
func (s *Store) Failed() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
