package fold

import (
	"slices"
	"sync/atomic"

	"servescope/analyzer/kernel"
	"servescope/analyzer/trace"
)

// foldPool runs one pass while inputs are read. Goroutines that run out of input fold
// batches read by the others: a reader of a whole input hands out its batches one after
// the other, but the order of batches and the number of goroutines that fold them make
// no difference to the kernels.
type foldPool struct {
	size    int // goroutines that read
	pass    *Pass
	tasks   chan task         // that wait for a helper
	spare   chan *trace.Batch // that are folded: readers go on in their memory
	reading atomic.Int32      // goroutines that may have tasks still
	helping atomic.Int32      // those that have not
}

// task is a batch to be folded, and what kernels see of it.
type task struct {
	batch *trace.Batch
	view  *kernel.View
}

// newFoldPool returns a pool of the given size. At most as many batches wait: more
// would cost memory and gain nothing, since readers fold too.
func newFoldPool(of *Pass, size int) *foldPool {
	p := &foldPool{size: size, pass: of, tasks: make(chan task, size), spare: make(chan *trace.Batch, 2*size)}
	p.reading.Store(int32(size))
	return p
}

// fold folds v, which views b, a batch of a reader: on a helper, if there is one
// that has not enough to do, else here.
func (p *foldPool) fold(worker int, b *trace.Batch, v *kernel.View) {
	t := task{b, v}
	if p.helping.Load() == 0 || len(p.tasks) == cap(p.tasks) || !b.Keep(p.old()) {
		p.pass.update(worker, v)
		return
	}
	run := *v.Run // the reader may learn more of it
	run.Config = slices.Clone(run.Config)
	own := *v.Batch
	own.Run, v.Batch, v.Group = &run, &own, slices.Clone(v.Group)
	select {
	case p.tasks <- t:
	default: // filled by another reader
		p.do(worker, t)
	}
}

func (p *foldPool) do(worker int, t task) {
	p.pass.update(worker, t.view)
	select {
	case p.spare <- t.batch:
	default:
	}
}

// old returns a batch whose memory may be reused, or nil.
func (p *foldPool) old() *trace.Batch {
	select {
	case b := <-p.spare:
		return b
	default:
		return nil
	}
}

// help is called by each goroutine that reads no more. It returns when all of them
// have called it and everything is folded.
func (p *foldPool) help(worker int) {
	p.helping.Add(1)
	if p.reading.Add(-1) == 0 {
		close(p.tasks)
	}
	for t := range p.tasks {
		p.do(worker, t)
	}
}
