package assemble

import (
	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
)

// Ends is requests that have ended and have no row yet. They hold their memory until
// they are reused, but do not count as open. The zero value is empty and ready.
type Ends struct{ parts [Shards]shardEnds }

// shardEnds is those of one shard, in the order of their ends.
type shardEnds struct {
	list  []ending
	pages [][]node // of their lists
	log   diag.Log // of what their events had wrong
	size  int      // chunks of all
}

// ending is how a request ended.
type ending struct {
	q      *open
	at     uint64 // orders ends of all shards; see place
	uses   uint32 // of its id, before
	status trace.Status
	copied bool // it began when the one before it with its id did
}

// Chunks is the number of chunks of all requests.
func (e *Ends) Chunks() (n int) {
	for k := range e.parts {
		n += e.parts[k].size
	}
	return n
}

// Len is the number of requests.
func (e *Ends) Len() (n int) {
	for k := range e.parts {
		n += len(e.parts[k].list)
	}
	return n
}

// Write writes the rows of requests that have ended, in the order of their ends. It
// may run while other goroutines are in FoldShard or FlushTo with other ends.
func (a *Assembler) Write(ends *Ends) {
	a.rows.untold = a.Untold
	var done [Shards]int
	for {
		from := -1
		var first *ending
		for k := range ends.parts {
			if list := ends.parts[k].list; done[k] < len(list) && (first == nil || list[done[k]].at < first.at) {
				from, first = k, &list[done[k]]
			}
		}
		if first == nil {
			break
		}
		a.rows.lists.pages = ends.parts[from].pages
		a.rows.write(first)
		done[from]++
	}
	for k := range ends.parts {
		a.rows.w.Log.Merge(&ends.parts[k].log)
	}
}

// reuse frees what the requests of a part hold, once they have been written, and
// empties it.
func (a *shard) reuse(p *shardEnds) {
	for _, e := range p.list {
		for _, other := range e.q.choices {
			a.drop(other)
		}
		a.drop(e.q)
	}
	*p = shardEnds{list: p.list[:0]}
}

// note records a problem that the fold finds.
func (a *shard) note(p *Problem, offset int64) {
	Notes{a.file, &a.to.log}.Note(p, offset)
}

// end lets a request leave with its further choices.
func (a *shard) end(q *open, status trace.Status) {
	var buf [idLen + restLen]byte
	start := q.start()
	before := a.recent.add(q.hash, q.name(&buf), start)
	copied := before.n > 0 && start != Unknown && start == before.start
	a.to.list = append(a.to.list, ending{q, a.at, before.n, status, copied})
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
func (a *shard) leave(q *open) {
	a.table.remove(q.hash, q)
	a.texts -= int64(q.counted)
	a.nodes.live -= a.nodes.size(&q.gaps) + a.nodes.size(&q.detail.counts)
	q.flags |= gone // an event that was looked up before must not match
}

// drop frees what a request that has left holds.
func (a *shard) drop(q *open) {
	d := q.detail
	a.nodes.giveBack(&q.gaps)
	a.nodes.giveBack(&d.counts)
	if cap(d.texts) > mostKept || cap(d.longID) > mostKept {
		d.texts, d.longID = nil, nil
	}
	a.free = append(a.free, q)
}
