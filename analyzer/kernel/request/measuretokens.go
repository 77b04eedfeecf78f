package request

import (
	"servescope/analyzer/metric"
	"servescope/analyzer/stat"
)

func promptTokens(w *Row, def *metric.Definition) (int64, metric.Reason) {
	return counted(w.asked(def), w.PromptTokens, metric.NotRecorded)
}

func cachedTokens(w *Row, def *metric.Definition) (int64, metric.Reason) {
	if w.asked(def) == metric.None && w.OverCached() {
		return 0, metric.Inconsistent
	}
	return counted(w.asked(def), w.CachedTokens, metric.NotRecorded)
}

func outputTokens(w *Row, def *metric.Definition) (int64, metric.Reason) {
	return counted(w.Cohort(def), w.Tokens(def), w.uncounted(def))
}

func counted(why metric.Reason, n int64, unknown metric.Reason) (int64, metric.Reason) {
	switch {
	case why != metric.None:
		return 0, why
	case n == None || n < 0:
		return 0, unknown
	}
	return n, metric.None
}

func reasoningTokens(w *Row, def *metric.Definition) (int64, metric.Reason) {
	return counted(w.Cohort(def), w.reasoningTokens, metric.NotRecorded)
}

func computedTokens(w *Row, def *metric.Definition) (int64, metric.Reason) {
	if why := w.cachedWhy(def); why != metric.None {
		return 0, why
	}
	return w.PromptTokens - w.CachedTokens, metric.None
}

func cachedShare(w *Row, def *metric.Definition) (int64, metric.Reason) {
	return share(w.cachedWhy(def), w.CachedTokens, w.PromptTokens)
}

// share is the key of a/b, of counts.
func share(why metric.Reason, a, b int64) (int64, metric.Reason) {
	switch {
	case why != metric.None:
		return 0, why
	case a == None || b == None:
		return 0, metric.NotRecorded
	case b <= 0 || a < 0:
		return 0, metric.NoSpan
	}
	return stat.Key(float64(a) / float64(b)), metric.None
}

func acceptLength(w *Row, def *metric.Definition) (int64, metric.Reason) {
	key, why := share(w.Cohort(def), w.spec.accepted, w.spec.verified)
	if why != metric.None {
		return 0, why
	}
	return stat.Key(1 + stat.Unkey(key)), metric.None
}

func acceptRate(w *Row, def *metric.Definition) (int64, metric.Reason) {
	why := w.Cohort(def)
	if why == metric.None && w.spec.drafted != None && w.spec.accepted > w.spec.drafted {
		why = metric.Inconsistent
	}
	return share(why, w.spec.accepted, w.spec.drafted)
}

func preemptions(w *Row, def *metric.Definition) (int64, metric.Reason) {
	return counted(w.Cohort(def), w.spec.preempted, metric.NotRecorded)
}
