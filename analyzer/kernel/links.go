package kernel

import (
	"slices"

	"servescope/analyzer/decompose"
	"servescope/analyzer/join"
	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// follow puts row i where the query places the request that it is linked to, at
// the arrival of the row that counts it, unless both are on one clock. All of a
// request is then in one window, on every side.
func (x *batch) follow(i int) {
	own, _ := x.links.At(x.first + int32(i))
	b, j := x.links.At(x.links.Lead(x.first + int32(i)))
	clock := clockOf(b, j)
	if clock == x.clockAt(i) && (clock.Source != "" || own.File == b.File) { // as join judges clocks
		return
	}
	to := x.base.axisOf(x.index, clock)
	a := ArrivalsOf(b)
	x.axis = axis{fixed: true, at: NoWindow}
	if t, ok := a.At(j); ok {
		x.axis.at = to.window(t)
	}
	x.code = -2 // the next row has a clock of its own
}

// clockOf returns the clock of row i of b.
func clockOf(b *trace.Batch, i int) trace.Clock {
	c := b.Dicts(trace.ClockCol)
	if code, ok := c.At(i); ok {
		if clock, ok := trace.ParseClock(c.Values[code]); ok {
			return clock
		}
	}
	return b.Run.Clock
}

// peers reads the other rows of a request. It is used by one goroutine.
type peers struct {
	links *join.Links
	rows  map[*trace.Batch]*rows
}

// of returns the row of a side of the request of row n: the one that stands for
// it. It reports false where the side has none.
func (p *peers) of(n int32, side trace.Side) (row, bool) {
	for _, m := range p.links.Rows(n) {
		if p.links.Side(m) == side && p.links.Role(m) != join.Repeats {
			return p.at(m), true
		}
	}
	return row{}, false
}

// at returns row m.
func (p *peers) at(m int32) row {
	b, i := p.links.At(m)
	r := p.rows[b]
	if r == nil {
		if p.rows == nil {
			p.rows = make(map[*trace.Batch]*rows)
		}
		own := rowsOf(&View{Batch: b, Links: p.links, Base: m - int32(i)})
		r = &own
		p.rows[b] = r
	}
	return r.at(i)
}

// sideOf returns the figures of a side of a run, creating them in order of the
// sides.
func sideOf(run *report.Run, side trace.Side) *report.Side {
	name := sideName(side)
	at := 0
	for _, s := range outermost {
		if at == len(run.Sides) || s == side {
			break
		}
		if run.Sides[at].Side == sideName(s) {
			at++
		}
	}
	if at < len(run.Sides) && run.Sides[at].Side == name {
		return &run.Sides[at]
	}
	run.Sides = append(run.Sides, report.Side{})
	copy(run.Sides[at+1:], run.Sides[at:])
	run.Sides[at] = report.Side{Side: name}
	return &run.Sides[at]
}

// multiple reports whether a run has rows of more than one side.
func (r *runInfo) multiple() bool {
	n := 0
	for s := range sides {
		if r.side(s).rows+r.side(s+sides).rows > 0 {
			n++
		}
	}
	return n > 1
}

// ofRequests returns the places of rows that belong to requests of their run.
func ofRequests(places []place) []place {
	return slices.DeleteFunc(slices.Clone(places), func(p place) bool { return int(p.side) >= sides })
}

// unjoined counts the sides of the run that the request of row i has no row of.
func (x *batch) unjoined(i int, lack *[sides]int64) {
	if x.links == nil || !x.links.Joined() {
		return
	}
	present := join.Sides(1) << x.links.Side(x.first+int32(i))
	for _, m := range x.links.Rows(x.first + int32(i)) {
		present |= 1 << x.links.Side(m)
	}
	seen := x.links.Seen(x.index)
	for side := range trace.Side(sides) {
		if seen.Has(side) && !present.Has(side) {
			lack[side]++
		}
	}
}

// ofSides calls f with all latencies of each side of a run that has any.
func (s *latencyState) ofSides(index int32, places []place, f func(side trace.Side, all *samples)) {
	var mine []place
	for _, p := range places {
		if p.run == index && p.group >= 0 && p.window != elsewhere {
			mine = append(mine, p)
		}
	}
	bySlot := s.unite(mine)
	for side := range trace.Side(sides) {
		all := new(samples)
		for _, of := range [...]*samples{bySlot[side], bySlot[int(side)+sides]} {
			if of != nil {
				all.unite(of)
			}
		}
		if all.rows > 0 {
			f(side, all)
		}
	}
}

// sides writes the latencies of each side of a run, over all of its rows.
func (s *latencyState) sides(run *report.Run, index int32, places []place) {
	s.ofSides(index, places, func(side trace.Side, all *samples) {
		to := sideOf(run, side)
		to.Metrics = make(map[string]report.Metric)
		for slot := range measures {
			m := s.distribution(s.emptyMetric(measures[slot].name, side, all.excluded[slot], false), &measures[slot], &all.values[slot], false)
			all.values[slot].Rest()
			if m.N > 0 {
				to.Metrics[measures[slot].name] = m
			}
		}
	})
}

// sides writes how many rows each side of a run has.
func (s *requestsState) sides(run *report.Run, index int32, info *runInfo, places []place) {
	for side := range trace.Side(sides) {
		var all, apart statusCounts
		for _, p := range places {
			if p.run != index || p.group < 0 || p.window == elsewhere {
				continue
			}
			switch int(p.side) {
			case int(side):
				all.merge(s.cells.byPlace[p])
			case int(side) + sides:
				all.merge(s.cells.byPlace[p])
				apart.merge(s.cells.byPlace[p])
			}
		}
		if all.weight() > 0 {
			to := sideOf(run, side)
			to.Requests, to.Apart, to.Counts = all.requests(NoWindow), apart.weight(), side == info.counting()
		}
	}
}

// judgeLinked judges the request that row n counts: for each side that may turn
// out to be that of the run's latencies, by the rows of the sides that its
// conditions are about.
func (s *goodputState) judgeLinked(to place, w *row, n int32, p *peers) {
	for side := range trace.Side(sides) {
		if side != w.side && (side >= trace.Engine || !p.links.Seen(to.run).Has(side)) {
			continue
		}
		to.side = int32(side)
		q := *w
		s.judge(s.cells.at(to, 1), &q, func(of trace.Side) (*row, bool) {
			if of < 0 {
				of = side
			}
			if of == w.side {
				return &q, true
			}
			r, ok := p.of(n, of)
			return &r, ok
		})
	}
}

// linkedRows returns a function that appends to dst what the rows of other sides
// tell of the request of row i. It is for one goroutine.
func linkedRows(links *join.Links, base int32) func(i int, dst []decompose.Row) []decompose.Row {
	columns := make(map[*trace.Batch]*decompose.Columns)
	return func(i int, dst []decompose.Row) []decompose.Row {
		if links == nil {
			return dst
		}
		own := base + int32(i)
		for _, m := range links.Rows(own) {
			if m == own || links.Role(m) == join.Repeats {
				continue
			}
			b, k := links.At(m)
			c := columns[b]
			if c == nil {
				c = decompose.ColumnsOf(b)
				columns[b] = c
			}
			dst = append(dst, decompose.Row{})
			c.Row(k, &dst[len(dst)-1])
			dst[len(dst)-1].Side = links.Side(m)
		}
		return dst
	}
}

// unjoined counts a request that is counted further out, and that no server's row
// is linked to, where there are rows of servers.
func (s *decompositionState) unjoined(x *batch, i int, w *row, to place) {
	if x.links == nil || !x.links.Joined() || w.role != join.Counts || w.side >= trace.Server || !x.links.Seen(x.index).Has(trace.Server) {
		return
	}
	for _, m := range x.links.Rows(x.first + int32(i)) {
		if x.links.Side(m) == trace.Server {
			return
		}
	}
	to.side = int32(trace.Server)
	c := s.cells.at(to, 1)
	c.rows++
	c.excluded.add(metric.NotJoined, 1)
}
