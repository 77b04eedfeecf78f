// Package assemble puts the rows of the requests table together: from records
// that hold a whole request (Row, Writer) and from events that come one at a
// time, those of different requests interleaved (Assembler).
package assemble

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"servescope/analyzer/trace"
)

// Assembler puts requests together from events. Blocks of them are scanned in
// parallel and folded in file order, so what it makes does not depend on how the
// file was cut.
//
// A request is written when it ends, in the order of ends; Flush writes those
// that are still open. Who has further goroutines calls FoldShard and FlushTo, which
// only collect what has ended, and Write. Per open request it keeps 500 bytes, 4
// bytes per chunk in steps of 256, and what further columns its events state; see
// Bound.
type Assembler struct {
	// Untold says that the log need not tell of tokens: a request without token
	// events is then one whose tokens are unknown, not one without any.
	Untold bool

	shards   [Shards]shard
	rows     finisher
	ends     Ends // that Fold, Expire and Flush write themselves
	flushing bool
	flushed  uint64 // steps of Flush so far
}

// Requests are told apart by the first bits of the hashes of their ids into Shards
// that have nothing in common but the memory, which they share equally. Their number
// does not depend on that of the goroutines, so neither does what has to go.
const (
	shardBits = 1
	Shards    = 1 << shardBits
)

// shardOf returns the shard of an id.
func shardOf(hash uint64) int { return int(hash >> (64 - shardBits)) }

// NewAssembler returns an assembler that writes to w. memory bounds the bytes
// of the open requests' gaps, 0: no bound; a request that goes beyond loses its
// gaps.
func NewAssembler(w *Writer, memory int64) *Assembler {
	a := &Assembler{rows: finisher{w: w}}
	for k := range a.shards {
		s := &a.shards[k]
		s.run, s.file, s.to = w.Run, w.File, &a.ends.parts[k]
		if memory > 0 {
			s.nodes.limit = uint32(min(max(memory/nodeBytes/Shards, nodePage), 1<<31))
		}
	}
	return a
}

// Bound sets the memory of all open requests in bytes. What goes beyond is kept
// in temporary files in dir; without dir the oldest requests are given up. Close
// must be called then.
func (a *Assembler) Bound(memory int64, dir string) {
	for k := range a.shards {
		s := &a.shards[k]
		s.memory, s.spill.file.Dir = memory/Shards, dir
		if memory > 0 {
			s.most = uint32(min(max(memory/64, 1<<16), math.MaxInt32))
		}
	}
}

// IsOpen reports whether a request with the given id has begun and not ended.
func (a *Assembler) IsOpen(id []byte) bool {
	hash := Hash(id)
	return a.shards[shardOf(hash)].find(hash, id) != nil
}

// Fold adds the events of one block, and writes the requests that ended. Blocks come
// in file order.
func (a *Assembler) Fold(e *Events) {
	for k := range a.shards {
		a.FoldShard(k, e, &a.ends)
	}
	a.Write(&a.ends)
}

// FoldShard empties one shard's part of ends, adds the events of a block that are of
// that shard, and the requests that end to that part. Blocks come in file order;
// different shards may be folded at the same time. The error is one for which
// nothing more can be added.
func (a *Assembler) FoldShard(k int, e *Events, ends *Ends) error {
	s, p := &a.shards[k], &ends.parts[k]
	s.reuse(p)
	s.to = p
	s.foldAll(e, e.Shard(k))
	p.pages = s.nodes.pages
	return s.spill.err
}

// Expire writes the older half of the open requests as open once there are more
// than limit. It is for logs that do not tell the end of every request, whose
// open requests would fill the memory.
func (a *Assembler) Expire(limit int) {
	n := 0
	for k := range a.shards {
		n += a.shards[k].table.n
	}
	if n <= limit {
		return
	}
	var list []*open
	for k := range a.shards {
		s := &a.shards[k]
		s.reuse(&a.ends.parts[k])
		s.to = &a.ends.parts[k]
		list = append(list, s.byOffset()...)
	}
	slices.SortFunc(list, func(x, y *open) int { return cmp.Compare(x.offset, y.offset) })
	for i, q := range list[:(len(list)+1)/2] {
		s := &a.shards[shardOf(q.hash)]
		s.at = uint64(i)
		s.giveAway(q, expired)
	}
	a.settle()
}

// Flush writes requests that have not ended, in the order of their first events,
// until full says that the batch is; then those whose parts had gone. It returns
// false when there are none left. No event may be added once it has been called.
func (a *Assembler) Flush(full func() bool) (more bool) {
	for !full() {
		more := a.FlushTo(&a.ends, func() bool { return a.ends.Len() > 0 })
		if a.settle(); !more {
			return false
		}
	}
	return true
}

// settle writes what the assembler's own ends hold.
func (a *Assembler) settle() {
	for k := range a.shards {
		a.ends.parts[k].pages = a.shards[k].nodes.pages
	}
	a.Write(&a.ends)
	for k := range a.shards {
		a.shards[k].reuse(&a.ends.parts[k])
	}
}

// FlushTo is Flush that empties ends and then adds the requests to them, until full
// says that these are enough. No shard may be folded at the same time.
func (a *Assembler) FlushTo(ends *Ends, full func() bool) (more bool) {
	for k := range a.shards {
		a.shards[k].reuse(&ends.parts[k])
		a.shards[k].to = &ends.parts[k]
	}
	for more = true; more && !full(); {
		more = a.flush()
	}
	for k := range a.shards {
		ends.parts[k].pages = a.shards[k].nodes.pages
	}
	return more
}

// flush goes one step on in Flush.
func (a *Assembler) flush() (more bool) {
	if !a.flushing {
		a.flushing = true
		for k := range a.shards {
			a.shards[k].left = a.shards[k].byOffset()
		}
	}
	a.flushed++
	if s := a.oldest(); s != nil {
		s.at = a.flushed
		s.end(s.left[0], trace.Open)
		s.left = s.left[1:]
		return true
	}
	for k := range a.shards {
		s := &a.shards[k]
		s.at = a.flushed
		if s.flushPart() {
			return true
		}
	}
	return false
}

// oldest returns the shard that has the first of the requests that are left, or nil.
func (a *Assembler) oldest() (first *shard) {
	for k := range a.shards {
		s := &a.shards[k]
		if len(s.left) > 0 && (first == nil || s.left[0].offset < first.left[0].offset) {
			first = s
		}
	}
	return first
}

// Err returns why the assembler could not go on, or nil.
func (a *Assembler) Err() error {
	for k := range a.shards {
		if err := a.shards[k].spill.err; err != nil {
			return err
		}
	}
	return nil
}

// Close removes the temporary files, if there are any.
func (a *Assembler) Close() (err error) {
	for k := range a.shards {
		err = errors.Join(err, a.shards[k].spill.file.Close())
	}
	return err
}
