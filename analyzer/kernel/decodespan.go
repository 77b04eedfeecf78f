package kernel

import (
	"cmp"
	"fmt"
	"slices"

	"servescope/analyzer/decompose"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/sorting"
	"servescope/analyzer/trace"
)

// decodeSpan takes the time from the first to the last token of requests apart,
// per token. Few sources say what happened in it; where the steps of the engine
// have ends on the clock of the tokens, those steps are found that gave them. What
// is taken apart is TPOT by the default definition.
type decodeSpan struct{}

func (decodeSpan) Name() string { return "decode_span" }
func (decodeSpan) Lists() bool  { return true }
func (decodeSpan) New(q *query.Query, facts *Facts) State {
	s := new(decodeSpanState)
	s.base = newBase(metric.Default, q, facts)
	return s
}

type decodeSpanState struct {
	celled[decodeSpans, *decodeSpans]
}

// decodeSpans are the requests of a place.
type decodeSpans struct {
	rows     int64
	unsure   int64 // of those with a time: steps have ends, but not where its tokens are
	measured int64 // of those with a time: the engine measured it
	excluded tally
	list     []*decompose.TokenTime
}

// of returns the sums of requests whose sources tell the same.
func (c *decodeSpans) of(source decompose.SpanSource) *decompose.TokenTime {
	for _, x := range c.list {
		if x.SpanSource == source {
			return x
		}
	}
	c.list = append(c.list, &decompose.TokenTime{SpanSource: source})
	return c.list[len(c.list)-1]
}

// Update implements State.
func (s *decodeSpanState) Update(v *View) {
	x := s.begin(v)
	m := membersOf(v)
	for i := range v.Rows {
		w, selected := x.next(i)
		if !selected || w.sibling {
			continue
		}
		s.cells.room()
		q := w.request()
		c := s.cells.at(x.place(q, x.group[i], q.leaving()), 1)
		c.rows++
		d, n, why := q.tpotOf(s.def)
		if why == metric.None && n <= 0 {
			why = metric.NLessThan2
		}
		if why != metric.None {
			c.excluded.add(why, 1)
			continue
		}
		if q.last == none {
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

// members finds the steps of the requests of a batch.
type members struct {
	v         *View
	replicas  trace.Dicts
	clocks    trace.Dicts
	prefilled trace.Ints
	gaps      trace.Lists
	scratch   []int32
}

func membersOf(v *View) *members {
	return &members{v: v, replicas: v.Dicts(trace.Replica), clocks: v.Dicts(trace.ClockCol), prefilled: v.Ints(trace.PrefillEnd), gaps: v.Lists(trace.ChunkGaps)}
}

// of returns the steps that gave the tokens of row i, nil where they are not
// known; tried says that there are steps to look among. Where the engine
// measured the time between tokens, they begin with the end of the prefill. A
// client does not see when a step ends.
func (m *members) of(i int, w *row) (ends *decompose.StepEnds, list []int32, tried bool) {
	if m.v.Ends == nil || w.side < trace.Server || w.joint != nil {
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
		clock = Axis(c)
	}
	first := w.token
	if w.last == none && w.decode != none {
		first = get(m.prefilled, i)
	}
	gaps, ok := m.gaps.At(i)
	if ends = m.v.Ends.of(m.v.RunIndex, replica, clock); ends == nil || first == none || !ok {
		return ends, nil, ends != nil
	}
	if m.scratch, ok = ends.Members(first, gaps, m.scratch); !ok {
		return ends, nil, true
	}
	return ends, m.scratch, true
}

func (c *decodeSpans) merge(o *decodeSpans) {
	c.rows += o.rows
	c.unsure += o.unsure
	c.measured += o.measured
	c.excluded.merge(o.excluded)
	for _, x := range o.list {
		c.of(x.SpanSource).Merge(x)
	}
}

func (c *decodeSpans) size() int64   { return 64 + int64(len(c.list))*256 }
func (c *decodeSpans) weight() int64 { return c.rows }

// inOrder returns the sums in an order of their sources.
func (c *decodeSpans) inOrder() []*decompose.TokenTime {
	list := slices.Clone(c.list)
	sorting.By(list, func(a, b *decompose.TokenTime) int {
		return cmp.Compare(sourceCode(a.SpanSource), sourceCode(b.SpanSource))
	})
	return list
}

// sourceCode is a source as a number.
func sourceCode(s decompose.SpanSource) (code int64) {
	for i, set := range []bool{s.Told, s.Steps.Classes, s.Steps.Sampling, s.Steps.Communication, s.Steps.Scheduler} {
		if set {
			code |= 1 << i
		}
	}
	return code
}

func sourceOf(code int64) (s decompose.SpanSource) {
	for i, set := range []*bool{&s.Told, &s.Steps.Classes, &s.Steps.Sampling, &s.Steps.Communication, &s.Steps.Scheduler} {
		*set = code>>i&1 != 0
	}
	return s
}

func (c *decodeSpans) appendTo(dst []byte) []byte {
	dst = c.excluded.appendTo(appendInts(dst, c.rows, c.unsure, c.measured, int64(len(c.list))))
	for _, x := range c.inOrder() {
		dst = appendInts(dst, sourceCode(x.SpanSource))
		for _, v := range x.Fields() {
			dst = appendInts(dst, *v)
		}
	}
	return dst
}

func (c *decodeSpans) load(src *reader) {
	src.ints(&c.rows, &c.unsure, &c.measured)
	n := src.count()
	c.excluded.load(src)
	for ; n > 0 && src.err == nil; n-- {
		src.ints(c.of(sourceOf(src.int())).Fields()...)
	}
}

// Merge implements State.
func (s *decodeSpanState) Merge(other State) error {
	o, ok := other.(*decodeSpanState)
	if !ok {
		return errMerge(s, other)
	}
	return s.merge(&o.celled)
}

// Finish implements State.
func (s *decodeSpanState) Finish(out Output) {
	s.cells.prune()
	s.finishingOf(s.cells.places(), func(run int32, info *runInfo, places []place) {
		for _, t := range s.targets(run, places) {
			side := info.latency(s.def)
			from := within(t.from, side)
			if len(from) == 0 {
				continue
			}
			c := s.united(from)
			whole := t.group < 0 && t.window == NoWindow
			if len(c.list) > 0 && (whole || c.told()) {
				cell := out.Cell(run, t.group, t.window)
				cell.Decompositions = append(cell.Decompositions, c.decomposition(side))
				if kinds, ok := decompose.SpanKinds(sideName(side), c.inOrder()); ok {
					cell.Decompositions = append(cell.Decompositions, kinds)
				}
			}
		}
	})
}

func (c *decodeSpans) told() bool {
	return slices.ContainsFunc(c.list, func(x *decompose.TokenTime) bool { return x.Told })
}

func (c *decodeSpans) decomposition(side trace.Side) report.Decomposition {
	d := decompose.SpanDecomposition(sideName(side), c.inOrder(), c.excluded.counts())
	if c.told() && c.unsure > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("steps_not_resolvable: of %d requests some token is not at the end of a step, so their steps are unknown", c.unsure))
	}
	if c.measured > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("preemption_inside: of %d requests the engine measured the time from the first to the last token, with preemption inside", c.measured))
	}
	return d
}
