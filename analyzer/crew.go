package analyzer

import (
	"slices"
	"sync/atomic"

	"servescope/analyzer/kernel"
	"servescope/analyzer/trace"
)

// crew is the goroutines of one reading. Those that have nothing left to read
// fold what the others read: a reader of a whole input hands out its batches one
// after the other, but in which order and on how many goroutines they are folded
// is all the same to the kernels.
type crew struct {
	size    int               // goroutines that read
	pass    *pass             // nil: nothing is folded
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

// newCrew returns a crew of the given size. At most as many batches wait: more
// would cost memory and gain nothing, since readers fold too.
func newCrew(p *pass, size int) *crew {
	c := &crew{size: size, pass: p, tasks: make(chan task, size), spare: make(chan *trace.Batch, 2*size)}
	c.reading.Store(int32(size))
	return c
}

// fold folds v, which views b, a batch of a reader: on a helper, if there is one
// that has not enough to do, else here.
func (c *crew) fold(worker int, b *trace.Batch, v *kernel.View) {
	t := task{b, v}
	if c.helping.Load() == 0 || len(c.tasks) == cap(c.tasks) || !b.Keep(c.old()) {
		c.pass.update(worker, v)
		return
	}
	run := *v.Run // the reader may learn more of it
	run.Config = slices.Clone(run.Config)
	own := *v.Batch
	own.Run, v.Batch, v.Group = &run, &own, slices.Clone(v.Group)
	select {
	case c.tasks <- t:
	default: // filled by another reader
		c.do(worker, t)
	}
}

func (c *crew) do(worker int, t task) {
	c.pass.update(worker, t.view)
	select {
	case c.spare <- t.batch:
	default:
	}
}

// old returns a batch whose memory is free, or nil.
func (c *crew) old() *trace.Batch {
	select {
	case b := <-c.spare:
		return b
	default:
		return nil
	}
}

// help is called by each goroutine that reads no more. It returns when all of them
// have called it and everything is folded.
func (c *crew) help(worker int) {
	c.helping.Add(1)
	if c.reading.Add(-1) == 0 {
		close(c.tasks)
	}
	for t := range c.tasks {
		c.do(worker, t)
	}
}
