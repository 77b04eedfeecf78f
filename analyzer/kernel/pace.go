package kernel

import (
	"servescope/analyzer/metric"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
)

// mark returns a point in time of a request under def. A response in one piece
// has its first token at its end, for tools that take it so; one without a token
// that counts has it at the start, for tools that write 0.
func (w *row) mark(m metric.Mark, def *metric.Definition) (int64, metric.Reason) {
	t := int64(none)
	switch m {
	case metric.AtStart:
		t = w.start
	case metric.AtLast:
		t = w.last
	case metric.AtEnd:
		t = w.end(def)
	case metric.AtFirst:
		if w.stream == 0 {
			if !def.OneShot {
				return none, metric.NotStreamed
			}
			return w.mark(metric.AtEnd, def)
		}
		silent := w.status == trace.Empty && (def.First != metric.FirstEvent || w.producer == def.Name) || // others may not record events
			w.kind == kindReasoning && def.First == metric.FirstAnswer
		if t = w.first(def); w.status == trace.Empty && def.First != metric.FirstEvent {
			t = none // what came first was no token
		}
		if t == none && silent {
			if !def.Silent {
				return none, metric.NoAnswerToken // responses without a token are in no cohort
			}
			return w.mark(metric.AtStart, def)
		}
	}
	if t == none {
		return none, metric.NotRecorded
	}
	return t, metric.None
}

// least tells why a request has too few tokens for a TTFT under def.
func (w *row) least(def *metric.Definition) metric.Reason {
	if def.Least == 0 || w.stream == 0 {
		return metric.None
	}
	n, first := w.tokens(def), w.first(def)
	switch {
	case w.status == trace.Empty:
		return metric.NoToken
	case first == none && w.kind == kindReasoning:
		return metric.NoAnswerToken
	case n != none && n < def.Least:
		return metric.NLessThan2
	case n == none && (first == none || w.last <= first): // two chunks have two tokens
		return w.uncounted(def)
	}
	return metric.None
}

// uncounted tells why N is unknown under def.
func (w *row) uncounted(def *metric.Definition) metric.Reason {
	switch def.Counts[0] {
	case metric.ClientCount, metric.AnswerCount, metric.BOSCount:
		return metric.NoClientCount
	}
	return metric.NUnknown
}

// span returns the time from where a pace begins to a given end, of a request of
// the cohort, and N.
func (w *row) span(p *metric.Pace, to int64, def *metric.Definition) (d, n int64, why metric.Reason) {
	if why = w.cohort(def); why == metric.None && w.beam && def.Strict {
		why = metric.Beam
	}
	if why != metric.None {
		return 0, 0, why
	}
	if why = w.least(def); why != metric.None && p.From == metric.AtFirst {
		return 0, 0, why
	}
	from, why := w.mark(p.From, def)
	if why == metric.NotStreamed {
		return 0, 0, why
	}
	if n = w.tokens(def); n == none {
		return 0, 0, w.uncounted(def)
	}
	if n <= p.Less || n < 1 {
		return 0, 0, metric.NLessThan2
	}
	if why == metric.None {
		d, why = between(from, to)
	}
	return d, n, why
}

func tpot(w *row, def *metric.Definition) (int64, metric.Reason) {
	d, n, why := w.tpotOf(def)
	return quotient(d, n, why, def)
}

// tpotOf returns what TPOT divides under def, and by what.
func (w *row) tpotOf(def *metric.Definition) (d, n int64, why metric.Reason) {
	p := def.TPOT
	if p == nil {
		return 0, 0, metric.NotDefined
	}
	to, _ := w.mark(p.To, def)
	d, n, why = w.span(p, to, def)
	if why == metric.NotRecorded && p.From == metric.AtFirst && def.First == metric.FirstToken {
		d, why = w.measured(to)
	}
	return d, n - p.Less, why
}

// paceOf returns what a pace divides and by what, given the number of chunks
// that the request received, or none.
func (w *row) paceOf(p *metric.Pace, chunks int64, def *metric.Definition) (d, n int64, why metric.Reason) {
	to, _ := w.mark(p.To, def)
	if !p.Chunks {
		d, n, why = w.span(p, to, def)
		return d, n - p.Less, why
	}
	if why = w.cohort(def); why != metric.None {
		return 0, 0, why
	}
	from, why := w.mark(p.From, def)
	if why == metric.None {
		d, why = between(from, to)
	}
	if chunks == none && why == metric.None {
		why = metric.NotRecorded
	}
	return d, chunks, why
}

// quotient is the key of d ns per n tokens. Tokens that came at one instant have
// no pace; tools write 0.
func quotient(d, n int64, why metric.Reason, def *metric.Definition) (int64, metric.Reason) {
	switch {
	case why != metric.None:
		return 0, why
	case d == 0 && def.Strict:
		return 0, metric.NoSpan
	case def.Whole && n > 0:
		return stat.Key(float64(d / n)), metric.None
	}
	return perToken(d, n), metric.None
}

// measured returns the time from the first token to the last as the engine
// measured it, where the end is not stamped. Both are the engine's: it is never
// put together with a stamp of the frontend.
func (w *row) measured(end int64) (int64, metric.Reason) {
	switch {
	case end != none || w.decode == none:
		return 0, metric.NotRecorded
	case w.decode < 0:
		return 0, metric.Order
	}
	return w.decode, metric.None
}

// afterFirst is the pace of the tokens after the first, whatever the end.
var afterFirst = &metric.Pace{From: metric.AtFirst, Less: 1}

func tpotFromTotal(w *row, def *metric.Definition) (int64, metric.Reason) {
	d, n, why := w.span(afterFirst, w.finish, def)
	if why == metric.None && def.Strict && w.last != none && w.last == w.first(def) {
		why = metric.NoSpan // what is left is the end of the stream, not tokens
	}
	return quotient(d, n-1, why, def)
}

func tpotAfterFirstChunk(w *row, def *metric.Definition) (int64, metric.Reason) {
	d, n, why := w.span(afterFirst, w.last, def)
	switch {
	case why != metric.None:
	case w.chunk == none:
		why = metric.NotRecorded
	case n <= w.chunk:
		why = metric.NLessThan2
	}
	return quotient(d, n-w.chunk, why, def)
}

// ntpot is E2E per token, TTFT included.
func ntpot(w *row, def *metric.Definition) (int64, metric.Reason) {
	d, why := e2e(w, def)
	n := w.tokens(def)
	switch {
	case why != metric.None:
		return 0, why
	case n == none || n < 0:
		return 0, w.uncounted(def)
	case n == 0 && def.Silent:
		return stat.Key(0), metric.None
	case n == 0:
		return 0, metric.NoToken
	}
	return perToken(d, n), metric.None
}

// perToken is the key of d ns per n tokens.
func perToken(d, n int64) int64 {
	if n <= 0 {
		return 0
	}
	return stat.Key(float64(d) / float64(n))
}
