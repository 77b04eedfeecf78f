package analyzer

import (
	"cmp"
	"maps"
	"math"

	"servescope/analyzer/kernel"
	"servescope/analyzer/query"
	"servescope/analyzer/sorting"
	"servescope/analyzer/trace"
)

// edgeKey is a clock of a run. Interval and trim are applied on each by itself:
// stamps of different clocks have no order.
type edgeKey struct {
	slot int32
	axis string // as kernel.Axis names it
}

// edgeOf returns the key of a clock by its name.
func edgeOf(slot int32, clock string) edgeKey {
	if c, ok := trace.ParseClock(clock); ok {
		clock = kernel.Axis(c)
	}
	return edgeKey{slot, clock}
}

// edge is what a query makes of one clock of a run.
type edge struct {
	kind     trace.ClockKind
	first    int64    // earliest arrival, or the end of the earliest step
	steps    bool     // no request is on the clock: it is that of steps alone
	dropped  position // the last row that a trim by count drops
	drops    bool     // there is one
	next     int64    // arrival of the first row that it leaves
	leaves   bool     // there is one
	interval span     // of From and To
	trimmed  span     // what the trim leaves
}

// span is a part [from, to) of a clock.
type span struct {
	from, to int64
	placed   bool // the query has a place on the clock
}

var always = span{math.MinInt64, math.MaxInt64, true}

func (s *span) holds(t int64) bool { return t >= s.from && t < s.to }

// position orders the rows of one clock: by arrival, then by place.
type position struct {
	arrival, file, offset, row int64
}

func (p position) compare(o position) int {
	return cmp.Or(cmp.Compare(p.arrival, o.arrival), cmp.Compare(p.file, o.file), cmp.Compare(p.offset, o.offset), cmp.Compare(p.row, o.row))
}

// findEdges finds what the query makes of each clock of each run.
func (sel *Selection) findEdges() {
	sel.edges = make(map[edgeKey]edge)
	order := make(map[edgeKey][]position)
	sel.addEdges(order, nil)
	if sel.set.links != nil { // of clocks that no request is counted on
		sel.addEdges(order, maps.Clone(sel.edges))
	}
	sel.findStepEdges()
	for key, e := range sel.edges {
		if rows := order[key]; len(rows) > 0 {
			sorting.By(rows, position.compare)
			n := min(sel.q.Trim.Count, int64(len(rows)))
			e.dropped, e.drops = rows[n-1], true
			if e.leaves = n < int64(len(rows)); e.leaves {
				e.next = rows[n].arrival
			}
		}
		e.interval, e.trimmed = e.within(sel.q), sel.trimmed(key, &e)
		sel.edges[key] = e
	}
}

// addEdges adds the clocks of rows by which requests are counted, and with done,
// the clocks that have been found so, those of the others.
func (sel *Selection) addEdges(order map[edgeKey][]position, done map[edgeKey]edge) {
	set := sel.set
	for _, r := range open(set.requests) {
		a, c, offsets := kernel.ArrivalsOf(r.cols), clocksOf(r.cols), r.cols.Ints(trace.Offset)
		var name string
		var key edgeKey
		for i := range r.cols.Rows {
			at, ok := a.At(i)
			if !ok {
				continue
			}
			if set.links != nil && set.counts(r.Batch, i) != (done == nil) {
				continue
			}
			if clock := c.at(i); clock != name || name == "" {
				name, key = clock, edgeOf(r.slot, clock)
			}
			if _, ok := done[key]; ok {
				continue
			}
			e, known := sel.edges[key]
			if !known || at < e.first {
				clock, _ := trace.ParseClock(key.axis)
				sel.edges[key] = edge{kind: clock.Kind, first: at}
			}
			if n := r.number + int32(i); sel.q.Trim.Count > 0 && set.multi.first(n) {
				off, _ := offsets.At(i)
				at, _ = set.multi.arrival(n, at, true)
				order[key] = append(order[key], position{at, int64(r.file.index), off, r.first + int64(i)})
			}
		}
	}
}

// within returns the query's interval on the clock.
func (e *edge) within(q *query.Query) span {
	w := always
	if q.From != nil {
		v, ok := e.resolve(*q.From)
		w.from, w.placed = v, ok
	}
	if q.To != nil {
		v, ok := e.resolve(*q.To)
		w.to, w.placed = v, w.placed && ok
	}
	return w
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

// trimmed returns what the query's trim leaves of a clock. The steady window
// begins with the send that completes the plateau: that request still belongs
// to the ramp, one sent at the window's end to the window.
func (sel *Selection) trimmed(key edgeKey, e *edge) span {
	w := always
	switch t := sel.q.Trim; {
	case e.steps && t.Warmup == 0: // there are no requests that could tell
	case t.Steady:
		f := sel.facts.Runs[key.slot]
		w = span{f.SteadyFrom + 1, f.SteadyTo + 1, f.HasSteady && edgeOf(key.slot, f.Clock) == key}
	case t.Warmup > 0:
		w.from, w.placed = e.first+t.Warmup, e.kind != trace.RequestClock
	case t.Count > 0 && e.kind != trace.RequestClock:
		w.from, w.placed = e.next, e.leaves
	}
	return w
}

// judge tells whether a row has a part in W at all, and whether it is one of its
// requests, which begin in W.
func (e *edge) judge(p position) (keep bool, why uint8) {
	switch dropped := e.drops && p.compare(e.dropped) <= 0; {
	case !e.interval.placed:
		return false, byTime
	case !e.interval.holds(p.arrival):
		return e.trimmed.placed, byTime
	case !e.trimmed.placed:
		return false, byTrim
	case dropped:
		return !e.trimmed.holds(p.arrival), byTrim
	case !e.trimmed.holds(p.arrival):
		return true, byTrim
	}
	return true, stays
}

// bounds adds W to facts, by run and clock, in order of the clocks.
func (sel *Selection) bounds(facts *kernel.Facts) {
	for key, e := range sel.edges {
		if e.interval.placed && e.trimmed.placed && e.kind != trace.RequestClock {
			f := &facts.Runs[key.slot]
			f.Bounds = append(f.Bounds, kernel.Bound{
				Clock: key.axis, From: max(e.interval.from, e.trimmed.from), To: min(e.interval.to, e.trimmed.to),
			})
		}
	}
	for i := range facts.Runs {
		sorting.By(facts.Runs[i].Bounds, func(a, b kernel.Bound) int { return cmp.Compare(a.Clock, b.Clock) })
	}
}
