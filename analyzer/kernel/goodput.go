package kernel

import (
	"servescope/analyzer/join"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
)

// goodput judges requests by the query's objectives. A request belongs to the
// window of its send or arrival.
type goodput struct{ def *metric.Definition }

func (goodput) Name() string { return "goodput" }
func (goodput) Lists() bool  { return false }

func (k goodput) New(q *query.Query, facts *Facts) State {
	s := &goodputState{side: -1}
	s.base = newBase(k.def, q, facts)
	for _, l := range q.SLO {
		c := condition{limit: l}
		var ok bool
		if c.slot, c.side, ok = slotOf(l.Metric); !ok {
			c.slot = -1
		} else if measures[c.slot].fromClient() {
			c.side = trace.Client
		}
		if c.side >= 0 {
			s.side = c.side
		}
		s.conditions = append(s.conditions, c)
	}
	s.cells.fresh = func() *verdicts { return &verdicts{by: make([][kinds]int64, len(q.SLO))} }
	return s
}

// condition is one objective; slot is -1 for a metric that requests do not have.
type condition struct {
	limit query.Limit
	slot  int
	side  trace.Side // -1: the side of the run's latencies
}

// verdict is what a condition says of a request, in rising order of weight: that
// of a request of several sequences, or under several conditions, is the greatest.
type verdict uint8

const (
	inapplicable verdict = iota // TPOT of a single token
	met
	unknown
	missed
	kinds
)

// judge judges a request whose status is not held against it: by the worst of
// its sequences, where the condition is about these.
func (c *condition) judge(w *row, def *metric.Definition) verdict {
	if w.joint == nil || c.slot < 0 || !measures[c.slot].ofSequence() {
		return c.judgeOne(w, def)
	}
	worst := inapplicable
	for _, own := range w.joint.sequences {
		worst = max(worst, c.judgeOne(&own, def))
	}
	return worst
}

func (c *condition) judgeOne(w *row, def *metric.Definition) verdict {
	if c.slot < 0 || c.side >= 0 && w.side != c.side {
		return unknown
	}
	m := &measures[c.slot]
	switch v, why := m.of(w, def); why {
	case metric.None:
		if m.float(v) <= float64(c.limit.Max) {
			return met
		}
		return missed
	case metric.NLessThan2:
		if def.MustKnow {
			return missed
		}
		return inapplicable
	case metric.NoToken, metric.NoAnswerToken:
		return missed
	}
	if def.MustKnow {
		return missed
	}
	return unknown
}

// verdicts counts the verdicts of a cell. good + missed + unknown requests were
// judged; waiting ones are open and have missed nothing yet.
type verdicts struct {
	good, missed, unknown, waiting int64
	by                             [][kinds]int64 // by condition and verdict; a request may miss several
	absent                         int64          // requests that the definition forgets: they are in no other count
	byStatus                       [statuses]int64
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

func (v *verdicts) merge(o *verdicts) {
	mine := v.sums()
	for i, n := range o.sums() {
		*mine[i] += *n
	}
}

func (v *verdicts) weight() int64 { return v.good + v.missed + v.unknown + v.waiting + v.absent }
func (v *verdicts) size() int64   { return 96 + 8*int64(kinds)*int64(len(v.by)) }

func (v *verdicts) appendTo(dst []byte) []byte {
	for _, n := range v.sums() {
		dst = appendInts(dst, *n)
	}
	return dst
}

func (v *verdicts) load(src *reader) { src.ints(v.sums()...) }

type goodputState struct {
	celled[verdicts, *verdicts]
	conditions []condition
	side       trace.Side // that a condition names; -1: the side of the run's latencies
	said       []verdict  // by condition, of the request at hand
}

func (s *goodputState) Update(v *View) {
	x := s.begin(v)
	if len(s.conditions) == 0 {
		return
	}
	p := peers{links: v.Links}
	for i := range v.Rows {
		w, selected := x.next(i)
		if !selected || w.sibling {
			continue
		}
		q := *w.request()
		q.joint = w.joint
		s.cells.room()
		to := x.place(&q, x.group[i], q.arrival())
		if v.Links == nil {
			s.judge(s.cells.at(to, 1), &q, own(&q))
		} else if w.role == join.Counts && w.side == v.Links.Counting(x.index) {
			s.judgeLinked(to, &q, x.first+int32(i), &p)
		}
	}
}

// witness returns the row that tells whether a condition about a side is met; a
// side of -1 is that of the run's latencies.
type witness func(side trace.Side) (*row, bool)

func own(w *row) witness { return func(trace.Side) (*row, bool) { return w, true } }

// judge counts the verdict on a request.
func (s *goodputState) judge(c *verdicts, w *row, of witness) {
	status := w.status
	switch {
	case s.def.Goodput && w.cohort(s.def) != metric.None:
		c.absent++
		return
	case status == trace.Failed, status == trace.Aborted, status == trace.Empty && !s.def.Goodput:
		c.missed++
		c.byStatus[status]++
		return
	case status == trace.Open, status == trace.HeadMissing:
		w.status = trace.OK // what it has shown so far
	}
	worst := inapplicable
	s.said = s.said[:0]
	for i := range s.conditions {
		v := unknown
		if by, ok := of(s.conditions[i].side); ok {
			v = s.conditions[i].judge(by, s.def)
		}
		if status >= trace.Open && (v != missed || measures[s.conditions[i].slot].quotient) {
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

func (s *goodputState) Merge(other State) error {
	o, ok := other.(*goodputState)
	if !ok {
		return errMerge(s, other)
	}
	return s.merge(&o.celled)
}

// Next implements State.
func (s *goodputState) Next(facts *Facts) bool { return s.learn(facts) && len(s.conditions) > 0 }

func (s *goodputState) Finish(out Output) {
	if len(s.conditions) == 0 {
		return
	}
	s.cells.prune()
	s.finishingOf(s.cells.places(), func(run int32, info *runInfo, places []place) {
		side := s.side
		if info.linked || side < 0 || info.side(int(side)).rows == 0 { // requests that the side did not see stay unjudged
			side = info.latency(s.def)
		}
		w := s.overSpan(run, s.def.GoodSpan)
		for _, t := range s.targets(run, within(places, side)) {
			in := w
			if t.window != NoWindow {
				in = s.clip(run, info, w, t.window)
			}
			c := out.Cell(run, t.group, t.window)
			c.Goodput = s.goodput(s.united(t.from), &in, side)
			setValue(c, "goodput", c.Goodput.Rate)
		}
	})
}
