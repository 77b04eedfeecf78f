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

// ClockRange is the interval of a query on one clock of a run.
type ClockRange struct {
	Kind     trace.ClockKind
	First    int64     // earliest arrival, or the end of the earliest step
	steps    bool      // no request is on the clock, only steps are
	dropped  position  // the last row that a trim by count drops
	drops    bool      // there is one
	next     int64     // arrival of the first row that it leaves
	leaves   bool      // there is one
	interval timeRange // of From and To
	trimmed  timeRange // what the trim leaves
}

// Holds reports whether a time on the clock is in what the query leaves of it.
func (e *ClockRange) Holds(t int64) bool {
	return e.interval.placed && e.trimmed.placed && e.interval.holds(t) && e.trimmed.holds(t)
}

// within returns what the query leaves of the clock, if it leaves a range.
func (e *ClockRange) within() (from, to int64, ok bool) {
	return max(e.interval.from, e.trimmed.from), min(e.interval.to, e.trimmed.to), e.interval.placed && e.trimmed.placed && e.Kind != trace.RequestClock
}

// timeRange is a part [from, to) of a clock.
type timeRange struct {
	from, to int64
	placed   bool // the query has a place on the clock
}

var always = timeRange{math.MinInt64, math.MaxInt64, true}

func (s *timeRange) holds(t int64) bool { return t >= s.from && t < s.to }

// position orders the rows of one clock: by arrival, then by place.
type position struct {
	arrival, file, offset, row int64
}

func (p position) compare(o position) int {
	return cmp.Or(cmp.Compare(p.arrival, o.arrival), cmp.Compare(p.file, o.file), cmp.Compare(p.offset, o.offset), cmp.Compare(p.row, o.row))
}

// ClockRangesOf returns the clocks of all runs of a set, as a query about everything
// leaves them.
func ClockRangesOf(set *dataset.Set) map[ClockKey]ClockRange {
	all := &Selection{Set: set, Query: new(query.Query)}
	findClockRanges(all)
	return all.ClockRanges
}

// findClockRanges finds what the query makes of each clock of each run.
func findClockRanges(sel *Selection) {
	sel.ClockRanges = make(map[ClockKey]ClockRange)
	order := make(map[ClockKey][]position)
	addClockRanges(sel, order, nil)
	if sel.Set.Links != nil { // of clocks that no request is counted on
		addClockRanges(sel, order, maps.Clone(sel.ClockRanges))
	}
	addStepClockRanges(sel)
	for key, e := range sel.ClockRanges {
		if rows := order[key]; len(rows) > 0 {
			slices.SortFunc(rows, position.compare)
			n := min(sel.Query.Trim.Count, int64(len(rows)))
			e.dropped, e.drops = rows[n-1], true
			if e.leaves = n < int64(len(rows)); e.leaves {
				e.next = rows[n].arrival
			}
		}
		e.interval, e.trimmed = e.intervalOf(sel.Query), trimmed(sel, key, &e)
		sel.ClockRanges[key] = e
	}
}

// addClockRanges adds the clocks of the rows by which requests are counted; given the
// clocks done of these rows, it adds the clocks of the other rows.
func addClockRanges(sel *Selection, order map[ClockKey][]position, done map[ClockKey]ClockRange) {
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
			if n := r.Number + int32(i); sel.Query.Trim.Count > 0 && set.Multi.First(n) {
				off, _ := offsets.At(i)
				at, _ = set.Multi.Arrival(n, at, true)
				order[key] = append(order[key], position{at, int64(r.File.Index), off, r.First + int64(i)})
			}
		}
	}
}

// intervalOf returns the query's interval on the clock.
func (e *ClockRange) intervalOf(q *query.Query) timeRange {
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
func trimmed(sel *Selection, key ClockKey, e *ClockRange) timeRange {
	w := always
	switch t := sel.Query.Trim; {
	case e.steps && t.Warmup == 0: // there are no requests that could tell
	case t.Steady:
		f := sel.facts.Runs[key.Slot]
		w = timeRange{f.SteadyFrom + 1, f.SteadyTo + 1, f.HasSteady && ClockKeyOf(key.Slot, f.Clock) == key}
	case t.Warmup > 0:
		w.from, w.placed = e.First+t.Warmup, e.Kind != trace.RequestClock
	case t.Count > 0 && e.Kind != trace.RequestClock:
		w.from, w.placed = e.next, e.leaves
	}
	return w
}

// judge tells whether a row has a part in W at all, and whether it is one of its
// requests, which begin in W.
func (e *ClockRange) judge(p position) (keep bool, why uint8) {
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
