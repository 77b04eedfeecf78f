package assemble

import (
	"fmt"

	"servescope/analyzer/dataset"
	"servescope/analyzer/diag"
	"servescope/analyzer/join"
	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// positions reports whether the requests of an input are numbered and not named.
func positions(set *dataset.Set, input int32) bool {
	for _, m := range set.Inputs[input].Records {
		if m.Meta.Positions {
			return true
		}
	}
	return false
}

// joinOf describes what came of linking the rows of a run, or returns nil where
// inputs were not joined.
func joinOf(set *dataset.Set, r *dataset.Run) *report.Join {
	if r.Join == nil {
		return nil
	}
	sum := r.Join
	out := &report.Join{
		Counting: nameOfSide(sum.Counting), Requests: sum.Requests, Joined: sum.Joined, Rate: share(sum.Joined, sum.Requests),
		Ambiguous: sum.Ambiguous.N, Duplicates: sum.Duplicates.N, Disagree: sum.Disagree, Aligned: set.Aligned,
		Examples: report.JoinNames{Ambiguous: sum.Ambiguous.First, Duplicates: sum.Duplicates.First},
		Steps:    joinSteps(set, r),
	}
	for _, e := range sum.Ends {
		joined := e.Requests - e.Unmatched.N
		out.Ends = append(out.Ends, report.JoinEnd{
			Input: set.NameOfInput(e.Input), Side: nameOfSide(e.Side), Requests: e.Requests, Joined: joined, Rate: share(joined, e.Requests),
			Repeated: e.Repeated, Unnamed: e.Unnamed, Unmatched: e.Unmatched.First,
		})
	}
	for i := range sum.Pairs {
		if i == report.MaxPairs {
			out.More = int64(len(sum.Pairs) - i)
			break
		}
		out.Pairs = append(out.Pairs, pairOf(set, sum, &sum.Pairs[i]))
	}
	return out
}

func nameOfSide(side trace.Side) string { return trace.Requests.Fields[trace.SideCol].Values[side] }

// share returns n / all, or null where all is 0.
func share(n, all int64) report.Value {
	if all == 0 {
		return report.Null("no_requests")
	}
	return report.Known(float64(n)/float64(all), unit.Ratio)
}

// pairOf describes two ends.
func pairOf(set *dataset.Set, sum *join.Summary, p *join.Pair) report.JoinPair {
	a, b := &sum.Ends[p.A], &sum.Ends[p.B]
	out := report.JoinPair{
		A:      report.JoinAt{Input: set.NameOfInput(a.Input), Side: nameOfSide(a.Side), Clock: p.ClockA.String()},
		B:      report.JoinAt{Input: set.NameOfInput(b.Input), Side: nameOfSide(b.Side), Clock: p.ClockB.String()},
		Joined: p.Joined, RateA: share(p.Joined, a.Requests), RateB: share(p.Joined, b.Requests),
		Rules: make(map[string]int64), Offset: offsetOf(p),
	}
	for _, c := range p.Rules {
		out.Rules[c.Rule.String()] += c.N
	}
	if o := &p.Offset; set.Aligned && !p.SameClock && o.Bounded() {
		there, back, wrong := o.Between()
		out.Between = &report.Between{There: report.Null("not_recorded"), Back: report.Null("not_recorded"), Wrong: report.Known(wrong, unit.Nanosecond)}
		if o.NIn > 0 {
			out.Between.There = report.Known(there, unit.Nanosecond)
		}
		if o.NOut > 0 {
			out.Between.Back = report.Known(back, unit.Nanosecond)
		}
	}
	return out
}

// offsetOf describes how far the clocks of two ends are apart.
func offsetOf(p *join.Pair) report.ClockOffset {
	o := &p.Offset
	out := report.ClockOffset{Low: report.Null("not_bounded"), High: report.Null("not_bounded"), N: o.N, Same: p.SameClock}
	if p.ClockA.Kind == trace.RequestClock || p.ClockB.Kind == trace.RequestClock {
		out.Low, out.High = report.Null("clock"), report.Null("clock")
		out.Note = "a clock that begins anew with each request has no offset"
		return out
	}
	if o.HasLow {
		out.Low = report.KnownInt(o.Low, unit.Nanosecond)
	}
	if o.HasHigh {
		out.High = report.KnownInt(o.High, unit.Nanosecond)
	}
	switch {
	case o.Empty():
		out.Note = "no offset fits all requests: a clock drifts or is set, or rows are linked that are not of one request"
	case p.SameClock && (o.HasLow && o.Low > 0 || o.HasHigh && o.High < 0):
		out.Note = "both sides claim one clock, and yet requests arrive before they are sent"
	}
	return out
}

// joinDiags says what the join of a run leaves open.
func joinDiags(set *dataset.Set, r *dataset.Run, log *diag.Log) {
	if r.Join == nil {
		return
	}
	sum := r.Join
	note := func(code, file string, n int64, fix, format string, args ...any) {
		log.Add(diag.Diag{Code: code, Severity: diag.Notice, File: file, Offset: -1, Count: n, Msg: fmt.Sprintf(format, args...), Fix: fix})
	}
	for i := range sum.Ends {
		e := &sum.Ends[i]
		file := set.Inputs[e.Input].Source.Name()
		switch side := nameOfSide(e.Side); {
		case e.Unmatched.N == 0:
		case e.Unmatched.N < e.Requests:
			note("not_joined", file, e.Unmatched.N, "", "%d of %d requests of the side %s are in no other input", e.Unmatched.N, e.Requests, side)
		default:
			why, fix := unjoined(set, sum, e)
			note("nothing_joined", file, e.Requests, fix, "no request of the side %s is in another input: %s", side, why)
		}
	}
	if n := sum.Ambiguous.N; n > 0 {
		note("join_ambiguous", r.Label, n, "let each request have an id of its own", "a name may be that of several requests: it links nothing")
	}
	if n := sum.Duplicates.N; n > 0 {
		note("join_duplicate", r.Label, n, "let each request have an id of its own, or log its attempt", "an input gives one id to several requests: they are linked to nothing")
	}
	if sum.Disagree > 0 {
		note("join_disagree", r.Label, sum.Disagree, "", "the rows of a request state different numbers of output tokens, by the server's count")
	}
	if sum.Late > 0 {
		note("join_late", r.Label, sum.Late, "", "two inputs give times to the first token of one request at one side that differ by more than the steps of their stamps: the finer one counts")
	}
	for i := range sum.Pairs {
		p := &sum.Pairs[i]
		if o := offsetOf(p); o.Note != "" && o.N > 0 {
			note("clock_offset", set.Inputs[sum.Ends[p.B].Input].Source.Name(), o.N, "", "its clock and that of %s: %s", set.NameOfInput(sum.Ends[p.A].Input), o.Note)
		}
	}
}

// unjoined says why no request of an end is linked, and what would help.
func unjoined(set *dataset.Set, sum *join.Summary, e *join.End) (why, fix string) {
	inputs := make(map[int32]bool)
	for _, o := range sum.Ends {
		inputs[o.Input] = true
	}
	const log = "have the server log requests (vLLM: --enable-log-requests, SGLang: --log-requests) or export spans"
	switch positions := positions(set, e.Input); {
	case len(sum.Ends) == 1:
		return "no other input holds requests", log
	case positions && sum.Benchmark == "other":
		return "the server's requests are of another run: their lengths differ", "give the server's log of this run"
	case positions && sum.Benchmark == "several":
		return "its requests are numbered, and the inputs hold several runs of the benchmark", "give one result, and the part of the server's log that it is about"
	case positions:
		return "a benchmark's result numbers its requests and names none, and no id at the server holds a number", "use a client whose result holds ids, or vLLM's with its own --request-id-prefix, and " + log
	case e.Unnamed == e.Requests:
		return "it names none of them", "log request ids"
	}
	return "their ids have nothing in common with those elsewhere", "send the id as X-Request-Id, which vLLM's server takes over, or log the id of the response"
}

// lackTokens says of the metrics of chunks, as of the latencies, how many requests
// of a cell no row of their side is linked to.
func lackTokens(c *report.Cell) {
	n := c.Metrics["ttft"].Excluded[metric.NotJoined.String()]
	if n == 0 {
		return
	}
	for _, name := range [...]string{"chunk_gap", "token_latency", "tokens_per_chunk", "ttft_upper"} {
		if m, ok := c.Metrics[name]; ok && m.Excluded != nil && m.Side == c.Metrics["ttft"].Side {
			m.Excluded[metric.NotJoined.String()] = n
		}
	}
}
