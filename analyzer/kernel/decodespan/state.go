package decodespan

import (
	"servescope/analyzer/decompose"
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/trace"
)

type state struct {
	cell.State[decodeSpans, *decodeSpans]
}

// Update implements State.
func (s *state) Update(v *kernel.View) {
	x := s.Begin(v)
	m := membersOf(v)
	for i := range v.Rows {
		w, selected := x.Next(i)
		if !selected || w.Sibling {
			continue
		}
		s.Cells.MakeRoom()
		q := w.Request()
		c := s.Cells.At(x.Place(q, x.Group[i], q.Leaving()), 1)
		c.rows++
		d, n, why := q.TpotOf(s.Def)
		if why == metric.None && n <= 0 {
			why = metric.NLessThan2
		}
		if why != metric.None {
			c.excluded.Add(why, 1)
			continue
		}
		if q.LastToken == request.None {
			c.measured++
		}
		ends, list, tried := m.of(i, w)
		if list == nil {
			if tried {
				c.unsure++
			}
			c.of(decompose.SpanSource{}).Add(nil, nil, d, n)
			continue
		}
		c.of(ends.Source()).Add(ends, list, d, n)
	}
}

// Merge implements State.
func (s *state) Merge(other kernel.State) error {
	o, ok := other.(*state)
	if !ok {
		return cell.MergeError(s, other)
	}
	return s.MergeCells(&o.State)
}

// Finish implements State.
func (s *state) Finish(out kernel.Output) {
	s.Cells.Prune()
	s.FinishingOf(s.Cells.Places(), func(run int32, info *cell.Run, places []cell.Place) {
		for _, t := range s.Targets(run, places) {
			side := info.LatencySide(s.Def)
			from := cell.Within(t.From, side)
			if len(from) == 0 {
				continue
			}
			c := s.United(from)
			whole := t.Group < 0 && t.Window == kernel.NoWindow
			if len(c.list) > 0 && (whole || c.told()) {
				cell := out.Cell(run, t.Group, t.Window)
				cell.Decompositions = append(cell.Decompositions, c.decomposition(side))
				if kinds, ok := decompose.SpanKinds(request.SideName(side), c.inOrder()); ok {
					cell.Decompositions = append(cell.Decompositions, kinds)
				}
			}
		}
	})
}

// members finds the steps of the requests of a batch.
type members struct {
	v         *kernel.View
	replicas  trace.Dicts
	clocks    trace.Dicts
	prefilled trace.Ints
	gaps      trace.Lists
	scratch   []int32
}

func membersOf(v *kernel.View) *members {
	return &members{v: v, replicas: v.Dicts(trace.Replica), clocks: v.Dicts(trace.ClockCol), prefilled: v.Ints(trace.PrefillEnd), gaps: v.Lists(trace.ChunkGaps)}
}

// of returns the steps that gave the tokens of row i, nil where they are not
// known; tried says that there are steps to look among. Where the engine
// measured the time between tokens, they begin with the end of the prefill. A
// client does not see when a step ends.
func (m *members) of(i int, w *request.Row) (ends *decompose.StepEnds, list []int32, tried bool) {
	if m.v.Ends == nil || w.Side < trace.Server || w.MultiChoice != nil {
		return nil, nil, false
	}
	replica, clock := "", m.v.Run.Clock.String()
	if code, ok := m.replicas.At(i); ok {
		replica = m.replicas.Values[code]
	}
	if code, ok := m.clocks.At(i); ok {
		clock = m.clocks.Values[code]
	}
	if c, ok := trace.ParseClock(clock); ok {
		clock = kernel.Axis(c)
	}
	first := w.FirstToken
	if w.LastToken == request.None && w.Decode != request.None {
		first = request.Get(m.prefilled, i)
	}
	gaps, ok := m.gaps.At(i)
	if ends = m.v.Ends.Of(m.v.RunIndex, replica, clock); ends == nil || first == request.None || !ok {
		return ends, nil, ends != nil
	}
	if m.scratch, ok = ends.Members(first, gaps, m.scratch); !ok {
		return ends, nil, true
	}
	return ends, m.scratch, true
}
