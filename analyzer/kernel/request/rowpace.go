package request

import (
	"servescope/analyzer/metric"
	"servescope/analyzer/stat"
)

// span returns the time from where a pace begins to a given end, of a request of
// the cohort, and N.
func (w *Row) span(p *metric.Pace, to int64, def *metric.Definition) (d, n int64, why metric.Reason) {
	if why = w.Cohort(def); why == metric.None && w.Beam && def.Strict {
		why = metric.Beam
	}
	if why != metric.None {
		return 0, 0, why
	}
	if why = w.tooFew(def); why != metric.None && p.From == metric.AtFirst {
		return 0, 0, why
	}
	from, why := w.Mark(p.From, def)
	if why == metric.NotStreamed {
		return 0, 0, why
	}
	if n = w.Tokens(def); n == None {
		return 0, 0, w.uncounted(def)
	}
	if n <= p.Less || n < 1 {
		return 0, 0, metric.NLessThan2
	}
	if why == metric.None {
		d, why = Between(from, to)
	}
	return d, n, why
}

// TpotOf returns what TPOT divides under def, and by what.
func (w *Row) TpotOf(def *metric.Definition) (d, n int64, why metric.Reason) {
	p := def.TPOT
	if p == nil {
		return 0, 0, metric.NotDefined
	}
	to, _ := w.Mark(p.To, def)
	d, n, why = w.span(p, to, def)
	if why == metric.NotRecorded && p.From == metric.AtFirst && def.First == metric.FirstToken {
		d, why = w.measured(to)
	}
	return d, n - p.Less, why
}

// PaceOf returns what a pace divides and by what, given the number of chunks
// that the request received, or none.
func (w *Row) PaceOf(p *metric.Pace, chunks int64, def *metric.Definition) (d, n int64, why metric.Reason) {
	to, _ := w.Mark(p.To, def)
	if !p.Chunks {
		d, n, why = w.span(p, to, def)
		return d, n - p.Less, why
	}
	if why = w.Cohort(def); why != metric.None {
		return 0, 0, why
	}
	from, why := w.Mark(p.From, def)
	if why == metric.None {
		d, why = Between(from, to)
	}
	if chunks == None && why == metric.None {
		why = metric.NotRecorded
	}
	return d, chunks, why
}

// measured returns the time from the first token to the last as the engine
// measured it, where the end is not stamped. Both are the engine's: it is never
// put together with a stamp of the frontend.
func (w *Row) measured(end int64) (int64, metric.Reason) {
	switch {
	case end != None || w.Decode == None:
		return 0, metric.NotRecorded
	case w.Decode < 0:
		return 0, metric.Order
	}
	return w.Decode, metric.None
}

// decoding returns the time from the first token to the last, and N.
func (w *Row) decoding(def *metric.Definition) (d, n int64, why metric.Reason) {
	if why = w.Cohort(def); why != metric.None {
		return 0, 0, why
	}
	if w.Beam {
		return 0, 0, metric.Beam
	}
	if w.Stream == 0 {
		return 0, 0, metric.NotStreamed
	}
	if n = w.Tokens(def); n == None {
		return 0, 0, w.uncounted(def)
	}
	if n < 2 {
		return 0, 0, metric.NLessThan2
	}
	if d, why = Between(Or(w.FirstToken, w.FirstEvent), w.LastToken); why == metric.NotRecorded {
		d, why = w.measured(w.LastToken)
	}
	return d, n, why
}

// afterFirst is the pace of the tokens after the first, whatever the end.
var afterFirst = &metric.Pace{From: metric.AtFirst, Less: 1}

// Quotient is the key of d ns per n tokens. Tokens that came at one instant have
// no pace; tools write 0.
func Quotient(d, n int64, why metric.Reason, def *metric.Definition) (int64, metric.Reason) {
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

// perToken is the key of d ns per n tokens.
func perToken(d, n int64) int64 {
	if n <= 0 {
		return 0
	}
	return stat.Key(float64(d) / float64(n))
}
