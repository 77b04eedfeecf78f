package analyzer

import (
	"errors"
	"fmt"
	"slices"

	"servescope/analyzer/diag"
	"servescope/analyzer/join"
	"servescope/analyzer/kernel"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
	"servescope/formats"
)

// selection is the verdict of a query on every resident row: which rows it
// keeps, and in which group. Rows that arrive outside of W are kept, for what
// they do inside; kernels tell the two apart by the bounds that they are given.
type selection struct {
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
func (s *Session) choose(q *query.Query, metrics kernel.RowMetric, facts *kernel.Facts, sent bool) *selection {
	sel := &selection{q: q, metrics: metrics, facts: facts, sent: sent, removed: make(map[int32]removed)}
	if plain(q) {
		return sel
	}
	if q.Timed() {
		s.findEdges(sel)
	}
	sel.groups = newGroups(q.By)
	c := chooser{links: s.joins, verdicts: s.verdicts(sel)}
	var pass [][]bool
	if s.together() {
		pass = s.passing(q, metrics)
	}
	whys := make([][]uint8, len(s.rows))
	for i, r := range open(s.rows) {
		s.yield()
		if pass != nil {
			c.pass = pass[i]
		}
		c.base = r.number
		sel.rows = append(sel.rows, slices.Clone(c.choose(sel, r.batch, r.place)))
		whys[i] = slices.Clone(c.why)
	}
	if s.joins != nil {
		s.follow(sel, whys)
	}
	for i, r := range s.rows {
		for k, why := range whys[i] {
			if why == stays || !s.counts(r, k) {
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
	s.chooseSteps(sel)
	grouped := sel.rows
	if sel.steps.grouped {
		grouped = slices.Concat(sel.rows, sel.steps.rows)
	}
	sel.groups.finish(grouped, func(i, k int) bool { // steps are no requests
		return i < len(s.rows) && (!s.together() || s.counts(s.rows[i], k))
	})
	return sel
}

// of returns the groups of the rows of resident batch i, nil for all in one.
func (sel *selection) of(i int) []int32 {
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
func (c *chooser) choose(sel *selection, b *trace.Batch, p place) []int32 {
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
func (c *chooser) chooseTime(sel *selection, b *trace.Batch, p place) {
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

// again applies a selection that is complete to a batch that was read again.
func (c *chooser) again(sel *selection, b *trace.Batch, p place) []int32 {
	group := c.choose(sel, b, p)
	sel.groups.renumber(group)
	return group
}

var errChanged = errors.New("the input has changed since it was first read; analyze a copy")

func changed(f *file) error { return named(f, errChanged) }

// noteRewritten says so of a file that was written over in place between opening it
// and the end of its first reading: nobody knows which of its bytes were read.
func (f *file) noteRewritten() {
	if formats.Rewritten(f.source) {
		f.diags.Add(diag.Diag{
			Code: "file_rewritten", Severity: diag.Error, File: f.source.Name(), Offset: -1, Count: 1,
			Msg: "the file was written over while it was read: these figures may be of two contents of it",
			Fix: "analyze a copy, or a log that is not being written over",
		})
	}
}

// selectionDiags says which runs a query could not be applied to.
func (s *Session) selectionDiags(sel *selection, log *diag.Log) {
	if sel.groups != nil && sel.groups.united > 0 {
		log.Add(diag.Diag{
			Code: "groups_capped", Severity: diag.Notice, Offset: -1, Count: int64(sel.groups.united),
			Msg: fmt.Sprintf("a report holds %d groups: the %d smallest, with %d requests, are together in %q", maxGroups, sel.groups.united, sel.groups.rest, otherGroup),
			Fix: "group by fewer dimensions or filter first",
		})
	}
	q := sel.q
	if q.From == nil && q.To == nil && q.Trim.Warmup == 0 {
		return
	}
	for key, e := range sel.edges {
		absolute := q.From != nil && !q.From.Relative || q.To != nil && !q.To.Relative
		d := diag.Diag{Code: "no_common_clock", Severity: diag.Notice, File: s.labelOf(key.slot), Offset: -1}
		switch {
		case e.kind == trace.RequestClock:
			d.Msg = "its stamps count from the start of each request: they lie in no interval of time, and the query removes all of them"
			d.Fix = "leave out --from, --to and --trim, or trim by a number of requests: --trim warmup=100"
		case absolute && e.kind != trace.Wall:
			d.Msg = fmt.Sprintf("its clock is %s: points in calendar time cannot be found on it, and the query removes all of its requests", e.kind)
			d.Fix = "give offsets from the start of the run, as in --from +30s"
		default:
			continue
		}
		log.Add(d)
	}
}

func (s *Session) labelOf(slot int32) string {
	for _, r := range s.runs {
		if r.slot == slot {
			return r.label
		}
	}
	return ""
}
