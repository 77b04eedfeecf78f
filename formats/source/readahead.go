package source

import (
	"io"
	"servescope/formats"
	"sync"
)

// Blocks that are read ahead of whoever reads: how many, of how many bytes.
const (
	aheadBlocks = 4
	aheadSize   = 256 << 10
)

// ahead reads r on a goroutine of its own, up to aheadBlocks blocks ahead. The
// first HeadSize bytes come without one: mostly nobody asks for more.
type ahead struct {
	r     io.ReadCloser
	first int64 // bytes that are still to come without the goroutine
	full  chan aheadBlock
	free  chan []byte
	stop  chan struct{}
	wg    sync.WaitGroup
	block aheadBlock // of which rest is still to be read
	rest  []byte
}

type aheadBlock struct {
	buf []byte
	n   int
	err error
}

func readAhead(r io.ReadCloser) *ahead { return &ahead{r: r, first: formats.HeadSize} }

// Read implements io.Reader.
func (a *ahead) Read(p []byte) (int, error) {
	if a.first > 0 {
		n, err := a.r.Read(p[:min(int64(len(p)), a.first)])
		a.first -= int64(n)
		return n, err
	}
	if a.full == nil {
		a.start()
	}
	for len(a.rest) == 0 {
		if a.block.err != nil {
			return 0, a.block.err
		}
		if a.block.buf != nil {
			a.free <- a.block.buf
		}
		a.block = <-a.full
		a.rest = a.block.buf[:a.block.n]
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

func (a *ahead) start() {
	a.full, a.free, a.stop = make(chan aheadBlock, aheadBlocks), make(chan []byte, aheadBlocks), make(chan struct{})
	for range aheadBlocks {
		a.free <- nil
	}
	a.wg.Go(func() {
		for {
			var buf []byte
			select {
			case buf = <-a.free:
			case <-a.stop:
				return
			}
			if buf == nil {
				buf = make([]byte, aheadSize)
			}
			n, err := 0, error(nil)
			for n < len(buf) && err == nil {
				var k int
				k, err = a.r.Read(buf[n:])
				n += k
			}
			a.full <- aheadBlock{buf, n, err} // never blocks: there is room for every block
			if err != nil {
				return
			}
		}
	})
}

// Close implements io.Closer. It waits for the goroutine.
func (a *ahead) Close() error {
	if a.stop != nil {
		close(a.stop)
		a.wg.Wait()
	}
	return a.r.Close()
}
