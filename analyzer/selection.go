package analyzer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"servescope/analyzer/diag"
	"servescope/analyzer/kernel"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
)

// selection is the verdict of a query on every resident row: which rows it
// keeps, and in which group.
type selection struct {
	q       *query.Query
	metrics query.MetricColumn
	facts   *kernel.Facts // holds the steady windows, for a steady trim
	edges   map[edgeKey]edge
	groups  *groups
	choices *kernel.Choices   // joins rows to requests; nil where every row is one
	rows    [][]int32         // group by resident batch and row; nil when the query keeps everything in one group
	removed map[int32]removed // by slot
}

// removed counts the rows that a query removes, by the first reason.
type removed struct{ filter, time, trim int64 }

// edgeKey is a clock of a run. Interval and trim are applied on each by itself:
// stamps of different clocks have no order.
type edgeKey struct {
	slot  int32
	clock string
}

// edge is what a query makes of one clock of a run.
type edge struct {
	kind  trace.ClockKind
	first int64    // earliest arrival
	count position // the last row that a trim by count drops
	drops bool
}

// position orders the rows of one clock: by arrival, then by place.
type position struct {
	arrival, file, offset, row int64
}

func (p position) compare(o position) int {
	return cmp.Or(cmp.Compare(p.arrival, o.arrival), cmp.Compare(p.file, o.file), cmp.Compare(p.offset, o.offset), cmp.Compare(p.row, o.row))
}

// selects reports whether q may remove rows.
func selects(q *query.Query) bool {
	return q.Filter != nil || q.From != nil || q.To != nil || q.Trim != query.Trim{}
}

// plain reports whether q keeps every row, in one group.
func plain(q *query.Query) bool { return !selects(q) && len(q.By) == 0 }

// choose applies q to the resident rows.
func (s *Session) choose(q *query.Query, metrics query.MetricColumn, facts *kernel.Facts) *selection {
	sel := &selection{q: q, metrics: metrics, facts: facts, removed: make(map[int32]removed)}
	if plain(q) {
		return sel
	}
	if q.From != nil || q.To != nil || q.Trim != (query.Trim{}) {
		s.findEdges(sel)
	}
	sel.groups = newGroups(q.By)
	var c chooser
	for _, r := range s.rows {
		verdict := slices.Clone(c.choose(sel, r.batch, r.place))
		for i, why := range c.why {
			n := sel.removed[r.slot]
			switch {
			case verdict[i] >= 0:
			case why == byFilter:
				n.filter++
			case why == byTime:
				n.time++
			default:
				n.trim++
			}
			sel.removed[r.slot] = n
		}
		sel.rows = append(sel.rows, verdict)
	}
	sel.groups.finish(sel.rows)
	return sel
}

// of returns the groups of the rows of resident batch i, nil for all in one.
func (sel *selection) of(i int) []int32 {
	if sel.rows == nil {
		return nil
	}
	return sel.rows[i]
}

// arrivals is the column by which a request belongs to an interval: its send,
// or its arrival at the side that recorded it.
type arrivals [4]trace.Ints

func arrivalsOf(b *trace.Batch) arrivals {
	return arrivals{b.Ints(trace.Sent), b.Ints(trace.Received), b.Ints(trace.Dispatched), b.Ints(trace.Queued)}
}

func (a *arrivals) at(i int) (int64, bool) {
	for k := range a {
		if v, ok := a[k].At(i); ok {
			return v, true
		}
	}
	return 0, false
}

// clocks names the clock of each row of a batch.
type clocks struct {
	run   string
	codes trace.Dicts
}

func clocksOf(b *trace.Batch) clocks { return clocks{b.Run.Clock.String(), b.Dicts(trace.ClockCol)} }

func (c *clocks) at(i int) string {
	if code, ok := c.codes.At(i); ok {
		return c.codes.Values[code]
	}
	return c.run
}

// findEdges finds the first arrival on each clock of each run and, for a trim by
// count, the last row to drop.
func (s *Session) findEdges(sel *selection) {
	sel.edges = make(map[edgeKey]edge)
	order := make(map[edgeKey][]position)
	for _, r := range s.rows {
		a, c, offsets := arrivalsOf(r.batch), clocksOf(r.batch), r.batch.Ints(trace.Offset)
		for i := range r.batch.Rows {
			at, ok := a.at(i)
			if !ok {
				continue
			}
			key := edgeKey{r.slot, c.at(i)}
			e, known := sel.edges[key]
			if !known || at < e.first {
				clock, _ := trace.ParseClock(key.clock)
				sel.edges[key] = edge{kind: clock.Kind, first: at}
			}
			if sel.q.Trim.Count > 0 {
				off, _ := offsets.At(i)
				order[key] = append(order[key], position{at, int64(r.file.index), off, r.first + int64(i)})
			}
		}
	}
	for key, rows := range order {
		slices.SortFunc(rows, position.compare)
		e := sel.edges[key]
		e.count, e.drops = rows[min(sel.q.Trim.Count, int64(len(rows)))-1], true
		sel.edges[key] = e
	}
}

// Why a row was removed.
const (
	byFilter uint8 = iota
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
}

// choose returns the group of each row of b, -1 for those that are removed. The
// result is valid until the next call.
func (c *chooser) choose(sel *selection, b *trace.Batch, p place) []int32 {
	n := b.Rows
	c.keep = slices.Grow(c.keep[:0], n)[:n]
	c.why = slices.Grow(c.why[:0], n)[:n]
	c.group = slices.Grow(c.group[:0], n)[:n]
	clear(c.why)
	if sel.q.Filter != nil {
		if c.x == nil {
			c.x = sel.q.Filter.Evaluator(sel.metrics)
		}
		c.x.Eval(b, c.keep)
	} else {
		for i := range c.keep {
			c.keep[i] = true
		}
	}
	if sel.edges != nil {
		c.chooseTime(sel, b, p)
	}
	sel.groups.of(b, p.file, c.group, &c.ids)
	for i, k := range c.keep {
		if !k {
			c.group[i] = -1
		}
	}
	return c.group
}

// chooseTime removes rows outside of the interval and in the trimmed edges.
func (c *chooser) chooseTime(sel *selection, b *trace.Batch, p place) {
	a, names, offsets := arrivalsOf(b), clocksOf(b), b.Ints(trace.Offset)
	var key edgeKey
	var e edge
	for i := range c.keep {
		if !c.keep[i] {
			continue
		}
		at, ok := a.at(i)
		if !ok {
			c.keep[i], c.why[i] = false, byTime
			continue
		}
		if k := (edgeKey{p.slot, names.at(i)}); k != key || i == 0 {
			key, e = k, sel.edges[k]
		}
		if !e.inside(sel.q, at) {
			c.keep[i], c.why[i] = false, byTime
			continue
		}
		off, _ := offsets.At(i)
		if sel.trims(e, p.slot, position{at, int64(p.file.index), off, p.first + int64(i)}) {
			c.keep[i], c.why[i] = false, byTrim
		}
	}
}

// inside reports whether an arrival lies in the query's interval.
func (e *edge) inside(q *query.Query, at int64) bool {
	if q.From != nil {
		from, ok := e.resolve(*q.From)
		if !ok || at < from {
			return false
		}
	}
	if q.To != nil {
		to, ok := e.resolve(*q.To)
		if !ok || at >= to {
			return false
		}
	}
	return true
}

// resolve puts an instant on the clock; it reports false where it has no place.
func (e *edge) resolve(t query.Instant) (int64, bool) {
	switch {
	case e.kind == trace.RequestClock:
		return 0, false
	case t.Relative:
		return e.first + t.NS, true
	}
	return t.NS, e.kind == trace.Wall
}

// trims reports whether the query's trim drops the row at p.
func (sel *selection) trims(e edge, slot int32, p position) bool {
	t := sel.q.Trim
	switch {
	case t.Steady:
		f := sel.facts.Runs[slot]
		// The send that completes the plateau still belongs to the ramp.
		return !f.HasSteady || p.arrival <= f.SteadyFrom || p.arrival > f.SteadyTo
	case t.Warmup > 0:
		return e.kind == trace.RequestClock || p.arrival < e.first+t.Warmup
	case t.Count > 0:
		return e.drops && p.compare(e.count) <= 0
	}
	return false
}

// again applies a selection that is complete to a batch that was read again.
func (c *chooser) again(sel *selection, b *trace.Batch, p place) []int32 {
	group := c.choose(sel, b, p)
	sel.groups.renumber(group)
	return group
}

var errChanged = errors.New("the input has changed since it was first read; analyze a copy")

func changed(f *file) error { return named(f, errChanged) }

// selectionDiags says which runs a query could not be applied to.
func (s *Session) selectionDiags(sel *selection, log *diag.Log) {
	if sel.groups != nil && sel.groups.united > 0 {
		log.Add(diag.Diag{
			Code: "groups_capped", Severity: diag.Notice, Offset: -1, Count: int64(sel.groups.united),
			Msg: fmt.Sprintf("a report holds %d groups: the smallest of more are together in %q", maxGroups, otherGroup),
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
