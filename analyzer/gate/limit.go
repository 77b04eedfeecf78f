package gate

import (
	"strings"

	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// of returns g, or empty counts if the run has no requests.
func of(g *report.Goodput, limits ...query.Limit) *report.Goodput {
	if g != nil {
		return g
	}
	g = new(report.Goodput)
	for _, l := range limits {
		g.SLO = append(g.SLO, l.String())
		g.Conditions = append(g.Conditions, report.Condition{Limit: l.String()})
	}
	return g
}

// together judges each limit of a good request, and all limits together, by the
// same share. As in goodput, a request to which a limit does not apply meets
// the limit. So each limit's share is at least the share of all together.
func together(g *report.Goodput, share int64) []Limit {
	var out []Limit
	for i := range g.Conditions {
		c := &g.Conditions[i]
		l := condition(g, c)
		l.judge(share, l.Within+c.NotApplicable, g.Denominator)
		out = append(out, l)
	}
	if len(out) == 1 {
		return out
	}
	l := Limit{Limit: strings.Join(g.SLO, ","), Within: g.Good, Beyond: g.Missed, Unknown: g.Unknown}
	l.judge(share, g.Good, g.Denominator)
	return append(out, l)
}

// percentile judges condition i of g by a share of the requests to which it
// applies. Failed requests are beyond any limit: a percentile of answered
// requests only would hide the failures.
func percentile(g *report.Goodput, i int, p Percentile) Limit {
	l := condition(g, &g.Conditions[i])
	l.Limit = p.String()
	l.judge(p.Share, l.Within, g.Denominator-l.NotApplicable)
	return l
}

// condition counts the requests of one limit. A request without a verdict is
// missed, because it failed.
func condition(g *report.Goodput, c *report.Condition) Limit {
	judged := c.Met + c.Missed + c.NotApplicable + c.Unknown
	return Limit{
		Limit: c.Limit, Side: c.Side, Within: c.Met, Beyond: c.Missed + g.Denominator - judged,
		Unknown: c.Unknown, NotApplicable: c.NotApplicable,
	}
}

// judge compares good of n requests with the required share, in exact
// arithmetic.
func (l *Limit) judge(share, good, n int64) {
	l.Required = report.Known(float64(share)/million, unit.Ratio)
	if n == 0 {
		l.Low, l.High = report.Null("no_requests"), report.Null("no_requests")
		l.Verdict, l.Reason = Unknown, "no request can be judged by this limit"
		l.Fix = "give a log of requests, and check --filter, --from and --to"
		return
	}
	l.Low = report.Known(float64(good)/float64(n), unit.Ratio)
	l.High = report.Known(float64(good+l.Unknown)/float64(n), unit.Ratio)
	switch {
	case good*million >= share*n:
		l.Verdict = Met
	case (good+l.Unknown)*million < share*n:
		l.Verdict = NotMet
	default:
		l.Verdict = Unknown
		l.Reason = "too many requests lack the stamps that decide"
		l.Fix = "record their stamps, or judge a side that has them, as in ttft.client=500ms"
	}
}
