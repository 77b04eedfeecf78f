package analyzer

import (
	"errors"
	"iter"
	"sync"

	"servescope/analyzer/kernel"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
)

// mostPlain is how many bytes of columns are held as they are, however much memory
// there is: it would be spent on what is read a few times, one batch after another.
const mostPlain = 96 << 20

// store holds the columns of resident batches: as they are while there are few,
// else packed, in a temporary file where there may be one. It is safe for
// concurrent use; its first error stands.
type store struct {
	plain int64 // bytes that may be held as they are
	spill spill // nil where nothing may be written

	mu   sync.Mutex
	held []*resident // as they are; nil once batches are packed
	size int64       // bytes of these
	full bool        // batches are packed
	err  error
}

// spill is where a store keeps what it does not hold: a temporary file.
type spill interface {
	stat.Store
	Empty() error
}

// spill returns a new temporary file, nil where none may be written.
func (s *Session) spill() spill {
	if f := s.inputs.Spill(); f != nil {
		return f
	}
	return nil
}

// shelve makes an empty store for columns, of that of a reading which has failed if
// there is one.
func (s *Session) shelve() {
	if s.store == nil {
		s.store = &store{plain: min(s.opt.Memory/8, mostPlain), spill: s.spill()}
	}
	s.store.empty()
}

// add takes the columns of r, which nobody reads yet.
func (s *store) add(r *resident) {
	s.mu.Lock()
	list := []*resident{r}
	if s.size += r.held.Bytes(); !s.full {
		s.held = append(s.held, r)
		if s.size <= s.plain {
			s.mu.Unlock()
			return
		}
		s.full, list, s.held = true, s.held, nil
	}
	s.mu.Unlock()
	var code []byte
	for _, r := range list {
		code, r.packed = r.held.Pack(code[:0])
		r.held, r.store, r.n = nil, s, len(code)
		if s.spill == nil {
			r.code = append([]byte(nil), code...)
			continue
		}
		var err error
		if r.off, err = s.spill.Append(code); err != nil {
			s.fail(err)
			return
		}
	}
}

// Append implements stat.Store.
func (s *store) Append(p []byte) (int64, error) {
	off, err := s.spill.Append(p)
	if err != nil {
		s.fail(err)
	}
	return off, err
}

// Read implements stat.Store.
func (s *store) Read(p []byte, off int64) error {
	err := s.spill.Read(p, off)
	if err != nil {
		s.fail(err)
	}
	return err
}

// states returns where the states of kernels put what does not fit their memory, for as
// long as one question takes; nil where nothing may be written.
func (s *Session) states() stat.Store {
	if s.stated == nil {
		s.stated = &store{spill: s.spill()}
	}
	if s.stated.spill == nil {
		return nil
	}
	return s.stated
}

// stateMemory is how many bytes of values each state of a kernel may hold: a share of
// the budget, which the workers' states share.
func (s *Session) stateMemory() int64 {
	return max(min(s.opt.Memory/16, 2*kernel.MostMemory)/int64(s.opt.Workers), 1)
}

// empty gives the room of a store back, which may be used again, and forgets its error.
// Nothing of what it held is read any more.
func (s *store) empty() {
	s.mu.Lock()
	s.held, s.size, s.full, s.err = nil, 0, false, nil
	s.mu.Unlock()
	if s.spill == nil {
		return
	}
	if err := s.spill.Empty(); err != nil {
		s.fail(err)
	}
}

func (s *store) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

// failed returns why something is lost, or nil. s may be nil: nothing is in it.
func (s *store) failed() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// resident is a batch that stays at hand: its request columns, in a store, and its token
// lists in a compact form while those of all batches fit the budget.
type resident struct {
	place
	number int32     // of its first row among all
	lists  []segment // of consecutive rows; nil when they are not resident

	held   *trace.Batch   // the columns as they are, or
	packed *trace.Packed  // what is known of them, and
	view   *trace.RunMeta // their run as kernels see it; nil until it is known
	store  *store         // where they are:
	code   []byte         // in memory, or
	off    int64          // in the file
	n      int            // in bytes
}

func (r *resident) rows() int {
	if r.held != nil {
		return r.held.Rows
	}
	return r.packed.Rows()
}

func (r *resident) has(c trace.Col) bool {
	if r.held != nil {
		return r.held.Has(c)
	}
	return r.packed.Has(c)
}

// run returns the run of the rows, as it was read or as kernels see it.
func (r *resident) run() *trace.RunMeta {
	switch {
	case r.held != nil:
		return r.held.Run
	case r.view != nil:
		return r.view
	}
	return r.packed.Run()
}

// see makes view the run of the rows.
func (r *resident) see(view *trace.RunMeta) {
	if r.view = view; r.held != nil {
		r.held = r.file.seen(r.held, view)
	}
}

// open returns the columns. Those that are packed are in memory of their own. If
// they cannot be had the store fails, and all are null.
func (r *resident) open() *trace.Batch {
	if r.held != nil {
		return r.held
	}
	code := r.code
	if code == nil {
		code = make([]byte, r.n)
		if err := r.store.spill.Read(code, r.off); err != nil {
			r.store.fail(err)
			code = nil
		}
	}
	b, ok := r.packed.Unpack(code)
	if !ok {
		r.store.fail(errUnpack) // unless it has failed
		b = trace.NewBatch(b.Table, b.Run, b.File, b.Rows)
	}
	if r.view != nil {
		b = r.file.seen(b, r.view)
	}
	return b
}

// errUnpack is of columns that are not those that were packed.
var errUnpack = errors.New("the columns of requests cannot be unpacked again")

// keep opens r for good: for what reads rows in any order.
func (r *resident) keep() { r.held = r.open() }

// opened is a resident batch with its columns at hand.
type opened struct {
	*resident
	batch *trace.Batch
}

// open yields the batches of a list, opened one after the other.
func open(list []*resident) iter.Seq2[int, opened] {
	return func(yield func(int, opened) bool) {
		for i, r := range list {
			if !yield(i, opened{r, r.open()}) {
				return
			}
		}
	}
}
