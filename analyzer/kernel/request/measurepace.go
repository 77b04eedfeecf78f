package request

import (
	"servescope/analyzer/metric"
	"servescope/analyzer/stat"
)

func tpot(w *Row, def *metric.Definition) (int64, metric.Reason) {
	d, n, why := w.TpotOf(def)
	return Quotient(d, n, why, def)
}

func tpotFromTotal(w *Row, def *metric.Definition) (int64, metric.Reason) {
	d, n, why := w.span(afterFirst, w.Finished, def)
	if why == metric.None && def.Strict && w.LastToken != None && w.LastToken == w.First(def) {
		why = metric.NoSpan // what is left is the end of the stream, not tokens
	}
	return Quotient(d, n-1, why, def)
}

func tpotAfterFirstChunk(w *Row, def *metric.Definition) (int64, metric.Reason) {
	d, n, why := w.span(afterFirst, w.LastToken, def)
	switch {
	case why != metric.None:
	case w.firstChunk == None:
		why = metric.NotRecorded
	case n <= w.firstChunk:
		why = metric.NLessThan2
	}
	return Quotient(d, n-w.firstChunk, why, def)
}

// ntpot is E2E per token, TTFT included.
func ntpot(w *Row, def *metric.Definition) (int64, metric.Reason) {
	d, why := E2E(w, def)
	n := w.Tokens(def)
	switch {
	case why != metric.None:
		return 0, why
	case n == None || n < 0:
		return 0, w.uncounted(def)
	case n == 0 && def.Silent:
		return stat.Key(0), metric.None
	case n == 0:
		return 0, metric.NoToken
	}
	return perToken(d, n), metric.None
}

func tpsRequest(w *Row, def *metric.Definition) (int64, metric.Reason) {
	v, why := tpot(w, def)
	if why != metric.None {
		return 0, why
	}
	if v == 0 {
		return 0, metric.NoSpan
	}
	return stat.Key(1e9 / stat.Unkey(v)), metric.None
}

func tpsE2E(w *Row, def *metric.Definition) (int64, metric.Reason) {
	d, why := E2E(w, def)
	n := w.Tokens(def)
	switch {
	case why != metric.None:
	case n == None || n < 0:
		why = w.uncounted(def)
	case d == 0:
		why = metric.NoSpan
	default:
		return stat.Key(float64(n) * 1e9 / float64(d)), metric.None
	}
	return 0, why
}

// tpsDecode is about tokens under every definition.
func tpsDecode(w *Row, def *metric.Definition) (int64, metric.Reason) {
	d, n, why := w.decoding(def)
	switch {
	case why != metric.None:
	case d == 0:
		why = metric.NoSpan
	default:
		return stat.Key(float64(n-1) * 1e9 / float64(d)), metric.None
	}
	return 0, why
}
