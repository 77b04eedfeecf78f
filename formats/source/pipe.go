package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"servescope/formats"
)

const (
	defaultMemory = 256 << 20 // bytes
	spoolChunk    = 256 << 10
	maxSpooled    = 64 << 20 // held in memory where a file could hold it: the system caches what is read again
)

// spools keeps what the inputs of one command can be read from only once: in memory up
// to a share of the budget, then in temporary files. It also owns all other temporary
// files of the inputs.
type spools struct {
	ctx    context.Context // ends fill; nil: nothing does
	dir    string          // of temporary files; empty: none may be written
	mu     sync.Mutex
	memory int64 // bytes left
	files  []*TempFile
}

func newSpools(opt formats.Options) spools {
	held := memory(opt) / 4
	if opt.Scratch != "" {
		held = min(held, maxSpooled)
	}
	return spools{ctx: opt.Context, memory: held, dir: opt.Scratch}
}

// memory returns the budget of opt in bytes.
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
	file   *TempFile
	size   int64
}

// heldError reports that a spool cannot grow.
type heldError struct{ held int64 }

func (e heldError) Error() string {
	return fmt.Sprintf("more than %d bytes would have to be held, and there is no directory for temporary files", e.held)
}

// Hint returns what to do about it.
func (e heldError) Hint() string {
	return "decompress the input into a file first, or allow more memory"
}

// fill reads r to its end into a new spool. With an error it returns what was
// read before.
func (s *spools) fill(r io.Reader) (*spool, error) {
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
	sp.file = s.tempFile()
	n, err := io.Copy(sp.file, r)
	sp.size = sp.inMem + n
	if errors.Is(err, ErrNoDir) {
		err = heldError{sp.inMem}
	}
	return sp, err
}

func (s *spools) take(n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.memory < n {
		return false
	}
	s.memory -= n
	return true
}

func (s *spools) give(n int64) {
	s.mu.Lock()
	s.memory += n
	s.mu.Unlock()
}

// tempFile returns a new temporary file, which close removes.
func (s *spools) tempFile() *TempFile {
	f := &TempFile{Dir: s.dir}
	s.mu.Lock()
	s.files = append(s.files, f)
	s.mu.Unlock()
	return f
}

// close removes the temporary files.
func (s *spools) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all error
	for _, f := range s.files {
		all = errors.Join(all, f.Close())
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

// interruptible is a reader whose Read returns when the context ends, even
// while the underlying reader still waits for input.
type interruptible struct {
	ctx   context.Context
	r     io.Reader
	start sync.Once
	pipe  *io.PipeReader
}

// Read implements io.Reader.
func (i *interruptible) Read(p []byte) (int, error) {
	i.start.Do(func() {
		pr, pw := io.Pipe()
		i.pipe = pr
		context.AfterFunc(i.ctx, func() { pw.CloseWithError(context.Cause(i.ctx)) })
		go func() {
			_, err := io.CopyBuffer(struct{ io.Writer }{pw}, struct{ io.Reader }{i.r}, make([]byte, 256<<10))
			pw.CloseWithError(err) // nil is the end of the input
		}()
	})
	return i.pipe.Read(p)
}

// cancelled is a reader that reads no further once the context has ended.
type cancelled struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (c *cancelled) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(p)
}

// pipeFile is what has a name and can be read only once, such as a pipe. It is opened when it is read first, which
// waits until something writes to a pipe, and closed at its end.
type pipeFile struct {
	path string
	file *os.File
}

// Read implements io.Reader.
func (f *pipeFile) Read(p []byte) (int, error) {
	if f.file == nil {
		var err error
		if f.file, err = os.Open(f.path); err != nil {
			if path := new(os.PathError); errors.As(err, &path) {
				err = path.Err // the caller names the path
			}
			return 0, err
		}
	}
	n, err := f.file.Read(p)
	if err != nil {
		f.file.Close()
	}
	return n, err
}
