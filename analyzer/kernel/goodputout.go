package kernel

import (
	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// goodput returns the result of a cell over w, by rows of the given side.
func (s *goodputState) goodput(v *verdicts, w *interval, side trace.Side) *report.Goodput {
	m, _ := metric.Lookup("goodput")
	aborted := v.byStatus[trace.Aborted]
	g := &report.Goodput{
		SLO: []string{}, Good: v.good, Missed: v.missed, Unknown: v.unknown, Aborts: "missed",
		MissedBy: make(map[string]int64), Conditions: []report.Condition{}, Definition: s.def.Formula(m) + ". " + m.Doc,
	}
	if s.def.Goodput {
		g.Definition = s.def.Formula(m)
	}
	other := v.good + v.missed + v.unknown - aborted
	if s.q.ExcludeAborts {
		g.Aborts, g.Missed, other = "exclude", v.missed-aborted, other+aborted
	}
	g.Denominator = g.Good + g.Missed + g.Unknown
	for i, c := range s.conditions {
		g.SLO = append(g.SLO, c.limit.String())
		n := &v.by[i]
		if n[missed] > 0 {
			g.MissedBy[c.limit.Metric] += n[missed]
		}
		own := side
		if c.side >= 0 {
			own = c.side
		}
		g.Conditions = append(g.Conditions, report.Condition{Limit: c.limit.String(), Side: sideName(own),
			Met: n[met], Missed: n[missed], NotApplicable: n[inapplicable], Unknown: n[unknown]})
	}
	for status, n := range v.byStatus {
		if n > 0 && !(s.q.ExcludeAborts && trace.Status(status) == trace.Aborted) {
			g.MissedBy[trace.Requests.Fields[trace.StatusCol].Values[status]] = n
		}
	}
	g.Share, g.ShareLow, g.ShareHigh = shares(v, g.Denominator)
	if aborted > 0 {
		x := report.Shares{Denominator: other}
		x.Share, x.ShareLow, x.ShareHigh = shares(v, other)
		g.Beside = &x
	}
	switch {
	case w.why != metric.None:
		g.Rate = report.Null(w.why.String())
	case v.unknown > 0 && !g.Share.Known:
		g.Rate = report.Null(metric.UnknownVerdicts.String())
	default:
		g.Rate = report.Known(float64(v.good)*1e9/float64(w.dt), unit.PerSecond)
		g.Rate.Note = joined(w.note, counting(v.absent, "1 request without a success is forgotten", "%d requests without a success are forgotten"),
			counting(v.unknown, "1 request cannot be judged and is not among the good ones", "%d requests cannot be judged and are not among the good ones"))
	}
	return g
}

// shares returns the good part of n requests and its bounds: one figure where
// these agree as printed.
func shares(v *verdicts, n int64) (share, low, high report.Value) {
	if n == 0 {
		none := report.Null(metric.NoRequests.String())
		return none, none, none
	}
	a, b := float64(v.good)/float64(n), float64(v.good+v.unknown)/float64(n)
	low, high = report.Known(a, unit.Ratio), report.Known(b, unit.Ratio)
	share = report.Null(metric.UnknownVerdicts.String())
	if unit.Format(unit.Ratio, a) == unit.Format(unit.Ratio, b) {
		share = low
	}
	return share, low, high
}
