package parquet

import (
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// inlineBytes is the size of a page below which a goroutine does not pay.
const inlineBytes = 16 << 10

// work encodes pages, each on its own and on several goroutines. What a page
// becomes does not depend on which of them encodes it, nor when.
type work struct {
	zstd  *zstd.Encoder // safe for concurrent use
	slots chan struct{} // one per goroutine; nil: pages are encoded where they end
	wg    sync.WaitGroup
	jobs  sync.Pool
}

func newWork(workers int) *work {
	w := &work{jobs: sync.Pool{New: func() any { return new(job) }}}
	// With these options the encoder cannot fail to be made.
	w.zstd, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(max(1, workers)))
	if workers > 1 {
		w.slots = make(chan struct{}, workers)
	}
	return w
}

func (w *work) job() *job { return w.jobs.Get().(*job) }

func (w *work) free(j *job) {
	j.page = nil
	w.jobs.Put(j)
}

// do encodes the page of j, at once or later; first says that it is the first of
// its chunk, whose pages share ch. It waits while every worker is busy, which
// bounds the memory.
func (w *work) do(ch *choice, first bool, j *job) {
	if w.slots == nil || len(j.body)+8*len(j.ints)+len(j.plain) < inlineBytes {
		j.encode(w.zstd, ch, first)
		w.free(j)
		return
	}
	w.slots <- struct{}{}
	w.wg.Go(func() {
		j.encode(w.zstd, ch, first)
		w.free(j)
		<-w.slots
	})
}

// wait returns when every page has been encoded.
func (w *work) wait() { w.wg.Wait() }

// choice is whether the pages of a chunk are compressed: as the first page says,
// which is begun before the others.
type choice struct {
	made  chan struct{}
	codec format.CompressionCodec
}

func newChoice() *choice { return &choice{made: make(chan struct{})} }

// decide is called once, for the first page.
func (c *choice) decide(compress bool) {
	if compress {
		c.codec = format.Zstd
	}
	close(c.made)
}

// zstd waits for the decision and returns it.
func (c *choice) zstd() bool {
	<-c.made
	return c.codec == format.Zstd
}
