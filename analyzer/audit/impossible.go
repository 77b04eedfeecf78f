package audit

import (
	"fmt"
	"slices"
	"strconv"

	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// group is the figures of one distribution, as they follow each other in the
// source.
type group []*trace.Reported

// groups returns the distributions among the figures. A statistic that comes
// again with another value begins a second one of the metric.
func (s *Subject) groups() []group {
	var out []group
	for i := range s.Reported {
		c := &s.Reported[i]
		if c.Metric == "" || c.Stat == "value" {
			continue
		}
		n := len(out) - 1
		if n < 0 || out[n][0].Metric != c.Metric {
			out = append(out, group{c})
		} else if old := out[n].find(c.Stat); old == nil {
			out[n] = append(out[n], c)
		} else if old.Value != c.Value {
			out = append(out, group{c})
		}
	}
	return out
}

func (g group) find(stat string) *trace.Reported {
	for _, c := range g {
		if c.Stat == stat {
			return c
		}
	}
	return nil
}

// rank is the place of a statistic in a distribution: 0 for the least value, 1
// for the greatest; ok is false for a mean and a deviation.
func rank(stat string) (q float64, ok bool) {
	switch stat {
	case "min":
		return 0, true
	case "max":
		return 1, true
	}
	q, err := strconv.ParseFloat(stat, 64)
	return q, err == nil
}

// impossible names values that cannot be, each distribution's once.
func (s *Subject) impossible(a *report.Audit) {
	for _, d := range s.Doubts {
		a.Findings = append(a.Findings, s.doubt(&d))
	}
	groups := s.groups()
	for _, g := range groups {
		if f, ok := g.negative(); ok {
			a.Findings = append(a.Findings, f)
		} else if f, ok := g.zero(); ok {
			a.Findings = append(a.Findings, f)
		}
		a.Checks++
		if f, ok := g.disorder(); ok {
			a.Broken++
			a.Findings = append(a.Findings, f)
		}
	}
	if f, ok := late(groups); ok {
		a.Findings = append(a.Findings, f)
	}
	for i := range s.Reported {
		switch c := &s.Reported[i]; {
		case c.Unit == unit.Ratio && (c.Value > 1+tolerance || c.Value < 0):
			f := finding(Impossible, c)
			f.Note = "a share lies between 0 and 100 %"
			a.Findings = append(a.Findings, f)
		case c.Stat == "value" && c.Value < 0:
			f := finding(Impossible, c)
			f.Note = "a count, a rate or a time is not negative"
			a.Findings = append(a.Findings, f)
		}
	}
}

// doubt is the finding about values of requests that their reader did not
// believe, with what believing them would do to the mean.
func (s *Subject) doubt(d *trace.Doubt) report.Finding {
	f := report.Finding{Kind: Impossible, Key: d.Key, Metric: d.Metric, Unit: d.Unit, Count: d.Count, Note: d.Why,
		Value: report.Null("several_values"), Expected: report.Null("not_recorded"), Factor: report.Null(notComparable)}
	if d.Same {
		f.Value = report.Known(d.Value, d.Unit)
	}
	if s.Own == nil {
		return f
	}
	if m, ok := s.Own.Metrics[d.Metric]; ok && m.N > 0 && d.Same && d.Value == 0 {
		all := float64(m.N + d.Count)
		f.Factor = report.Known(all/float64(m.N), "")
		f.Note += fmt.Sprintf("; averaged in, the mean would be %s instead of %s",
			unit.Format(d.Unit, float64(m.Mean*float64(m.N))/all), unit.Format(d.Unit, m.Mean))
	}
	return f
}

// negative finds the first of a distribution's figures that is below 0.
func (g group) negative() (report.Finding, bool) {
	n := 0
	var first *trace.Reported
	for _, c := range g {
		if c.Value < 0 {
			if n++; first == nil || c.Value < first.Value {
				first = c
			}
		}
	}
	if n == 0 {
		return report.Finding{}, false
	}
	f := finding(Impossible, first)
	f.Note = "it is negative"
	if first.Metric == "client_wait" {
		f.Note = "it is negative: requests were sent before they were due"
	}
	if n > 1 {
		f.Note += fmt.Sprintf("; so are %d more of its figures", n-1)
	}
	return f, true
}

// zero finds times to the first token, and ends of requests, of exactly 0.
func (g group) zero() (report.Finding, bool) {
	if m := g[0].Metric; m != "ttft" && m != "e2e" && m != "ttfot" {
		return report.Finding{}, false
	}
	for _, stat := range []string{"mean", "0.5", "min"} {
		if c := g.find(stat); c != nil && c.Value == 0 {
			f := finding(Impossible, c)
			f.Note = "no request takes no time: 0 stands for what was not measured"
			return f, true
		}
	}
	return report.Finding{}, false
}

// disorder finds quantiles that fall where their rank rises, and a mean outside
// of the least and the greatest value.
func (g group) disorder() (report.Finding, bool) {
	var ranked group
	for _, c := range g {
		if _, ok := rank(c.Stat); ok {
			ranked = append(ranked, c)
		}
	}
	slices.SortStableFunc(ranked, func(a, b *trace.Reported) int {
		x, _ := rank(a.Stat)
		y, _ := rank(b.Stat)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	for i, c := range ranked {
		if i > 0 && c.Value < ranked[i-1].Value && !Same(c.Value, ranked[i-1].Value, c.Unit) {
			f := finding(Identity, c)
			f.Expected = report.Known(ranked[i-1].Value, c.Unit)
			f.Note = "it is less than " + ranked[i-1].Key
			return f, true
		}
	}
	mean, lo, hi := g.find("mean"), g.find("min"), g.find("max")
	for _, bound := range []*trace.Reported{lo, hi} {
		if mean != nil && bound != nil && (mean.Value < bound.Value) == (bound == lo) && !Same(mean.Value, bound.Value, mean.Unit) {
			f := finding(Identity, mean)
			f.Expected = report.Known(bound.Value, bound.Unit)
			f.Note = "the mean lies beyond " + bound.Key
			return f, true
		}
	}
	return report.Finding{}, false
}

// late finds a time to the first token that is greater than the same statistic
// of the whole request: it would have come after the end.
func late(groups []group) (report.Finding, bool) {
	var ttft, e2e group
	for _, g := range groups {
		switch {
		case g[0].Metric == "ttft" && ttft == nil:
			ttft = g
		case g[0].Metric == "e2e" && e2e == nil:
			e2e = g
		}
	}
	for _, c := range ttft {
		if end := e2e.find(c.Stat); end != nil && c.Stat != "std" && c.Value > end.Value && !Same(c.Value, end.Value, c.Unit) {
			f := finding(Impossible, c)
			f.Expected = report.Known(end.Value, end.Unit)
			f.Note = "the first token would come after the end: it is more than " + end.Key
			return f, true
		}
	}
	return report.Finding{}, false
}
