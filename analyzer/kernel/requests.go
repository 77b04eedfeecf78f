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
type statusCounts struct{ n [statuses]int64 }

func (c *statusCounts) merge(o *statusCounts) {
	for i, n := range o.n {
		c.n[i] += n
	}
}

func (c *statusCounts) size() int64 { return 8 * int64(statuses) }

func (c *statusCounts) weight() int64 {
	sum := int64(0)
	for _, n := range c.n {
		sum += n
	}
	return sum
}

func (c *statusCounts) appendTo(dst []byte) []byte { return appendInts(dst, c.n[:]...) }

func (c *statusCounts) load(src *reader) {
	for i := range c.n {
		c.n[i] = src.int()
	}
}

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
		p := x.place(q, -1, none)
		if selected {
			p = x.place(q, x.group[i], q.arrival())
		}
		s.cells.room()
		s.cells.at(p, 1).n[q.status]++
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
			out.Cell(run, t.group, t.window).Requests = s.united(t.from).requests()
		}
		out.Cell(run, -1, NoWindow).Requests.Filtered = removed.weight()
	})
}

func (c *statusCounts) requests() report.Requests {
	return report.Requests{
		Total: c.weight(), OK: c.n[trace.OK], Failed: c.n[trace.Failed], Aborted: c.n[trace.Aborted],
		Empty: c.n[trace.Empty], Open: c.n[trace.Open], HeadMissing: c.n[trace.HeadMissing],
	}
}
