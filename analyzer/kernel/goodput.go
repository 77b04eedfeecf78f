package kernel

import (
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
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
	s.cells.fresh = func() *verdicts { return &verdicts{missedBy: make([]int64, len(q.SLO))} }
	return s
}

// condition is one objective; slot is -1 for a metric that requests do not have.
type condition struct {
	limit query.Limit
	slot  int
	side  trace.Side // -1: the side of the run's latencies
}

// verdict is what a condition says of a request.
type verdict uint8

const (
	met verdict = iota // or not applicable: TPOT of a single token
	missed
	unknown
)

// judge judges a request whose status is not held against it: by the worst of
// its sequences, where the condition is about these.
func (c *condition) judge(w *row, def *metric.Definition) verdict {
	if w.joint == nil || c.slot < 0 || !measures[c.slot].ofSequence() {
		return c.judgeOne(w, def)
	}
	worst := met
	for _, own := range w.joint.sequences {
		switch c.judgeOne(&own, def) {
		case missed:
			return missed
		case unknown:
			worst = unknown
		}
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
		return met
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
	missedBy                       []int64 // by condition; a request may miss several
	absent                         int64   // requests that the definition forgets: they are in no other count
	byStatus                       [statuses]int64
}

func (v *verdicts) sums() []*int64 {
	list := []*int64{&v.good, &v.missed, &v.unknown, &v.waiting, &v.absent}
	for i := range v.missedBy {
		list = append(list, &v.missedBy[i])
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
func (v *verdicts) size() int64   { return 96 + 8*int64(len(v.missedBy)) }

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
}

func (s *goodputState) Update(v *View) {
	x := s.begin(v)
	if len(s.conditions) == 0 {
		return
	}
	for i := range v.Rows {
		w, selected := x.next(i)
		if !selected || w.sibling {
			continue
		}
		q := *w.request()
		q.joint = w.joint
		s.cells.room()
		s.judge(s.cells.at(x.place(&q, x.group[i], q.arrival()), 1), &q)
	}
}

// judge counts the verdict on a request.
func (s *goodputState) judge(c *verdicts, w *row) {
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
	worst := met
	for i := range s.conditions {
		v := s.conditions[i].judge(w, s.def)
		if status >= trace.Open && (v != missed || measures[s.conditions[i].slot].quotient) {
			continue // more may come
		}
		if v == missed {
			c.missedBy[i]++
		}
		if v == missed || worst == met {
			worst = v
		}
	}
	switch {
	case worst == missed:
		c.missed++
	case status >= trace.Open:
		c.waiting++
	case worst == unknown:
		c.unknown++
	default:
		c.good++
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
	places := s.cells.places()
	s.finishing(func(run int32, info *runInfo) {
		side := s.side
		if side < 0 || info.sides[side].rows == 0 { // requests that the side did not see stay unjudged
			side = info.latency(s.def)
		}
		w := s.overSpan(run, s.def.GoodSpan)
		for _, t := range s.targets(run, within(places, side)) {
			in := w
			if t.window != NoWindow {
				in = s.clip(run, info, w, t.window)
			}
			c := out.Cell(run, t.group, t.window)
			c.Goodput = s.goodput(s.united(t.from), &in)
			setValue(c, "goodput", c.Goodput.Rate)
		}
	})
}

// goodput returns the result of a cell over w.
func (s *goodputState) goodput(v *verdicts, w *interval) *report.Goodput {
	m, _ := metric.Lookup("goodput")
	g := &report.Goodput{
		SLO: []string{}, Good: v.good, Missed: v.missed, Unknown: v.unknown, Denominator: v.good + v.missed + v.unknown,
		MissedBy: make(map[string]int64), Definition: s.def.Formula(m) + ". " + m.Doc,
	}
	if s.def.Goodput {
		g.Definition = s.def.Formula(m)
	}
	for i, c := range s.conditions {
		g.SLO = append(g.SLO, c.limit.String())
		if v.missedBy[i] > 0 {
			g.MissedBy[c.limit.Metric] += v.missedBy[i]
		}
	}
	for status, n := range v.byStatus {
		if n > 0 {
			g.MissedBy[trace.Requests.Fields[trace.StatusCol].Values[status]] = n
		}
	}
	if g.Denominator == 0 {
		g.Share, g.ShareLow, g.ShareHigh = report.Null(metric.NoRequests.String()), report.Null(metric.NoRequests.String()), report.Null(metric.NoRequests.String())
	} else {
		low, high := float64(v.good)/float64(g.Denominator), float64(v.good+v.unknown)/float64(g.Denominator)
		g.ShareLow, g.ShareHigh = report.Known(low, unit.Ratio), report.Known(high, unit.Ratio)
		g.Share = report.Null(metric.UnknownVerdicts.String())
		if unit.Format(unit.Ratio, low) == unit.Format(unit.Ratio, high) {
			g.Share = g.ShareLow
		}
	}
	switch {
	case w.why != metric.None:
		g.Rate = report.Null(w.why.String())
	case v.unknown > 0 && !g.Share.Known:
		g.Rate = report.Null(metric.UnknownVerdicts.String())
	default:
		g.Rate = report.Known(float64(v.good)*1e9/float64(w.dt), unit.PerSecond)
		g.Rate.Note = joined(w.note, counting(v.absent, "1 request without a success is forgotten", "%d requests without a success are forgotten"),
			counting(v.unknown, "1 request cannot be judged and is not among the good ones", "%d requests cannot be judged and are not among the good ones"))
	}
	return g
}
