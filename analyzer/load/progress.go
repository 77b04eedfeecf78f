package load

import (
	"context"
	"io"
	"sync"

	"servescope/analyzer/dataset"
	"servescope/formats"
	"servescope/formats/source"
)

// meter counts the bytes read in one pass and ends reading when the pass is
// cancelled: a reader may be busy for long without delivering a batch.
type meter struct {
	ctx      context.Context
	progress func(done, total int64)
	mu       sync.Mutex
	done     int64
	total    int64 // -1 when unknown
}

func newMeter(ctx context.Context, jobs []job, progress func(done, total int64)) *meter {
	m := &meter{ctx: ctx, progress: progress}
	seen := make(map[*dataset.Input]bool)
	for _, j := range jobs {
		if seen[j.file] {
			continue
		}
		seen[j.file] = true
		if size := j.file.Source.Size(); size < 0 {
			m.total = -1
		} else if m.total >= 0 {
			m.total += size
		}
	}
	return m
}

func (m *meter) add(n int) error {
	if n > 0 {
		m.mu.Lock()
		m.done += int64(n)
		if m.total >= 0 && m.done > m.total { // readers of neighbouring ranges overlap
			m.done = m.total
		}
		if m.progress != nil {
			m.progress(m.done, m.total)
		}
		m.mu.Unlock()
	}
	if m.ctx.Err() != nil {
		return context.Cause(m.ctx)
	}
	return nil
}

// read returns how many bytes have been read, and of how many; 0 where that is unknown.
func (m *meter) read() (done, total int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.done, max(m.total, 0)
}

// metered is a source that counts the bytes read from it.
type metered struct {
	formats.Source
	m    *meter
	file *dataset.Input
}

func (s *metered) Open(off int64) (io.ReadCloser, error) {
	r, err := s.Source.Open(off)
	if err != nil {
		return nil, err
	}
	return &meteredReader{r, s, off}, nil
}

func (s *metered) At() io.ReaderAt {
	at := s.Source.At()
	if at == nil {
		return nil
	}
	return &meteredAt{at, s.m}
}

// Stamped implements source.Stamped.
func (s *metered) Stamped() formats.Source {
	if src := source.StampedOf(s.Source); src != nil {
		return &metered{src, s.m, s.file}
	}
	return nil
}

type meteredReader struct {
	io.ReadCloser
	s   *metered
	off int64
}

func (r *meteredReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.off += int64(n)
	r.s.file.Reached(r.off)
	if stop := r.s.m.add(n); stop != nil {
		return 0, stop
	}
	return n, err
}

type meteredAt struct {
	io.ReaderAt
	m *meter
}

func (r *meteredAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(p, off)
	if stop := r.m.add(n); stop != nil {
		return 0, stop
	}
	return n, err
}

// Stream implements source.Streamer.
func (r *meteredAt) Stream(from, to int64) source.ReadAtCloser {
	s := source.Stream(r.ReaderAt, from, to)
	return &meteredStream{meteredAt{s, r.m}, s}
}

// meteredStream is meteredAt of what must be closed.
type meteredStream struct {
	meteredAt
	io.Closer
}
