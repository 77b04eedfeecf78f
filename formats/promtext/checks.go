package promtext

import (
	"fmt"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// unusable tells whether the mean of a time is impossible: no model answers
// within a millisecond, and no request takes a day. The histogram is present and
// well formed all the same when the engine observed another quantity.
func (f *figure) unusable() bool {
	mean, ok := f.mean()
	return ok && (f.tooShort(mean) || f.excess() || f.role() != shown && mean < 0)
}

func (f *figure) tooShort(mean float64) bool {
	r := f.role()
	return (r == ttft || r == e2e) && mean < 1e-3
}

func (f *figure) role() role {
	if f.info == nil {
		return shown
	}
	return f.info.role
}

// sums are the figures of one engine by role, over all models and kept labels.
type sums struct {
	count, sum, value [roles]float64
	has               [roles]bool
}

func sumsOf(list []*figure) (s sums) {
	for _, f := range list {
		r := f.role()
		if r == shown {
			continue
		}
		if n, ok := f.n(); ok {
			s.count[r] += n
			s.has[r] = true
		}
		if f.valued {
			s.value[r] += f.value
			s.has[r] = true
		}
		s.sum[r] += f.sum
	}
	return s
}

func (s *sums) all(list ...role) bool {
	for _, r := range list {
		if !s.has[r] {
			return false
		}
	}
	return true
}

// check compares the figures of the last scrape with each other and with what
// is possible, and tells the run. totals are those since the start.
func (r *reader) check(totals, rises []*figure) {
	s, rise := sumsOf(totals), sumsOf(rises)
	for _, f := range rises {
		mean, ok := f.mean()
		if !ok || !f.unusable() {
			continue
		}
		n, _ := f.n()
		msg := fmt.Sprintf("%s: the mean of %v samples is %.3g s, which is no duration of a request: the metric is unusable and not reported", f.family, n, mean)
		if f.tooShort(mean) {
			msg = fmt.Sprintf("%s: the mean of %v samples is %.3g ms, below 1 ms", f.family, n, mean*1e3)
			if rise.has[succeeded] {
				msg += fmt.Sprintf(", and %v requests finished", rise.value[succeeded])
			}
			msg += ": the metric is unusable and not reported"
		}
		r.add(diag.Diag{Code: "unusable_metric", Severity: diag.Notice, Offset: -1, Msg: msg})
	}
	r.checkTokens(&s)
	r.checkRequests(&s, &rise)
}

// checkTokens holds the number of gaps to that of tokens: one is observed for
// every token but the first of its request, or for every step with drafts.
func (r *reader) checkTokens(s *sums) {
	if r.run.Engine != "vllm" || !s.all(gap, generated, ttft) {
		return
	}
	tokens := s.value[generated] - s.count[ttft]
	switch {
	case s.value[drafts] > 0:
		r.run.Notes = append(r.run.Notes, fmt.Sprintf("gaps_per_step: with speculative decoding the server observes a gap per step, not per token: %v gaps for %v tokens", s.count[gap], tokens))
	case s.count[gap] == tokens:
		r.run.Notes = append(r.run.Notes, fmt.Sprintf("tokens_agree: the %v gaps between tokens are the %v generated tokens less the %v first ones", s.count[gap], s.value[generated], s.count[ttft]))
	default:
		r.add(diag.Diag{Code: "gaps_differ", Severity: diag.Notice, Offset: -1, Msg: fmt.Sprintf("%v gaps between tokens were observed, but %v tokens generated less %v first ones are %v: a gap is not one token here", s.count[gap], s.value[generated], s.count[ttft], tokens)})
	}
}

// checkRequests compares the numbers of requests and the sums of their times.
func (r *reader) checkRequests(s, rise *sums) {
	if s.all(ttft, e2e) {
		flight := s.count[ttft] - s.count[e2e]
		if flight >= 0 {
			r.run.Reported = append(r.run.Reported, trace.Reported{Key: "requests between first token and end at the last scrape", Stat: "value", Value: flight, Unit: unit.Request})
		} else {
			r.add(diag.Diag{Code: "counts_differ", Severity: diag.Notice, Offset: -1, Msg: fmt.Sprintf("%v requests finished, but only %v had a first token", s.count[e2e], s.count[ttft])})
		}
		if rise.count[ttft] != rise.count[e2e] {
			r.run.Notes = append(r.run.Notes, fmt.Sprintf("population: the time to the first token is of %v requests that had one, the times of finished requests are of %v: means of the two are of different requests", rise.count[ttft], rise.count[e2e]))
		}
	}
	if s.all(queue, prefill, decode, e2e) && s.count[queue] == s.count[e2e] {
		if parts := s.sum[queue] + s.sum[prefill] + s.sum[decode]; parts > s.sum[e2e]*(1+1e-9) {
			r.add(diag.Diag{Code: "parts_exceed_whole", Severity: diag.Notice, Offset: -1, Msg: fmt.Sprintf("queue, prefill and decode add up to %.6g s, more than the %.6g s from arrival to finish", parts, s.sum[e2e])})
		}
	}
	if n := rise.sum[outputTokens] - rise.count[outputTokens]; rise.all(decode, outputTokens) && n > 0 && rise.sum[decode] >= 0 && rise.count[decode] == rise.count[outputTokens] {
		r.run.Reported = append(r.run.Reported, trace.Reported{Key: "decode time per token after the first", Stat: "mean", Value: rise.sum[decode] / n * 1e9, Unit: unit.NSPerToken})
	}
}
