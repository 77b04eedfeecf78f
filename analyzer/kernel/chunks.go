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

// listed returns the gaps that def calls ITL, and how many tokens each brought
// if they are to be split over them.
func (l *lists) listed(i int, w *row, c chunks, def *metric.Definition) chunks {
	switch {
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
	}
	if k, ok := l.accepted.At(i); !def.Split || !(l.split || ok && k > 0) {
		c.tokens = nil
	}
	return c
}
