package analyzer

import (
	"slices"

	"servescope/analyzer/join"
	"servescope/analyzer/kernel"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
)

// Selection is the verdict of a query on every resident row: which rows it
// keeps, and in which group. Rows that arrive outside of W are kept, for what
// they do inside; kernels tell the two apart by the bounds that they are given.
type Selection struct {
	set     *Set
	q       *query.Query
	metrics kernel.RowMetric
	facts   *kernel.Facts    // holds the steady windows, for a steady trim
	sent    bool             // keep no row that arrives outside of W
	edges   map[edgeKey]edge // nil without an interval and a trim
	groups  *groups
	rows    [][]int32         // group by resident batch and row; nil when the query keeps everything in one group
	steps   stepSelection     // the same of the steps table
	removed map[int32]removed // by slot
}

// removed counts the requests that are not among those of a query, by the first
// reason, and the steps.
type removed struct{ filter, time, trim, steps int64 }

// selects reports whether q may remove rows.
func selects(q *query.Query) bool {
	return q.Filter != nil || q.Timed()
}

// plain reports whether q keeps every row, in one group.
func plain(q *query.Query) bool { return !selects(q) && len(q.By) == 0 }

// choose applies q to the resident rows; with sent it keeps only those that
// arrive in W.
func choose(set *Set, q *query.Query, metrics kernel.RowMetric, facts *kernel.Facts, sent bool) *Selection {
	sel := &Selection{set: set, q: q, metrics: metrics, facts: facts, sent: sent, removed: make(map[int32]removed)}
	if plain(q) {
		return sel
	}
	if q.Timed() {
		sel.findEdges()
	}
	sel.groups = newGroups(q.By)
	c := chooser{links: set.links, verdicts: sel.verdicts()}
	var pass [][]bool
	if set.together() {
		pass = sel.passing()
	}
	whys := make([][]uint8, len(set.requests))
	for i, r := range open(set.requests) {
		set.yield()
		if pass != nil {
			c.pass = pass[i]
		}
		c.base = r.number
		sel.rows = append(sel.rows, slices.Clone(c.choose(sel, r.cols, r.Origin)))
		whys[i] = slices.Clone(c.why)
	}
	if set.links != nil {
		sel.follow(whys)
	}
	for i, r := range set.requests {
		for k, why := range whys[i] {
			if why == stays || !set.counts(r, k) {
				continue
			}
			n := sel.removed[r.slot]
			switch why {
			case byFilter:
				n.filter++
			case byTime:
				n.time++
			case byTrim:
				n.trim++
			}
			sel.removed[r.slot] = n
		}
	}
	sel.chooseSteps()
	grouped := sel.rows
	if sel.steps.grouped {
		grouped = slices.Concat(sel.rows, sel.steps.rows)
	}
	sel.groups.finish(grouped, func(i, k int) bool { // steps are no requests
		return i < len(set.requests) && (!set.together() || set.counts(set.requests[i], k))
	})
	return sel
}

// of returns the groups of the rows of resident batch i, nil for all in one.
func (sel *Selection) of(i int) []int32 {
	if sel.rows == nil {
		return nil
	}
	return sel.rows[i]
}

// Why a row is not among the requests.
const (
	stays uint8 = iota
	byFilter
	byTime
	byTrim
)

// chooser applies a selection to batches; one goroutine uses it.
type chooser struct {
	x     *query.Evaluator
	keep  []bool
	why   []uint8
	group []int32
	ids   []int32

	links *join.Links // nil where no rows are linked
	base  int32       // number of the batch's first row
	pass  []bool      // what the filter makes of each row, where it is judged with others; nil: there is none

	verdicts map[int32]verdict // by number: what time makes of rows that are judged with others
}

// choose returns the group of each row of b, -1 for those that are removed. The
// result is valid until the next call.
func (c *chooser) choose(sel *Selection, b *trace.Batch, p Origin) []int32 {
	n := b.Rows
	c.keep = slices.Grow(c.keep[:0], n)[:n]
	c.why = slices.Grow(c.why[:0], n)[:n]
	c.group = slices.Grow(c.group[:0], n)[:n]
	clear(c.why)
	switch {
	case c.pass != nil:
		copy(c.keep, c.pass)
	case sel.q.Filter != nil:
		if c.x == nil {
			c.x = sel.q.Filter.Evaluator(func(name string, b *trace.Batch, values []float64, known []bool) {
				sel.metrics(name, &kernel.View{Batch: b}, values, known)
			})
		}
		c.x.Eval(b, c.keep)
	default:
		for i := range c.keep {
			c.keep[i] = true
		}
	}
	if sel.edges != nil {
		c.chooseTime(sel, b, p)
	}
	sel.groups.of(b, p.file, c.group, &c.ids, othersOf(c.links, c.base))
	for i, k := range c.keep {
		if !k {
			c.why[i] = max(c.why[i], byFilter)
			c.group[i] = -1
		}
	}
	return c.group
}

// chooseTime tells which rows arrive outside of W, and removes those that have no
// place in time.
func (c *chooser) chooseTime(sel *Selection, b *trace.Batch, p Origin) {
	a, names, offsets := kernel.ArrivalsOf(b), clocksOf(b), b.Ints(trace.Offset)
	var name string
	var e edge
	for i := range c.keep {
		if !c.keep[i] {
			continue
		}
		at, ok := a.At(i)
		if v, of := c.verdicts[c.base+int32(i)]; of {
			c.keep[i], c.why[i] = v.keep && (v.why == stays || !sel.sent), v.why
			continue
		}
		if !ok {
			c.keep[i], c.why[i] = false, byTime
			continue
		}
		if clock := names.at(i); clock != name || i == 0 {
			name, e = clock, sel.edges[edgeOf(p.slot, clock)]
		}
		off, _ := offsets.At(i)
		c.keep[i], c.why[i] = e.judge(position{at, int64(p.file.index), off, p.first + int64(i)})
		if sel.sent && c.why[i] != stays {
			c.keep[i] = false
		}
	}
}

// Again returns the group of each row of a batch that was read again, whose first row
// has the given number among all, as of does for resident ones. c keeps memory between
// calls; the result is valid until the next one.
func (sel *Selection) again(c *chooser, b *trace.Batch, p Origin, number int32) []int32 {
	switch {
	case sel.rows == nil:
		return nil
	case sel.set.together():
		return sel.groupsOf(number, b.Rows)
	}
	group := c.choose(sel, b, p)
	sel.groups.renumber(group)
	return group
}
