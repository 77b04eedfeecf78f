package request

import (
	"strconv"

	"servescope/analyzer/metric"
	"servescope/analyzer/trace"
)

// Chunks are the token-bearing chunks of a request: the first at time base (none
// when unknown), each later one after its gap. tokens has one entry per chunk,
// or is empty when they are not counted.
type Chunks struct {
	Base   int64
	Gaps   []int64
	Tokens []int64
}

// Single reports whether each chunk carries one token: there are as many of
// them as tokens, and none is without.
func (c *Chunks) Single(w *Row) bool {
	return len(c.Tokens) == 0 && !w.Requested && w.N == int64(len(c.Gaps))+1 && !w.EventOnly()
}

// Received returns the number of chunks that a request received, the chunk of its
// role included; None where the first event is not recorded.
func (c *Chunks) Received(w *Row) int64 {
	n := int64(len(c.Gaps)) + 1
	switch {
	case w.FirstEvent == None:
		return None
	case w.FirstToken > w.FirstEvent:
		n++
	}
	return n
}

// NoGap reports whether the chunks have no gap, nor one of 0 within a chunk.
func (c *Chunks) NoGap(def *metric.Definition) bool {
	return len(c.Gaps) == 0 && (def.Split != metric.ZeroGaps || len(c.Tokens) == 0 || c.Tokens[0] < 2)
}

// Lists reads the token lists of a batch.
type Lists struct {
	Gaps, tokens trace.Lists
	split        bool // the run used speculative decoding
	accepted     trace.Ints
	buf          []int64
}

// ListsOf returns the token lists of v.
func ListsOf(v *View) Lists {
	l := Lists{Gaps: v.Lists(trace.ChunkGaps), tokens: v.Lists(trace.ChunkTokens), accepted: v.Ints(trace.SpecAccepted)}
	for _, p := range v.Run.Config {
		if p.Key == "accept_length" {
			n, err := strconv.ParseFloat(p.Value, 64)
			l.split = err == nil && n > 0
		}
	}
	return l
}

// At returns the chunks of row i and why it has none. A request with a single
// chunk has chunks and no gap.
func (l *Lists) At(i int, w *Row) (Chunks, metric.Reason) {
	gaps, ok := l.Gaps.At(i)
	if !ok {
		if w.Stream == 0 {
			return Chunks{}, metric.NotStreamed
		}
		return Chunks{}, metric.NotRecorded
	}
	c := Chunks{Base: Or(w.FirstToken, w.FirstEvent), Gaps: gaps}
	if c.Base == None && w.LastToken != None {
		c.Base = w.LastToken
		for _, g := range gaps {
			c.Base -= g
		}
	}
	if tokens, ok := l.tokens.At(i); ok && len(tokens) == len(gaps)+1 {
		c.Tokens = tokens
	}
	return c, metric.None
}

// Listed returns the gaps that def calls ITL, with what each chunk brought where
// the gaps are shared among its tokens, or why there are none.
func (l *Lists) Listed(i int, w *Row, c Chunks, def *metric.Definition) (Chunks, metric.Reason) {
	switch {
	case def.Gaps == metric.EventGaps && w.FirstEvent == None && w.producer != def.Name:
		return Chunks{}, metric.NotRecorded
	case def.Gaps == metric.EventGaps && w.FirstEvent != None && w.FirstToken > w.FirstEvent:
		l.buf = append(append(l.buf[:0], w.FirstToken-w.FirstEvent), c.Gaps...)
		c = Chunks{Base: w.FirstEvent, Gaps: l.buf}
	case def.Gaps == metric.AnswerGaps && w.firstAnswer != None && c.Base != None:
		n := 0
		for n < len(c.Gaps) && c.Base < w.firstAnswer {
			c.Base += c.Gaps[n]
			n++
		}
		c.Gaps = c.Gaps[n:]
		if len(c.Tokens) > 0 {
			c.Tokens = c.Tokens[n:]
		}
	case def.Gaps == metric.AnswerGaps && w.firstAnswer == None && w.kind == KindReasoning:
		return Chunks{}, metric.NoAnswerToken
	}
	if def.Positive {
		for _, g := range c.Gaps {
			if g <= 0 {
				return Chunks{}, metric.Order
			}
		}
	}
	switch def.Split {
	case metric.ZeroGaps:
		if len(c.Tokens) == 0 && !c.Single(w) {
			return Chunks{}, metric.NotRecorded
		}
	case metric.EvenGaps:
		if k, ok := l.accepted.At(i); !l.split && (!ok || k <= 0) {
			c.Tokens = nil
		}
	default:
		c.Tokens = nil
	}
	return c, metric.None
}
