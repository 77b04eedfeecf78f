package assemble

import (
	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
)

// Ends is requests that have ended and have no row yet, in the order of their ends.
// They hold their memory until they are reused, but do not count as open. The zero
// value is empty and ready.
type Ends struct {
	list  []ending
	pages [][]node // of their lists
	log   diag.Log // of what their events had wrong
	size  int      // chunks of all
}

// ending is how a request ended.
type ending struct {
	q      *open
	uses   uint32 // of its id, before
	status trace.Status
	copied bool // it began when the one before it with its id did
}

// Chunks is the number of chunks of all requests.
func (e *Ends) Chunks() int { return e.size }

// Len is the number of requests.
func (e *Ends) Len() int { return len(e.list) }

// Fold adds the events of one block, and writes the requests that ended. Blocks come
// in file order.
func (a *Assembler) Fold(e *Events) {
	a.FoldTo(e, &a.ends)
	a.settle()
}

// Flush writes requests that have not ended, in the order of their first events,
// until full says that the batch is; then those whose parts had gone. It returns
// false when there are none left. No event may be added once it has been called.
func (a *Assembler) Flush(full func() bool) (more bool) {
	for !full() {
		more := a.flush(&a.ends)
		if a.settle(); !more {
			return false
		}
	}
	return true
}

func (a *Assembler) settle() {
	a.Write(&a.ends)
	a.Reuse(&a.ends)
}

// FlushTo is Flush that adds the requests to ends, until full says that these are
// enough.
func (a *Assembler) FlushTo(ends *Ends, full func() bool) (more bool) {
	for !full() {
		if !a.flush(ends) {
			return false
		}
	}
	return true
}

// flush goes one step on in Flush.
func (a *Assembler) flush(ends *Ends) (more bool) {
	a.to = ends
	switch {
	case a.resume():
	case !a.flushing:
		a.flushing = true
		a.left = a.byOffset()
	case len(a.left) > 0:
		a.end(a.left[0], trace.Open)
		a.left = a.left[1:]
	case !a.next():
		return false
	}
	ends.pages = a.nodes.pages
	return true
}

// Write writes the rows of requests that have ended. It may run while another
// goroutine is in FoldTo, FlushTo or Reuse with other ends.
func (a *Assembler) Write(ends *Ends) {
	a.rows.untold, a.rows.lists.pages = a.Untold, ends.pages
	for i := range ends.list {
		a.rows.write(&ends.list[i])
	}
	a.rows.w.Log.Merge(&ends.log)
}

// Reuse frees what the requests hold, once they have been written, and empties ends.
func (a *Assembler) Reuse(ends *Ends) {
	for _, e := range ends.list {
		for _, other := range e.q.choices {
			a.reuse(other)
		}
		a.reuse(e.q)
	}
	*ends = Ends{list: ends.list[:0]}
}

// note records a problem that the fold finds.
func (a *Assembler) note(p *Problem, offset int64) {
	Notes{a.rows.w.File, &a.to.log}.Note(p, offset)
}

// end lets a request leave with its further choices.
func (a *Assembler) end(q *open, status trace.Status) {
	before, start := a.recent.of(q.hash), q.start()
	copied := before.n > 0 && start != Unknown && start == before.start
	a.to.list = append(a.to.list, ending{q, before.n, status, copied})
	a.recent.add(q.hash, start)
	a.leave(q)
	a.to.size += int(q.chunks)
	for _, other := range q.choices {
		a.leave(other)
		a.to.size += int(other.chunks)
	}
}

// start is when the request began, as far as its events tell, or Unknown.
func (d *detail) start() int64 {
	for _, k := range [...]Kind{Arrival, Queued} {
		if d.set>>k&1 != 0 {
			return d.stages[k]
		}
	}
	return Unknown
}

// mostKept is how many bytes of text a request that is not in use may keep.
const mostKept = 512

// leave takes a request out of those that are open: what it holds counts no more.
func (a *Assembler) leave(q *open) {
	a.table.remove(q.hash, q)
	a.texts -= int64(q.counted)
	a.nodes.live -= a.nodes.size(&q.gaps) + a.nodes.size(&q.detail.counts)
	q.flags |= gone // an event that was looked up before must not match
}

// reuse frees what a request that has left holds.
func (a *Assembler) reuse(q *open) {
	d := q.detail
	a.nodes.giveBack(&q.gaps)
	a.nodes.giveBack(&d.counts)
	if cap(d.texts) > mostKept || cap(d.longID) > mostKept {
		d.texts, d.longID = nil, nil
	}
	a.free = append(a.free, q)
}
