package selection

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"servescope/analyzer/dataset"
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
)

// ClockKey is a clock of a run. Interval and trim are applied on each by itself:
// stamps of different clocks have no order.
type ClockKey struct {
	Slot int32
	Axis string // as kernel.Axis names it
}

// ClockKeyOf returns the key of a clock by its name.
func ClockKeyOf(slot int32, clock string) ClockKey {
	if c, ok := trace.ParseClock(clock); ok {
		clock = kernel.Axis(c)
	}
	return ClockKey{slot, clock}
}

// ClockRange is what a query makes of one clock of a run.
type ClockRange struct {
	Kind     trace.ClockKind
	First    int64    // earliest arrival, or the end of the earliest step
	steps    bool     // no request is on the clock: it is that of steps alone
	dropped  position // the last row that a trim by count drops
	drops    bool     // there is one
	next     int64    // arrival of the first row that it leaves
	leaves   bool     // there is one
	Interval span     // of From and To
	Trimmed  span     // what the trim leaves
}

// span is a part [from, to) of a clock.
type span struct {
	from, to int64
	Placed   bool // the query has a place on the clock
}

var always = span{math.MinInt64, math.MaxInt64, true}

func (s *span) Holds(t int64) bool { return t >= s.from && t < s.to }

// position orders the rows of one clock: by arrival, then by place.
type position struct {
	arrival, file, offset, row int64
}

func (p position) compare(o position) int {
	return cmp.Or(cmp.Compare(p.arrival, o.arrival), cmp.Compare(p.file, o.file), cmp.Compare(p.offset, o.offset), cmp.Compare(p.row, o.row))
}

// FindClockRanges finds what the query makes of each clock of each run.
func (sel *Selection) FindClockRanges() {
	sel.ClockRanges = make(map[ClockKey]ClockRange)
	order := make(map[ClockKey][]position)
	sel.addEdges(order, nil)
	if sel.Set.Links != nil { // of clocks that no request is counted on
		sel.addEdges(order, maps.Clone(sel.ClockRanges))
	}
	sel.findStepEdges()
	for key, e := range sel.ClockRanges {
		if rows := order[key]; len(rows) > 0 {
			slices.SortFunc(rows, position.compare)
			n := min(sel.Q.Trim.Count, int64(len(rows)))
			e.dropped, e.drops = rows[n-1], true
			if e.leaves = n < int64(len(rows)); e.leaves {
				e.next = rows[n].arrival
			}
		}
		e.Interval, e.Trimmed = e.within(sel.Q), sel.trimmed(key, &e)
		sel.ClockRanges[key] = e
	}
}

// addEdges adds the clocks of rows by which requests are counted, and with done,
// the clocks that have been found so, those of the others.
func (sel *Selection) addEdges(order map[ClockKey][]position, done map[ClockKey]ClockRange) {
	set := sel.Set
	for _, r := range dataset.OpenEach(set.Requests) {
		a, c, offsets := request.ArrivalsOf(r.Cols), dataset.ClocksOf(r.Cols), r.Cols.Ints(trace.Offset)
		var name string
		var key ClockKey
		for i := range r.Cols.Rows {
			at, ok := a.At(i)
			if !ok {
				continue
			}
			if set.Links != nil && set.Counts(r.Batch, i) != (done == nil) {
				continue
			}
			if clock := c.At(i); clock != name || name == "" {
				name, key = clock, ClockKeyOf(r.Slot, clock)
			}
			if _, ok := done[key]; ok {
				continue
			}
			e, known := sel.ClockRanges[key]
			if !known || at < e.First {
				clock, _ := trace.ParseClock(key.Axis)
				sel.ClockRanges[key] = ClockRange{Kind: clock.Kind, First: at}
			}
			if n := r.Number + int32(i); sel.Q.Trim.Count > 0 && set.Multi.First(n) {
				off, _ := offsets.At(i)
				at, _ = set.Multi.Arrival(n, at, true)
				order[key] = append(order[key], position{at, int64(r.File.Index), off, r.First + int64(i)})
			}
		}
	}
}

// within returns the query's interval on the clock.
func (e *ClockRange) within(q *query.Query) span {
	w := always
	if q.From != nil {
		v, ok := e.resolve(*q.From)
		w.from, w.Placed = v, ok
	}
	if q.To != nil {
		v, ok := e.resolve(*q.To)
		w.to, w.Placed = v, w.Placed && ok
	}
	return w
}

// resolve puts an instant on the clock; it reports false where it has no place.
func (e *ClockRange) resolve(t query.Instant) (int64, bool) {
	switch {
	case e.Kind == trace.RequestClock:
		return 0, false
	case t.Relative:
		return e.First + t.NS, true
	}
	return t.NS, e.Kind == trace.Wall
}

// trimmed returns what the query's trim leaves of a clock. The steady window
// begins with the send that completes the plateau: that request still belongs
// to the ramp, one sent at the window's end to the window.
func (sel *Selection) trimmed(key ClockKey, e *ClockRange) span {
	w := always
	switch t := sel.Q.Trim; {
	case e.steps && t.Warmup == 0: // there are no requests that could tell
	case t.Steady:
		f := sel.facts.Runs[key.Slot]
		w = span{f.SteadyFrom + 1, f.SteadyTo + 1, f.HasSteady && ClockKeyOf(key.Slot, f.Clock) == key}
	case t.Warmup > 0:
		w.from, w.Placed = e.First+t.Warmup, e.Kind != trace.RequestClock
	case t.Count > 0 && e.Kind != trace.RequestClock:
		w.from, w.Placed = e.next, e.leaves
	}
	return w
}

// judge tells whether a row has a part in W at all, and whether it is one of its
// requests, which begin in W.
func (e *ClockRange) judge(p position) (keep bool, why uint8) {
	switch dropped := e.drops && p.compare(e.dropped) <= 0; {
	case !e.Interval.Placed:
		return false, byTime
	case !e.Interval.Holds(p.arrival):
		return e.Trimmed.Placed, byTime
	case !e.Trimmed.Placed:
		return false, byTrim
	case dropped:
		return !e.Trimmed.Holds(p.arrival), byTrim
	case !e.Trimmed.Holds(p.arrival):
		return true, byTrim
	}
	return true, stays
}

// Bounds adds W to facts, by run and clock, in order of the clocks.
func (sel *Selection) Bounds(facts *kernel.Facts) {
	for key, e := range sel.ClockRanges {
		if e.Interval.Placed && e.Trimmed.Placed && e.Kind != trace.RequestClock {
			f := &facts.Runs[key.Slot]
			f.Bounds = append(f.Bounds, kernel.Bound{
				Clock: key.Axis, From: max(e.Interval.from, e.Trimmed.from), To: min(e.Interval.to, e.Trimmed.to),
			})
		}
	}
	for i := range facts.Runs {
		slices.SortFunc(facts.Runs[i].Bounds, func(a, b kernel.Bound) int { return cmp.Compare(a.Clock, b.Clock) })
	}
}
