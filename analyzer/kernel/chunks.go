package kernel

import (
	"strconv"

	"servescope/analyzer/metric"
	"servescope/analyzer/trace"
)

// chunks are the token-bearing chunks of a request: the first at time base (none
// when unknown), each later one after its gap. tokens has one entry per chunk,
// or is empty when nobody counted.
type chunks struct {
	base   int64
	gaps   []int64
	tokens []int64
}

// lists reads the token lists of a batch.
type lists struct {
	gaps, tokens trace.Lists
	split        bool // the run used speculative decoding
	accepted     trace.Ints
	buf          []int64
}

func listsOf(v *View) lists {
	l := lists{gaps: v.Lists(trace.ChunkGaps), tokens: v.Lists(trace.ChunkTokens), accepted: v.Ints(trace.SpecAccepted)}
	for _, p := range v.Run.Config {
		if p.Key == "accept_length" {
			n, err := strconv.ParseFloat(p.Value, 64)
			l.split = err == nil && n > 0
		}
	}
	return l
}

// at returns the chunks of row i and why it has none. A request with a single
// chunk has chunks and no gap.
func (l *lists) at(i int, w *row) (chunks, metric.Reason) {
	gaps, ok := l.gaps.At(i)
	if !ok {
		if w.stream == 0 {
			return chunks{}, metric.NotStreamed
		}
		return chunks{}, metric.NotRecorded
	}
	c := chunks{base: or(w.token, w.event), gaps: gaps}
	if c.base == none && w.last != none {
		c.base = w.last
		for _, g := range gaps {
			c.base -= g
		}
	}
	if tokens, ok := l.tokens.At(i); ok && len(tokens) == len(gaps)+1 {
		c.tokens = tokens
	}
	return c, metric.None
}

// single reports whether each chunk carries one token: there are as many of
// them as tokens, and none is without.
func (c *chunks) single(w *row) bool {
	return len(c.tokens) == 0 && !w.requested && w.n == int64(len(c.gaps))+1 && !w.eventOnly()
}

// listed returns the gaps that def calls ITL, with what each chunk brought where
// the gaps are shared among its tokens, or why there are none.
func (l *lists) listed(i int, w *row, c chunks, def *metric.Definition) (chunks, metric.Reason) {
	switch {
	case def.Gaps == metric.EventGaps && w.event == none && w.producer != def.Name:
		return chunks{}, metric.NotRecorded
	case def.Gaps == metric.EventGaps && w.event != none && w.token > w.event:
		l.buf = append(append(l.buf[:0], w.token-w.event), c.gaps...)
		c = chunks{base: w.event, gaps: l.buf}
	case def.Gaps == metric.AnswerGaps && w.answer != none && c.base != none:
		n := 0
		for n < len(c.gaps) && c.base < w.answer {
			c.base += c.gaps[n]
			n++
		}
		c.gaps = c.gaps[n:]
		if len(c.tokens) > 0 {
			c.tokens = c.tokens[n:]
		}
	case def.Gaps == metric.AnswerGaps && w.answer == none && w.kind == kindReasoning:
		return chunks{}, metric.NoAnswerToken
	}
	if def.Positive {
		for _, g := range c.gaps {
			if g <= 0 {
				return chunks{}, metric.Order
			}
		}
	}
	switch def.Split {
	case metric.ZeroGaps:
		if len(c.tokens) == 0 && !c.single(w) {
			return chunks{}, metric.NotRecorded
		}
	case metric.EvenGaps:
		if k, ok := l.accepted.At(i); !l.split && (!ok || k <= 0) {
			c.tokens = nil
		}
	default:
		c.tokens = nil
	}
	return c, metric.None
}

// received returns the number of chunks that a request received, that of its
// role included; none where the first event is not recorded.
func (c *chunks) received(w *row) int64 {
	n := int64(len(c.gaps)) + 1
	switch {
	case w.event == none:
		return none
	case w.token > w.event:
		n++
	}
	return n
}

// none reports whether the chunks have no gap, nor one of 0 within a chunk.
func (c *chunks) none(def *metric.Definition) bool {
	return len(c.gaps) == 0 && (def.Split != metric.ZeroGaps || len(c.tokens) == 0 || c.tokens[0] < 2)
}
