package analyzer

import (
	"math"
	"sync"

	"servescope/analyzer/trace"
)

// residentRows is how many rows a resident batch has at least, if there are as
// many: readers hand out small ones, and each batch has a cost.
const residentRows = 4096

// place is where a batch comes from: its input, its run, and the number of its
// first row within the job that read it.
type place struct {
	file  *file
	slot  int32
	first int64
}

// segment holds the token lists of some rows.
type segment struct {
	rows         int
	gaps, tokens packed
}

func (s *segment) bytes() int64 { return s.gaps.bytes() + s.tokens.bytes() }

// packed is a list column: in 32 bits where all values fit (gaps up to 4.29 s).
// It has no offsets when it is null throughout.
type packed struct {
	offsets []int32
	valid   trace.Bitmap
	small   []uint32
	wide    []int64
}

func pack(l trace.Lists) packed {
	p := packed{offsets: append([]int32(nil), l.Offsets...), valid: append(trace.Bitmap(nil), l.Valid...)}
	small, all := make([]uint32, len(l.Values)), uint64(0)
	for i, v := range l.Values {
		small[i] = uint32(v)
		all |= uint64(v)
	}
	if all > math.MaxUint32 {
		p.wide = append([]int64(nil), l.Values...)
	} else {
		p.small = small
	}
	return p
}

func (p *packed) bytes() int64 {
	return int64(4*len(p.offsets) + len(p.valid) + 4*len(p.small) + 8*len(p.wide))
}

// unpackedList is a list column that is put together from segments. Its memory
// is reused.
type unpackedList struct {
	trace.Lists
	rows int
	some bool // not null throughout
}

func (u *unpackedList) reset() {
	u.Values, u.Offsets, u.Valid = u.Values[:0], append(u.Offsets[:0], 0), u.Valid[:0]
	u.rows, u.some = 0, false
}

func (u *unpackedList) add(p *packed, rows int) {
	base := int32(len(u.Values))
	for i := range rows {
		valid := len(p.offsets) > 0 && p.valid.Valid(i)
		end := base
		if len(p.offsets) > 0 {
			end += p.offsets[i+1]
		}
		u.Offsets = append(u.Offsets, end)
		if u.rows>>3 == len(u.Valid) {
			u.Valid = append(u.Valid, 0)
		}
		if valid {
			u.Valid[u.rows>>3] |= 1 << (u.rows & 7)
			u.some = true
		}
		u.rows++
	}
	for _, v := range p.small {
		u.Values = append(u.Values, int64(v))
	}
	u.Values = append(u.Values, p.wide...)
}

// unpacker makes batches with token lists from resident ones. One goroutine
// uses it; the batch is valid until the next call.
type unpacker struct{ gaps, tokens unpackedList }

func (u *unpacker) batch(r opened) *trace.Batch {
	u.gaps.reset()
	u.tokens.reset()
	for i := range r.lists {
		s := &r.lists[i]
		u.gaps.add(&s.gaps, s.rows)
		u.tokens.add(&s.tokens, s.rows)
	}
	b := r.batch
	if u.gaps.some {
		b = b.WithLists(trace.ChunkGaps, u.gaps.Lists)
	}
	if u.tokens.some {
		b = b.WithLists(trace.ChunkTokens, u.tokens.Lists)
	}
	return b
}

// keeper decides whether token lists stay resident: all or none, by their size.
type keeper struct {
	mu     sync.Mutex
	budget int64
	bytes  int64
	over   bool
	kept   []*resident
	read   func() (done, total int64) // bytes of the inputs; total is 0 where nobody knows
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
func (k *keeper) keep(r *resident) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept = append(k.kept, r)
	for i := range r.lists {
		k.bytes += r.lists[i].bytes()
	}
	if k.over = k.over || k.bytes > k.budget || k.hopeless(); !k.over {
		return
	}
	for _, r := range k.kept {
		r.lists = nil
	}
	k.kept = nil
}

// collector unites the batches of one table that one goroutine reads into
// resident ones.
type collector struct {
	table  *trace.Table
	keeper *keeper // of token lists; nil: the table has none that are kept
	store  *store
	size   int // rows of a resident batch
	b      *trace.Builder
	name   string
	run    *trace.RunMeta
	at     place
	lists  []segment
	out    *[]*resident // of the current job
}

// add adds a batch of a job; out takes the resident batches of the job.
func (c *collector) add(b *trace.Batch, at place, out *[]*resident) {
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
		c.lists = append(c.lists, segment{b.Rows, pack(b.Lists(trace.ChunkGaps)), pack(b.Lists(trace.ChunkTokens))})
	}
}

// seal ends the current batch.
func (c *collector) seal() {
	if c.b == nil || c.b.Rows() == 0 {
		return
	}
	r := &resident{place: c.at, held: c.b.Take(c.run, c.name).Clone(false), lists: c.lists}
	c.lists = nil
	c.store.add(r)
	if c.keeper != nil {
		c.keeper.keep(r)
	}
	*c.out = append(*c.out, r)
}
