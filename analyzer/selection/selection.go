package selection

import (
	"cmp"
	"servescope/analyzer/dataset"
	"servescope/analyzer/join"
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
	"slices"
)

// Selection is the verdict of a query on every resident row: which rows it
// keeps, and in which group. Rows that arrive outside of W are kept, for what
// they do inside; kernels tell the two apart by the bounds that they are given.
type Selection struct {
	Set         *dataset.Set
	Query       *query.Query
	metrics     request.RowMetric
	facts       *kernel.Facts           // holds the steady windows, for a steady trim
	sent        bool                    // keep no row that arrives outside of W
	ClockRanges map[ClockKey]ClockRange // nil without an interval and a trim
	Groups      *Groups
	rows        [][]int32         // group by resident batch and row; nil when the query keeps everything in one group
	Steps       Steps             // the same of the steps table
	Removed     map[int32]Removed // by slot
}

// Removed counts the requests that a query removes, by the first reason, and the steps.
type Removed struct{ Filter, Time, Trim, Steps int64 }

// Selects reports whether q may remove rows.
func Selects(q *query.Query) bool {
	return q.Filter != nil || q.Timed()
}

// Plain reports whether q keeps every row, in one group.
func Plain(q *query.Query) bool { return !Selects(q) && len(q.By) == 0 }

// Of applies q to the resident rows; with sent it keeps only those that
// arrive in W.
func Of(set *dataset.Set, q *query.Query, metrics request.RowMetric, facts *kernel.Facts, sent bool) *Selection {
	sel := &Selection{Set: set, Query: q, metrics: metrics, facts: facts, sent: sent, Removed: make(map[int32]Removed)}
	if Plain(q) {
		return sel
	}
	if q.Timed() {
		findClockRanges(sel)
	}
	sel.Groups = newGroups(q.By)
	c := Chooser{links: set.Links, verdicts: verdicts(sel)}
	var pass [][]bool
	if set.Together() {
		pass = passing(sel)
	}
	whys := make([][]uint8, len(set.Requests))
	for i, r := range dataset.OpenEach(set.Requests) {
		set.Yield()
		if pass != nil {
			c.pass = pass[i]
		}
		c.base = r.Number
		sel.rows = append(sel.rows, slices.Clone(c.choose(sel, r.Cols, r.Origin)))
		whys[i] = slices.Clone(c.why)
	}
	if set.Links != nil {
		follow(sel, whys)
	}
	for i, r := range set.Requests {
		for k, why := range whys[i] {
			if why == stays || !set.Counts(r, k) {
				continue
			}
			n := sel.Removed[r.Slot]
			switch why {
			case byFilter:
				n.Filter++
			case byTime:
				n.Time++
			case byTrim:
				n.Trim++
			}
			sel.Removed[r.Slot] = n
		}
	}
	chooseSteps(sel)
	grouped := sel.rows
	if sel.Steps.Grouped {
		grouped = slices.Concat(sel.rows, sel.Steps.rows)
	}
	sel.Groups.finish(grouped, func(i, k int) bool { // steps are no requests
		return i < len(set.Requests) && (!set.Together() || set.Counts(set.Requests[i], k))
	})
	return sel
}

// Of returns the groups of the rows of resident batch i, nil for all in one.
func (sel *Selection) Of(i int) []int32 {
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

// Chooser applies a selection to batches; one goroutine uses it.
type Chooser struct {
	x     *query.Evaluator
	keep  []bool
	why   []uint8
	group []int32
	ids   []int32

	links *join.Links // nil where no rows are linked
	base  int32       // number of the batch's first row
	pass  []bool      // whether the filter keeps each row, where rows are judged together; nil: judge here

	verdicts map[int32]verdict // by number: what time makes of rows that are judged with others
}

// choose returns the group of each row of b, -1 for those that are removed. The
// result is valid until the next call.
func (c *Chooser) choose(sel *Selection, b *trace.Batch, p dataset.Origin) []int32 {
	n := b.Rows
	c.keep = slices.Grow(c.keep[:0], n)[:n]
	c.why = slices.Grow(c.why[:0], n)[:n]
	c.group = slices.Grow(c.group[:0], n)[:n]
	clear(c.why)
	switch {
	case c.pass != nil:
		copy(c.keep, c.pass)
	case sel.Query.Filter != nil:
		if c.x == nil {
			c.x = sel.Query.Filter.Evaluator(func(name string, b *trace.Batch, values []float64, known []bool) {
				sel.metrics(name, &kernel.View{Batch: b}, values, known)
			})
		}
		c.x.Eval(b, c.keep)
	default:
		for i := range c.keep {
			c.keep[i] = true
		}
	}
	if sel.ClockRanges != nil {
		c.chooseTime(sel, b, p)
	}
	sel.Groups.of(b, p.File, c.group, &c.ids, linkedValuesOf(c.links, c.base))
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
func (c *Chooser) chooseTime(sel *Selection, b *trace.Batch, p dataset.Origin) {
	a, names, offsets := request.ArrivalsOf(b), dataset.ClocksOf(b), b.Ints(trace.Offset)
	var name string
	var e ClockRange
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
		if clock := names.At(i); clock != name || i == 0 {
			name, e = clock, sel.ClockRanges[ClockKeyOf(p.Slot, clock)]
		}
		off, _ := offsets.At(i)
		c.keep[i], c.why[i] = e.judge(position{at, int64(p.File.Index), off, p.First + int64(i)})
		if sel.sent && c.why[i] != stays {
			c.keep[i] = false
		}
	}
}

// Again returns the group of each row of a batch that was read again, as Of does for
// resident batches. The first row has the given number among all rows. c keeps memory
// between calls; the result is valid until the next call.
func (sel *Selection) Again(c *Chooser, b *trace.Batch, p dataset.Origin, number int32) []int32 {
	switch {
	case sel.rows == nil:
		return nil
	case sel.Set.Together():
		return groupsOf(sel, number, b.Rows)
	}
	group := c.choose(sel, b, p)
	sel.Groups.renumber(group)
	return group
}

// Bounds adds W to facts, by run and clock, in order of the clocks.
func (sel *Selection) Bounds(facts *kernel.Facts) {
	for key, e := range sel.ClockRanges {
		if from, to, ok := e.within(); ok {
			f := &facts.Runs[key.Slot]
			f.Bounds = append(f.Bounds, kernel.Bound{
				Clock: key.Axis, From: from, To: to,
			})
		}
	}
	for i := range facts.Runs {
		slices.SortFunc(facts.Runs[i].Bounds, func(a, b kernel.Bound) int { return cmp.Compare(a.Clock, b.Clock) })
	}
}
