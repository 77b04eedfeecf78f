package decodespan

import (
	"cmp"
	"fmt"
	"slices"

	"servescope/analyzer/decompose"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// decodeSpans are the requests of a place.
type decodeSpans struct {
	rows     int64
	unsure   int64 // of those with a time: steps have ends, but not where its tokens are
	measured int64 // of those with a time: the engine measured it
	excluded cell.Tally
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

func (c *decodeSpans) Merge(o *decodeSpans) {
	c.rows += o.rows
	c.unsure += o.unsure
	c.measured += o.measured
	c.excluded.Merge(o.excluded)
	for _, x := range o.list {
		c.of(x.SpanSource).Merge(x)
	}
}

func (c *decodeSpans) Size() int64 { return 64 + int64(len(c.list))*256 }

func (c *decodeSpans) Weight() int64 { return c.rows }

// inOrder returns the sums in an order of their sources.
func (c *decodeSpans) inOrder() []*decompose.TokenTime {
	list := slices.Clone(c.list)
	slices.SortFunc(list, func(a, b *decompose.TokenTime) int {
		return cmp.Compare(sourceCode(a.SpanSource), sourceCode(b.SpanSource))
	})
	return list
}

func (c *decodeSpans) AppendTo(dst []byte) []byte {
	dst = c.excluded.AppendTo(cell.AppendInts(dst, c.rows, c.unsure, c.measured, int64(len(c.list))))
	for _, x := range c.inOrder() {
		dst = cell.AppendInts(dst, sourceCode(x.SpanSource))
		for _, v := range x.Fields() {
			dst = cell.AppendInts(dst, *v)
		}
	}
	return dst
}

func (c *decodeSpans) Load(src *cell.Reader) {
	src.Ints(&c.rows, &c.unsure, &c.measured)
	n := src.Count()
	c.excluded.Load(src)
	for ; n > 0 && src.Err == nil; n-- {
		src.Ints(c.of(sourceOf(src.Int())).Fields()...)
	}
}

func (c *decodeSpans) told() bool {
	return slices.ContainsFunc(c.list, func(x *decompose.TokenTime) bool { return x.Told })
}

func (c *decodeSpans) decomposition(side trace.Side) report.Decomposition {
	d := decompose.SpanDecomposition(request.SideName(side), c.inOrder(), c.excluded.Counts())
	if c.told() && c.unsure > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("steps_not_resolvable: of %d requests some token is not at the end of a step, so their steps are unknown", c.unsure))
	}
	if c.measured > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("preemption_inside: of %d requests the engine measured the time from the first to the last token, with preemption inside", c.measured))
	}
	return d
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
