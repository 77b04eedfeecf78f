package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"servescope/formats"
	"sync"
)

const (
	defaultMemory = 256 << 20
	spoolChunk    = 256 << 10
)

// scratch is where the spools of one Inputs live: in memory up to a share of
// the budget, then in temporary files.
type scratch struct {
	ctx    context.Context // ends fill; nil: nothing does
	mu     sync.Mutex
	memory int64 // left
	dir    string
	files  []*os.File
}

// mostSpooled is how many bytes are held in memory where a file could hold them:
// the system keeps what is read again.
const mostSpooled = 64 << 20

func newScratch(opt formats.Options) scratch {
	held := memory(opt) / 4
	if opt.Scratch != "" {
		held = min(held, mostSpooled)
	}
	return scratch{ctx: opt.Context, memory: held, dir: opt.Scratch}
}

// memory returns the budget of opt.
func memory(opt formats.Options) int64 {
	if opt.Memory > 0 {
		return opt.Memory
	}
	return defaultMemory
}

// spool holds bytes that can be read only once, so that they can be read again
// and anywhere: first the chunks, then the file.
type spool struct {
	chunks [][]byte // all of spoolChunk bytes, but for the last
	inMem  int64
	file   *os.File
	size   int64
}

// errNoScratch is why a spool cannot grow.
type errNoScratch struct{ held int64 }

func (e errNoScratch) Error() string {
	return fmt.Sprintf("more than %d bytes would have to be held, and there is no directory for temporary files", e.held)
}

// Hint returns what to do about it.
func (e errNoScratch) Hint() string {
	return "decompress the input into a file first, or allow more memory"
}

// fill reads r to its end into a new spool. With an error it returns what was
// read before.
func (s *scratch) fill(r io.Reader) (*spool, error) {
	sp := new(spool)
	if s.ctx != nil {
		r = &cancelled{s.ctx, r}
	}
	for s.take(spoolChunk) {
		buf, err := formats.ReadUpTo(r, spoolChunk)
		if len(buf) < spoolChunk {
			buf = append([]byte(nil), buf...)
			s.give(spoolChunk - int64(len(buf)))
		}
		if len(buf) > 0 {
			sp.chunks = append(sp.chunks, buf)
			sp.inMem += int64(len(buf))
		}
		sp.size = sp.inMem
		if err != nil || len(buf) < spoolChunk {
			return sp, err
		}
	}
	var first [1]byte // a file only if there is something to put in it
	switch n, err := io.ReadFull(r, first[:]); {
	case n == 0 && err == io.EOF:
		return sp, nil
	case n == 0:
		return sp, err
	}
	f, err := s.create()
	if err != nil {
		if errors.As(err, new(errNoScratch)) {
			err = errNoScratch{sp.inMem}
		}
		return sp, err
	}
	sp.file = f
	if _, err := f.Write(first[:]); err != nil {
		return sp, s.failed(err)
	}
	in := &counter{r: r}
	n, err := io.Copy(f, in)
	if sp.size = sp.inMem + 1 + n; err != nil && in.err == nil {
		err = s.failed(err)
	}
	return sp, err
}

func (s *scratch) take(n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.memory < n {
		return false
	}
	s.memory -= n
	return true
}

func (s *scratch) give(n int64) {
	s.mu.Lock()
	s.memory += n
	s.mu.Unlock()
}

// create makes a temporary file. Where the system can, it is unlinked at once,
// so that it goes even if the program is killed.
func (s *scratch) create() (*os.File, error) {
	if s.dir == "" {
		return nil, errNoScratch{}
	}
	f, err := os.CreateTemp(s.dir, "servescope-*.tmp")
	if err != nil {
		return nil, s.failed(err)
	}
	os.Remove(f.Name())
	s.mu.Lock()
	s.files = append(s.files, f)
	s.mu.Unlock()
	return f, nil
}

// close removes the temporary files.
func (s *scratch) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all error
	for _, f := range s.files {
		err := f.Close()
		if rm := os.Remove(f.Name()); rm != nil && !errors.Is(rm, os.ErrNotExist) {
			err = errors.Join(err, rm)
		}
		all = errors.Join(all, err)
	}
	s.files = nil
	return all
}

// ReadAt implements io.ReaderAt.
func (s *spool) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) && off < s.inMem {
		m := copy(p[n:], s.chunks[off/spoolChunk][off%spoolChunk:])
		n += m
		off += int64(m)
	}
	if n == len(p) {
		return n, nil
	}
	if off >= s.size {
		return n, io.EOF
	}
	m, err := s.file.ReadAt(p[n:], off-s.inMem)
	return n + m, err
}
