// Package goodput judges requests by the objectives of the query. A request belongs
// to the window of its send or arrival.
package goodput

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
)

type goodput struct{ def *metric.Definition }

// New returns the kernel of goodput under def.
func New(def *metric.Definition) kernel.Kernel { return goodput{def} }

func (goodput) Name() string { return "goodput" }

func (goodput) Lists() bool { return false }

func (k goodput) New(q *query.Query, facts *kernel.Facts) kernel.State {
	s := &state{side: -1}
	s.Base = cell.NewBase(k.def, q, facts)
	for _, l := range q.SLO {
		c := condition{limit: l}
		var ok bool
		if c.slot, c.side, ok = request.MeasureOf(l.Metric); !ok {
			c.slot = -1
		} else if request.Measures[c.slot].FromClient() {
			c.side = trace.Client
		}
		if c.side >= 0 {
			s.side = c.side
		}
		s.conditions = append(s.conditions, c)
	}
	s.Cells.Fresh = func() *verdicts { return &verdicts{by: make([][kinds]int64, len(q.SLO))} }
	return s
}

// condition is one objective; slot is -1 for a metric that requests do not have.
type condition struct {
	limit query.Limit
	slot  int
	side  trace.Side // -1: the side of the run's latencies
}

// judge judges a request whose status is not held against it: by the worst of
// its sequences, where the condition is about these.
func (c *condition) judge(w *request.Row, def *metric.Definition) verdict {
	if w.MultiChoice == nil || c.slot < 0 || !request.Measures[c.slot].OfSequence() {
		return c.judgeOne(w, def)
	}
	worst := inapplicable
	for _, own := range w.MultiChoice.Sequences {
		worst = max(worst, c.judgeOne(&own, def))
	}
	return worst
}

func (c *condition) judgeOne(w *request.Row, def *metric.Definition) verdict {
	if c.slot < 0 || c.side >= 0 && w.Side != c.side {
		return unknown
	}
	m := &request.Measures[c.slot]
	switch v, why := m.Of(w, def); why {
	case metric.None:
		if m.Float(v) <= float64(c.limit.Max) {
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

// verdict is the result of a condition for a request, in rising order of weight. A
// request of several sequences, or under several conditions, has the greatest.
type verdict uint8

const (
	inapplicable verdict = iota // TPOT of a single token
	met
	unknown
	missed
	kinds
)
