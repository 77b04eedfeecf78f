package kernel

import (
	"servescope/analyzer/metric"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
)

// special holds the counts of a request that only some workloads have; none
// where unknown.
type special struct{ preempted, drafted, accepted, verified int64 }

var notSpecial = special{none, none, none, none}

// specials reads them. Most batches have none.
type specials struct {
	any                                    bool
	preempted, drafted, accepted, verified trace.Ints
}

func specialsOf(v *View) specials {
	s := specials{
		preempted: v.Ints(trace.Preemptions), drafted: v.Ints(trace.SpecDrafted),
		accepted: v.Ints(trace.SpecAccepted), verified: v.Ints(trace.VerifySteps),
	}
	s.any = len(s.preempted.Values)+len(s.drafted.Values)+len(s.accepted.Values)+len(s.verified.Values) > 0
	return s
}

func (s *specials) at(i int) special {
	if !s.any {
		return notSpecial
	}
	return special{get(s.preempted, i), get(s.drafted, i), get(s.accepted, i), get(s.verified, i)}
}

// unite adds the counts of another sequence of the same request.
func (s *special) unite(o *special) {
	s.preempted, s.drafted = plus(s.preempted, o.preempted), plus(s.drafted, o.drafted)
	s.accepted, s.verified = plus(s.accepted, o.accepted), plus(s.verified, o.verified)
}

// share is the key of a/b, of counts.
func share(why metric.Reason, a, b int64) (int64, metric.Reason) {
	switch {
	case why != metric.None:
		return 0, why
	case a == none || b == none:
		return 0, metric.NotRecorded
	case b <= 0 || a < 0:
		return 0, metric.NoSpan
	}
	return stat.Key(float64(a) / float64(b)), metric.None
}

func preemptions(w *row, def *metric.Definition) (int64, metric.Reason) {
	return counted(w.cohort(def), w.special.preempted, metric.NotRecorded)
}

func reasoningTokens(w *row, def *metric.Definition) (int64, metric.Reason) {
	return counted(w.cohort(def), w.reasoning, metric.NotRecorded)
}

func acceptLength(w *row, def *metric.Definition) (int64, metric.Reason) {
	key, why := share(w.cohort(def), w.special.accepted, w.special.verified)
	if why != metric.None {
		return 0, why
	}
	return stat.Key(1 + stat.Unkey(key)), metric.None
}

func acceptRate(w *row, def *metric.Definition) (int64, metric.Reason) {
	why := w.cohort(def)
	if why == metric.None && w.special.drafted != none && w.special.accepted > w.special.drafted {
		why = metric.Inconsistent
	}
	return share(why, w.special.accepted, w.special.drafted)
}

// cachedWhy tells why the parts of a prompt are unknown.
func (w *row) cachedWhy(def *metric.Definition) metric.Reason {
	switch why := w.asked(def); {
	case why != metric.None:
		return why
	case w.overCached():
		return metric.Inconsistent
	case w.prompt == none || w.cached == none:
		return metric.NotRecorded
	}
	return metric.None
}

func computedTokens(w *row, def *metric.Definition) (int64, metric.Reason) {
	if why := w.cachedWhy(def); why != metric.None {
		return 0, why
	}
	return w.prompt - w.cached, metric.None
}

func cachedShare(w *row, def *metric.Definition) (int64, metric.Reason) {
	return share(w.cachedWhy(def), w.cached, w.prompt)
}
