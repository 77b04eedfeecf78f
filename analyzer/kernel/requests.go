package kernel

import (
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// statuses is the number of statuses.
const statuses = int(trace.HeadMissing) + 1

// requests counts requests by status. A request belongs to the window of its
// send or arrival.
type requests struct{ def *metric.Definition }

func (requests) Name() string { return "requests" }
func (requests) Lists() bool  { return false }
func (k requests) New(q *query.Query, facts *Facts) State {
	s := new(requestsState)
	s.base = newBase(k.def, q, facts)
	return s
}

// statusCounts counts the requests of a cell; removed ones are in group -1, or
// elsewhere.
type statusCounts struct {
	n [statuses]int64

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

func (c *statusCounts) merge(o *statusCounts) {
	mine := c.sums()
	for i, n := range o.sums() {
		*mine[i] += *n
	}
}

func (c *statusCounts) size() int64 { return 8 * int64(statuses+4) }

func (c *statusCounts) weight() int64 {
	sum := int64(0)
	for _, n := range c.n {
		sum += n
	}
	return sum
}

func (c *statusCounts) appendTo(dst []byte) []byte {
	for _, n := range c.sums() {
		dst = appendInts(dst, *n)
	}
	return dst
}

func (c *statusCounts) load(src *reader) { src.ints(c.sums()...) }

type requestsState struct {
	celled[statusCounts, *statusCounts]
}

func (s *requestsState) Update(v *View) {
	x := s.begin(v)
	for i := range v.Rows {
		w, selected := x.next(i)
		if w.sibling {
			continue
		}
		q := w.request()
		s.cells.room()
		if !selected {
			s.cells.at(x.place(q, -1, none), 1).n[q.status]++
			continue
		}
		begin, end := x.place(q, x.group[i], q.arrival()), x.place(q, x.group[i], q.leaving())
		s.cells.at(begin, 1).n[q.status]++
		if begin != end {
			s.cross(begin, end)
		}
	}
}

// cross counts a request that ends at another place than it begins at.
func (s *requestsState) cross(begin, end place) {
	from, to := s.cells.at(begin, 0), s.cells.at(end, 0)
	from.window.later++
	to.window.earlier++
	if end.window == elsewhere {
		from.interval.later++
	}
	if begin.window == elsewhere {
		to.interval.earlier++
	}
}

func (s *requestsState) Merge(other State) error {
	o, ok := other.(*requestsState)
	if !ok {
		return errMerge(s, other)
	}
	return s.merge(&o.celled)
}

func (s *requestsState) Finish(out Output) {
	s.cells.prune()
	s.finishingOf(s.cells.places(), func(run int32, info *runInfo, all []place) {
		places := within(all, info.counting())
		s.sides(out.Run(run), run, info, all)
		if info.multiple() {
			s.sides(out.Run(run), run, info, all)
		}
		var removed statusCounts
		var kept []place
		for _, p := range places {
			switch {
			case p.run != run:
			case p.group < 0, p.window == elsewhere:
				removed.merge(s.cells.byPlace[p])
			default:
				kept = append(kept, p)
			}
		}
		for _, t := range s.targets(run, kept) {
			out.Cell(run, t.group, t.window).Requests = s.united(t.from).requests(t.window)
		}
		out.Cell(run, -1, NoWindow).Requests.Filtered = removed.weight()
	})
}

// requests returns the counts of a cell of the given window.
func (c *statusCounts) requests(window int64) report.Requests {
	x := c.window
	if window == NoWindow {
		x = c.interval
	}
	return report.Requests{
		Total: c.weight(), OK: c.n[trace.OK], Failed: c.n[trace.Failed], Aborted: c.n[trace.Aborted],
		Empty: c.n[trace.Empty], Open: c.n[trace.Open], HeadMissing: c.n[trace.HeadMissing],
		EndLater: x.later, BegunEarlier: x.earlier,
	}
}
