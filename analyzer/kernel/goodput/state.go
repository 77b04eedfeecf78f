package goodput

import (
	"servescope/analyzer/join"
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/trace"
)

// verdicts counts the verdicts of a cell. good + missed + unknown requests were
// judged; waiting ones are open and have missed nothing yet.
type verdicts struct {
	good, missed, unknown, waiting int64
	by                             [][kinds]int64 // by condition and verdict; a request may miss several
	absent                         int64          // requests that the definition forgets: they are in no other count
	byStatus                       [request.Statuses]int64
}

func (v *verdicts) sums() []*int64 {
	list := []*int64{&v.good, &v.missed, &v.unknown, &v.waiting, &v.absent}
	for i := range v.by {
		for k := range v.by[i] {
			list = append(list, &v.by[i][k])
		}
	}
	for i := range v.byStatus {
		list = append(list, &v.byStatus[i])
	}
	return list
}

func (v *verdicts) Merge(o *verdicts) {
	mine := v.sums()
	for i, n := range o.sums() {
		*mine[i] += *n
	}
}

func (v *verdicts) Weight() int64 { return v.good + v.missed + v.unknown + v.waiting + v.absent }

func (v *verdicts) Size() int64 { return 96 + 8*int64(kinds)*int64(len(v.by)) }

func (v *verdicts) AppendTo(dst []byte) []byte {
	for _, n := range v.sums() {
		dst = cell.AppendInts(dst, *n)
	}
	return dst
}

func (v *verdicts) Load(src *cell.Reader) { src.Ints(v.sums()...) }

type state struct {
	cell.State[verdicts, *verdicts]
	conditions []condition
	side       trace.Side // that a condition names; -1: the side of the run's latencies
	said       []verdict  // by condition, of the request at hand
}

func (s *state) Update(v *kernel.View) {
	x := s.Begin(v)
	if len(s.conditions) == 0 {
		return
	}
	p := request.Peers{Links: v.Links}
	for i := range v.Rows {
		w, selected := x.Next(i)
		if !selected || w.Sibling {
			continue
		}
		q := *w.Request()
		q.MultiChoice = w.MultiChoice
		s.Cells.MakeRoom()
		to := x.Place(&q, x.Group[i], q.Arrival())
		if v.Links == nil {
			s.judge(s.Cells.At(to, 1), &q, own(&q))
		} else if w.Role == join.Counts && w.Side == v.Links.Counting(x.RunIndex) {
			s.judgeLinked(to, &q, x.First+int32(i), &p)
		}
	}
}

// witness returns the row that tells whether a condition about a side is met; a
// side of -1 is the side of the run's latencies.
type witness func(side trace.Side) (*request.Row, bool)

func own(w *request.Row) witness { return func(trace.Side) (*request.Row, bool) { return w, true } }

// judge counts the verdict on a request.
func (s *state) judge(c *verdicts, w *request.Row, of witness) {
	status := w.Status
	switch {
	case s.Def.Goodput && w.Cohort(s.Def) != metric.None:
		c.absent++
		return
	case status == trace.Failed, status == trace.Aborted, status == trace.Empty && !s.Def.Goodput:
		c.missed++
		c.byStatus[status]++
		return
	case status == trace.Open, status == trace.HeadMissing:
		w.Status = trace.OK // what it has shown so far
	}
	worst := inapplicable
	s.said = s.said[:0]
	for i := range s.conditions {
		v := unknown
		if by, ok := of(s.conditions[i].side); ok {
			v = s.conditions[i].judge(by, s.Def)
		}
		if status >= trace.Open && (v != missed || request.Measures[s.conditions[i].slot].Quotient) {
			v = unknown // more may come
		}
		s.said = append(s.said, v)
		worst = max(worst, v)
	}
	switch {
	case status >= trace.Open && worst != missed:
		c.waiting++
		return
	case worst == missed:
		c.missed++
	case worst == unknown:
		c.unknown++
	default:
		c.good++
	}
	for i, v := range s.said {
		c.by[i][v]++
	}
}

// judgeLinked judges the request that row n counts: for each side that may turn
// out to be the side of the run's latencies, by the rows of the sides that its
// conditions are about.
func (s *state) judgeLinked(to cell.Place, w *request.Row, n int32, p *request.Peers) {
	for side := range trace.Side(request.NumSides) {
		if side != w.Side && (side >= trace.Engine || !p.Links.Seen(to.Run).Has(side)) {
			continue
		}
		to.Side = int32(side)
		q := *w
		s.judge(s.Cells.At(to, 1), &q, func(of trace.Side) (*request.Row, bool) {
			if of < 0 {
				of = side
			}
			if of == w.Side {
				return &q, true
			}
			r, ok := p.Of(n, of)
			return &r, ok
		})
	}
}

func (s *state) Merge(other kernel.State) error {
	o, ok := other.(*state)
	if !ok {
		return cell.MergeError(s, other)
	}
	return s.MergeCells(&o.State)
}

// Next implements State.
func (s *state) Next(facts *kernel.Facts) bool { return s.Learn(facts) && len(s.conditions) > 0 }
