package source

import (
	"io"
	"sync"
)

// Bounds of the parts that are decompressed at the same time, in bytes.
const (
	partRead = 256 << 10 // compressed: as many members or frames as make this up
	partMost = 16 << 20  // decompressed
)

// span is a range of bytes of a compressed file.
type span struct{ off, n int64 }

// splitter finds the parts of a compressed file that can be decompressed apart.
type splitter struct {
	// next returns the part at off, no longer than size allows; ok is false where
	// there is none that is known to be sound and small.
	next func(at io.ReaderAt, off, size int64) (part span, ok bool)
	// expand decompresses a part. Any error makes what begins there be read one
	// byte after the other, which tells what is wrong.
	expand func(code []byte) ([]byte, error)
}

// partsReader decompresses the parts of a file on several goroutines, in order,
// and from the first that is unsound on as if there were no parts.
type partsReader struct {
	*splitter
	at      io.ReaderAt
	size    int64
	raw     *counter
	workers int
	serial  func(off, out int64) (io.ReadCloser, error) // reads from byte off on, out bytes being known

	off   int64 // of the next part to be split off
	done  int64 // of the first part that has not been delivered
	out   int64
	queue []*partJob
	wg    sync.WaitGroup
	rest  []byte // of the part that is being delivered
	tail  io.ReadCloser
}

type partJob struct {
	span
	data  []byte
	err   error
	ready chan struct{}
}

// more puts parts to work: one at first, then enough for all workers.
func (r *partsReader) more() {
	most := 1
	if r.done > 0 {
		most = r.workers + 1
	}
	for len(r.queue) < most {
		s, ok := r.next(r.at, r.off, r.size)
		if !ok {
			return
		}
		j := &partJob{span: s, ready: make(chan struct{})}
		r.off += s.n
		r.queue = append(r.queue, j)
		r.wg.Go(func() {
			defer close(j.ready)
			code := make([]byte, j.n)
			if _, err := io.ReadFull(io.NewSectionReader(r.at, j.off, j.n), code); err != nil {
				j.err = err
				return
			}
			j.data, j.err = r.expand(code)
		})
	}
}

// Read implements io.Reader.
func (r *partsReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 && r.tail == nil {
		r.more()
		if len(r.queue) > 0 {
			j := r.queue[0]
			if <-j.ready; j.err == nil {
				r.queue, r.rest, r.done = r.queue[1:], j.data, j.off+j.n
				r.raw.n += j.n
				continue
			}
		}
		var err error
		if r.tail, err = r.serial(r.done, r.out); err != nil {
			return 0, err
		}
	}
	if len(r.rest) == 0 {
		return r.tail.Read(p)
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	r.out += int64(n)
	return n, nil
}

// Close implements io.Closer. It waits for the goroutines.
func (r *partsReader) Close() error {
	r.wg.Wait()
	if r.tail != nil {
		return r.tail.Close()
	}
	return nil
}

// parted makes d decompress parts at the same time where the file has several.
func parted(s *splitter, d func(l *layer, raw *counter, off, out int64) (io.ReadCloser, error)) decode {
	return func(l *layer, raw *counter) (io.ReadCloser, error) {
		at, size := l.base.At(), l.base.Size()
		if l.workers < 2 || at == nil {
			return d(l, raw, 0, 0)
		}
		first, ok := s.next(at, 0, size)
		if !ok || first.n == size {
			return d(l, raw, 0, 0)
		}
		serial := func(off, out int64) (io.ReadCloser, error) {
			base, err := l.base.Open(off)
			if err != nil {
				return nil, err
			}
			raw.r = base // the one that it had is at the start; both are of the same file and hold nothing
			return d(l, raw, off, out)
		}
		return &partsReader{splitter: s, at: at, size: size, raw: raw, workers: l.workers, serial: serial}, nil
	}
}
