package goodput

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

func (s *state) Finish(out kernel.Output) {
	if len(s.conditions) == 0 {
		return
	}
	s.Cells.Prune()
	s.FinishingOf(s.Cells.Places(), func(run int32, info *cell.Run, places []cell.Place) {
		side := s.side
		if info.Linked || side < 0 || info.Side(int(side)).Rows == 0 { // requests that the side did not see stay unjudged
			side = info.LatencySide(s.Def)
		}
		w := s.OverSpan(run, s.Def.GoodSpan)
		for _, t := range s.Targets(run, cell.Within(places, side)) {
			in := w
			if t.Window != kernel.NoWindow {
				in = s.Clip(run, info, w, t.Window)
			}
			c := out.Cell(run, t.Group, t.Window)
			c.Goodput = s.goodput(s.United(t.From), &in, side)
			cell.SetValue(c, "goodput", c.Goodput.Rate)
		}
	})
}

// goodput returns the result of a cell over w, by rows of the given side.
func (s *state) goodput(v *verdicts, w *cell.Interval, side trace.Side) *report.Goodput {
	m, _ := metric.Lookup("goodput")
	aborted := v.byStatus[trace.Aborted]
	g := &report.Goodput{
		SLO: []string{}, Good: v.good, Missed: v.missed, Unknown: v.unknown, Aborts: "missed",
		MissedBy: make(map[string]int64), Conditions: []report.Condition{}, Definition: s.Def.Formula(m) + ". " + m.Doc,
	}
	if s.Def.Goodput {
		g.Definition = s.Def.Formula(m)
	}
	other := v.good + v.missed + v.unknown - aborted
	if s.Query.ExcludeAborts {
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
		g.Conditions = append(g.Conditions, report.Condition{Limit: c.limit.String(), Side: request.SideName(own),
			Met: n[met], Missed: n[missed], NotApplicable: n[inapplicable], Unknown: n[unknown]})
	}
	for status, n := range v.byStatus {
		if n > 0 && !(s.Query.ExcludeAborts && trace.Status(status) == trace.Aborted) {
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
	case w.Reason != metric.None:
		g.Rate = report.Null(w.Reason.String())
	case v.unknown > 0 && !g.Share.Known:
		g.Rate = report.Null(metric.UnknownVerdicts.String())
	default:
		g.Rate = report.Known(float64(v.good)*1e9/float64(w.Length), unit.PerSecond)
		g.Rate.Note = cell.Joined(w.Note, cell.Counted(v.absent, "1 request without a success is forgotten", "%d requests without a success are forgotten"),
			cell.Counted(v.unknown, "1 request cannot be judged and is not among the good ones", "%d requests cannot be judged and are not among the good ones"))
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
