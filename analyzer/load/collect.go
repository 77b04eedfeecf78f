package load

import (
	"sync"

	"servescope/analyzer/dataset"
	"servescope/analyzer/trace"
)

// ResidentRows is how many rows a resident batch has at least, if there are as
// many: readers hand out small ones, and each batch has a cost.
const ResidentRows = 4096

// keeper decides whether token lists stay resident: all or none, by their size.
type keeper struct {
	mu     sync.Mutex
	budget int64
	bytes  int64
	over   bool
	kept   []*dataset.Batch
	read   func() (done, total int64) // bytes of the inputs; total is 0 where it is unknown
}

// hopeless reports whether the lists of all rows will be far too large, if those to
// come are as long as those that are kept: to keep them for a while is in vain.
func (k *keeper) hopeless() bool {
	if k.read == nil || k.bytes < k.budget/8 {
		return false
	}
	done, total := k.read()
	return float64(k.bytes)*float64(total) > 2*float64(k.budget)*float64(done)
}

// wants reports whether lists are still being kept.
func (k *keeper) wants() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.over
}

// keep takes note of a batch and its lists; beyond the budget it drops the
// lists of every batch.
func (k *keeper) keep(r *dataset.Batch) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept = append(k.kept, r)
	for i := range r.Lists {
		k.bytes += r.Lists[i].Bytes()
	}
	if k.over = k.over || k.bytes > k.budget || k.hopeless(); !k.over {
		return
	}
	for _, r := range k.kept {
		r.Lists = nil
	}
	k.kept = nil
}

// collector unites the batches of one table that one goroutine reads into
// resident ones.
type collector struct {
	table  *trace.Table
	keeper *keeper // of token lists; nil: lists of the table are not kept
	store  *dataset.Store
	size   int // rows of a resident batch
	b      *trace.Builder
	name   string
	run    *trace.RunMeta
	at     dataset.Origin
	lists  []dataset.Segment
	out    *[]*dataset.Batch // of the current job
}

// add adds a batch of a job; out takes the resident batches of the job.
func (c *collector) add(b *trace.Batch, at dataset.Origin, out *[]*dataset.Batch) {
	if c.b == nil {
		c.b = trace.NewBuilder(c.table)
	}
	if c.b.Rows() >= c.size || c.out != out || c.run.Key != b.Run.Key {
		c.seal()
	}
	if c.b.Rows() == 0 {
		c.name, c.run, c.at, c.out = b.File, b.Run, at, out
	}
	c.b.AddBatch(b)
	if c.keeper != nil && c.keeper.wants() {
		c.lists = append(c.lists, dataset.PackLists(b))
	}
}

// seal ends the current batch.
func (c *collector) seal() {
	if c.b == nil || c.b.Rows() == 0 {
		return
	}
	r := &dataset.Batch{Origin: c.at, Columns: c.b.Take(c.run, c.name).Clone(false), Lists: c.lists}
	c.lists = nil
	c.store.Add(r)
	if c.keeper != nil {
		c.keeper.keep(r)
	}
	*c.out = append(*c.out, r)
}

// collectives keeps the communication kernels of the inputs: comparing those of
// several ranks tells transfer from waiting. Its methods are safe for concurrent use.
type collectives struct {
	mu     sync.Mutex
	budget int64
	bytes  int64
	over   bool               // there are more than fit: none is kept
	byJob  [][]*dataset.Batch // in the order in which they were read
}

func (c *collectives) add(j int, b *trace.Batch, at dataset.Origin) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	own := b.Clone(true)
	if c.bytes += own.Bytes(); c.bytes > c.budget {
		c.over, c.byJob = true, nil
		return
	}
	c.byJob[j] = append(c.byJob[j], &dataset.Batch{Origin: at, Columns: own})
}
