package source

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"servescope/analyzer/diag"
	"servescope/formats"
)

// maxOpen is how many files are held open at the same time: an argument may be
// a directory of more files than the system lets a process open. Where it lets
// it open fewer than these, fewer are held.
const maxOpen = 32

// file is a plain file, read by pread and never mapped: a mapped log that is
// truncated kills the process. Its size is taken once, so that a log that grows
// while it is read gives the same bytes in every pass.
type file struct {
	faults
	name string // as the user wrote it
	size int64
	info os.FileInfo
	pool *pool
}

func (f *file) Name() string       { return f.name }
func (f *file) Size() int64        { return f.size }
func (f *file) ModTime() time.Time { return f.info.ModTime() }
func (f *file) At() io.ReaderAt    { return f }

// Open implements Source.
func (f *file) Open(off int64) (io.ReadCloser, error) {
	if off < 0 || off > f.size {
		return nil, fmt.Errorf("%s: offset %d is outside its %d bytes", f.name, off, f.size)
	}
	return io.NopCloser(io.NewSectionReader(f, off, f.size-off)), nil
}

// ReadAt implements io.ReaderAt within the size that the file had at first. A
// file that has shrunk ends early, with a diag.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if off >= f.size {
		return 0, io.EOF
	}
	short := int64(len(p)) > f.size-off
	if short {
		p = p[:f.size-off]
	}
	h, err := f.pool.get(f)
	if err != nil {
		return 0, err
	}
	n, err := readAligned(h, p, off)
	end := off + int64(n)
	if n < len(p) {
		if info, err := h.Stat(); err == nil {
			end = min(end, info.Size()) // of several goroutines one reads behind the end
		}
	}
	f.pool.put(f)
	switch {
	case err == io.EOF && n < len(p):
		f.set(diag.Diag{Code: "file_shrank", Severity: diag.DataLoss, File: f.name, Offset: end,
			Msg: fmt.Sprintf("the file had %d bytes when it was opened but ends earlier now", f.size),
			Fix: "analyze a copy, or a log that is not being truncated"})
	case err == io.EOF:
		err = nil
	}
	if err == nil && short {
		err = io.EOF
	}
	return n, err
}

// Rewritten reports whether the file that src is made of has been written to since
// it was opened, in place: it is as long as then. One that has grown holds at its
// start what it held. What is no file, or no section of one, is never rewritten.
func Rewritten(src formats.Source) bool {
	switch s := src.(type) {
	case *file:
		info, err := os.Stat(s.name)
		return err == nil && info.Size() == s.size && !info.ModTime().Equal(s.info.ModTime()) && os.SameFile(info, s.info)
	case *layer:
		return Rewritten(s.base)
	case *section:
		return s.base != nil && Rewritten(s.base)
	}
	return false
}

// pool holds open files, the least recently used of which is closed first.
type pool struct {
	mu    sync.Mutex
	clock int64
	open  map[*file]*handle
	most  int       // files to hold open, less than maxOpen; 0: the system has refused none
	idle  sync.Cond // on mu, for who waits until a file is in use no longer
}

type handle struct {
	file *os.File
	refs int
	used int64
}

// get returns the open file of f until put.
func (p *pool) get(f *file) (*os.File, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.open[f]
	for h == nil {
		opened, err := open(f)
		switch {
		case err == nil:
			p.evict(cmp.Or(p.most, maxOpen) - 1)
			h = &handle{file: opened}
			if p.open == nil {
				p.open = make(map[*file]*handle)
			}
			p.open[f] = h
		case !isCrowded(err) || len(p.open) == 0:
			return nil, err
		default:
			p.yield()
			h = p.open[f]
		}
	}
	p.clock++
	h.refs++
	h.used = p.clock
	return h.file, nil
}

// yield gives up half of the files that are held open, since the system lets the
// process open no more: temporary files want some too. Where all are in use it waits
// for one that is not.
func (p *pool) yield() {
	held := len(p.open)
	p.most = max(1, held/2)
	if p.evict(p.most); len(p.open) == held {
		p.idle.L = &p.mu
		p.idle.Wait()
		p.evict(p.most)
	}
}

func (p *pool) put(f *file) {
	p.mu.Lock()
	p.open[f].refs--
	p.idle.Signal()
	p.mu.Unlock()
}

// isCrowded reports whether the process, or the system, has too many open files.
func isCrowded(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// crowdedError is an error of a process that may open no more files.
type crowdedError struct{ error }

func (e crowdedError) Unwrap() error { return e.error }

// Hint returns what to do about it.
func (crowdedError) Hint() string { return "let the process open more files: ulimit -n 1024" }

// evict closes idle files until at most keep are open.
func (p *pool) evict(keep int) {
	for len(p.open) > keep {
		var oldest *file
		for f, h := range p.open {
			if h.refs == 0 && (oldest == nil || h.used < p.open[oldest].used) {
				oldest = f
			}
		}
		if oldest == nil {
			return
		}
		p.open[oldest].file.Close()
		delete(p.open, oldest)
	}
}

// close closes every file. None may be in use.
func (p *pool) close() {
	p.mu.Lock()
	p.evict(0)
	p.mu.Unlock()
}

// open opens the file that f was made from, and no other that has taken its
// place under the same name since.
func open(f *file) (*os.File, error) {
	h, err := os.Open(f.name)
	if isCrowded(err) {
		err = crowdedError{err}
	}
	if err != nil {
		return nil, err
	}
	info, err := h.Stat()
	if err == nil && !os.SameFile(info, f.info) {
		err = errors.New(f.name + " was replaced by another file while it was being read")
	}
	if err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}
