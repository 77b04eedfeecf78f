package request

import (
	"servescope/analyzer/metric"
	"servescope/analyzer/trace"
)

// TTFT returns the time to first token as a user sees it, in ns, or why there is
// none. Stamps of the engine and of its nodes never stand in for stamps of the server
// or the client.
func TTFT(w *Row, def *metric.Definition) (int64, metric.Reason) {
	if why := w.seen(def); why != metric.None {
		return 0, why
	}
	return w.toFirst(def)
}

// TTFTEngine returns the time to first token of a row of an engine, in ns, or why
// there is none.
func TTFTEngine(w *Row, def *metric.Definition) (int64, metric.Reason) {
	if why := w.Cohort(def); why != metric.None {
		return 0, why
	}
	if w.Side < trace.Engine {
		return 0, metric.NotRecorded
	}
	return w.toFirst(def)
}

func clientWait(w *Row, def *metric.Definition) (int64, metric.Reason) {
	if why := w.Cohort(def); why != metric.None {
		return 0, why
	}
	return w.waited()
}

func ttftFromSchedule(w *Row, def *metric.Definition) (int64, metric.Reason) {
	return w.plusWait(TTFT(w, def))
}

func e2eFromSchedule(w *Row, def *metric.Definition) (int64, metric.Reason) {
	return w.plusWait(E2E(w, def))
}

func firstEvent(w *Row, def *metric.Definition) (int64, metric.Reason) {
	if why := w.seen(def); why != metric.None {
		return 0, why
	}
	if w.Stream == 0 {
		return 0, metric.NotStreamed
	}
	return Between(w.Start, w.FirstEvent)
}

func ttfot(w *Row, def *metric.Definition) (int64, metric.Reason) {
	if why := w.seen(def); why != metric.None {
		return 0, why
	}
	end, why := w.answerFor(def)
	if why != metric.None {
		return 0, why
	}
	return Between(w.Start, end)
}

func thinkingTime(w *Row, def *metric.Definition) (int64, metric.Reason) {
	end, why := w.answerFor(def)
	if why != metric.None {
		return 0, why
	}
	return Between(w.FirstToken, end)
}

// E2E returns the time from the start of a request to its end, in ns, or why there
// is none.
func E2E(w *Row, def *metric.Definition) (int64, metric.Reason) {
	if why := w.Cohort(def); why != metric.None {
		return 0, why
	}
	return Between(w.Start, w.End(def))
}

func e2eStreamEnd(w *Row, def *metric.Definition) (int64, metric.Reason) {
	if why := w.Cohort(def); why != metric.None && w.Status != trace.Empty {
		return 0, why
	}
	return Between(w.Start, w.Finished)
}
