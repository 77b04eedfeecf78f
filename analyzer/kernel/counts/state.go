package counts

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

type state struct {
	cell.State[statusCounts, *statusCounts]
}

// sides writes how many rows each side of a run has.
func (s *state) sides(run *report.Run, index int32, info *cell.Run, places []cell.Place) {
	for side := range trace.Side(request.NumSides) {
		var all, apart statusCounts
		for _, p := range places {
			if p.Run != index || p.Group < 0 || p.Window == cell.Elsewhere {
				continue
			}
			switch int(p.Side) {
			case int(side):
				all.Merge(s.Cells.ByPlace[p])
			case int(side) + request.NumSides:
				all.Merge(s.Cells.ByPlace[p])
				apart.Merge(s.Cells.ByPlace[p])
			}
		}
		if all.Weight() > 0 {
			to := cell.SideOf(run, side)
			to.Requests, to.Apart, to.Counts = all.requests(kernel.NoWindow), apart.Weight(), side == info.CountingSide()
		}
	}
}

func (s *state) Update(v *kernel.View) {
	x := s.Begin(v)
	for i := range v.Rows {
		w, selected := x.Next(i)
		if w.Sibling {
			continue
		}
		q := w.Request()
		s.Cells.MakeRoom()
		if !selected {
			s.Cells.At(x.Place(q, -1, request.None), 1).n[q.Status]++
			continue
		}
		begin, end := x.Place(q, x.Group[i], q.Arrival()), x.Place(q, x.Group[i], q.Leaving())
		s.Cells.At(begin, 1).n[q.Status]++
		if begin != end {
			s.cross(begin, end)
		}
	}
}

// cross counts a request that ends at another place than it begins at.
func (s *state) cross(begin, end cell.Place) {
	from, to := s.Cells.At(begin, 0), s.Cells.At(end, 0)
	from.window.later++
	to.window.earlier++
	if end.Window == cell.Elsewhere {
		from.interval.later++
	}
	if begin.Window == cell.Elsewhere {
		to.interval.earlier++
	}
}

func (s *state) Merge(other kernel.State) error {
	o, ok := other.(*state)
	if !ok {
		return cell.MergeError(s, other)
	}
	return s.MergeCells(&o.State)
}

func (s *state) Finish(out kernel.Output) {
	s.Cells.Prune()
	s.FinishingOf(s.Cells.Places(), func(run int32, info *cell.Run, all []cell.Place) {
		places := cell.Within(all, info.CountingSide())
		s.sides(out.Run(run), run, info, all)
		var removed statusCounts
		var kept []cell.Place
		for _, p := range places {
			switch {
			case p.Run != run:
			case p.Group < 0, p.Window == cell.Elsewhere:
				removed.Merge(s.Cells.ByPlace[p])
			default:
				kept = append(kept, p)
			}
		}
		for _, t := range s.Targets(run, kept) {
			out.Cell(run, t.Group, t.Window).Requests = s.United(t.From).requests(t.Window)
		}
		out.Cell(run, -1, kernel.NoWindow).Requests.Filtered = removed.Weight()
	})
}

// statusCounts counts the requests of a cell; removed ones are in group -1, or
// elsewhere.
type statusCounts struct {
	n [request.Statuses]int64

	window, interval crossings // of the bounds of the place's window, and of the query's interval
}

// crossings counts the requests that lie on both sides of a bound of time.
type crossings struct{ later, earlier int64 } // begun within and ended outside, begun outside and ended within

func (c *statusCounts) sums() []*int64 {
	list := []*int64{&c.window.later, &c.window.earlier, &c.interval.later, &c.interval.earlier}
	for i := range c.n {
		list = append(list, &c.n[i])
	}
	return list
}

func (c *statusCounts) Merge(o *statusCounts) {
	mine := c.sums()
	for i, n := range o.sums() {
		*mine[i] += *n
	}
}

func (c *statusCounts) Size() int64 { return 8 * int64(request.Statuses+4) }

func (c *statusCounts) Weight() int64 {
	sum := int64(0)
	for _, n := range c.n {
		sum += n
	}
	return sum
}

func (c *statusCounts) AppendTo(dst []byte) []byte {
	for _, n := range c.sums() {
		dst = cell.AppendInts(dst, *n)
	}
	return dst
}

func (c *statusCounts) Load(src *cell.Reader) { src.Ints(c.sums()...) }

// requests returns the counts of a cell of the given window.
func (c *statusCounts) requests(window int64) report.Requests {
	x := c.window
	if window == kernel.NoWindow {
		x = c.interval
	}
	return report.Requests{
		Total: c.Weight(), OK: c.n[trace.OK], Failed: c.n[trace.Failed], Aborted: c.n[trace.Aborted],
		Empty: c.n[trace.Empty], Open: c.n[trace.Open], HeadMissing: c.n[trace.HeadMissing],
		EndLater: x.later, BegunEarlier: x.earlier,
	}
}
