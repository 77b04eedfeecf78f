package audit

import (
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
// for the greatest, -1 for a mean and a deviation, which have none.
func rank(stat string) float64 {
	switch stat {
	case "min":
		return 0
	case "max":
		return 1
	}
	if q, err := strconv.ParseFloat(stat, 64); err == nil {
		return q
	}
	return -1
}

// impossible names values that cannot be, each distribution's once.
func (a *inquiry) impossible() {
	for i := range a.Doubts {
		a.doubt(&a.Doubts[i])
	}
	var ttft, e2e group
	for _, g := range a.groups() {
		switch m := g[0].Metric; {
		case m == "ttft" && ttft == nil:
			ttft = g
		case m == "e2e" && e2e == nil:
			e2e = g
		}
		a.negative(g)
		a.disorder(g)
	}
	a.late(ttft, e2e)
	for i := range a.Reported {
		switch c := &a.Reported[i]; {
		case c.Unit == unit.Ratio && (c.Value > 1+tolerance || c.Value < 0):
			a.find(Impossible, c, "a share lies between 0 and 100 %")
		case c.Stat == "value" && c.Value < 0:
			a.find(Impossible, c, "a count, a rate or a time is not negative")
		}
	}
}

// doubt is about values of requests that their reader did not believe, with what
// believing them would do to the mean.
func (a *inquiry) doubt(d *trace.Doubt) {
	f := a.find(Impossible, &trace.Reported{Key: d.Key, Metric: d.Metric, Unit: d.Unit, Value: d.Value}, d.Why)
	f.Count = d.Count
	if !d.Same {
		f.Value = report.Null("several_values")
	}
	if a.Own == nil {
		return
	}
	if m := a.Own.Metrics[d.Metric]; m.N > 0 && d.Same && d.Value == 0 {
		all := float64(m.N + d.Count)
		f.Factor = report.Known(all/float64(m.N), "")
		f.Note += "; averaged in, the mean would be " + unit.Format(d.Unit, float64(m.Mean*float64(m.N))/all) + " instead of " + unit.Format(d.Unit, m.Mean)
	}
}

// negative finds the least of a distribution's figures if it is below 0, and
// times to the first token, and ends of requests, of exactly 0.
func (a *inquiry) negative(g group) {
	n := 0
	least := g[0]
	for _, c := range g {
		if c.Value < 0 {
			n++
		}
		if c.Value < least.Value && c.Stat != "std" {
			least = c
		}
	}
	m := least.Metric
	switch {
	case n > 0:
		note := "it is negative"
		if m == "client_wait" {
			note += ": requests were sent before they were due"
		}
		if n > 1 {
			note += "; so are " + strconv.Itoa(n-1) + " more of its figures"
		}
		a.find(Impossible, least, note)
	case least.Value == 0 && (m == "ttft" || m == "e2e" || m == "ttfot"):
		a.find(Impossible, least, "no request takes no time: 0 stands for what was not measured")
	}
}

// disorder finds a quantile that is less than one of a lower rank, and a mean
// outside of the least and the greatest value.
func (a *inquiry) disorder(g group) {
	a.out.Checks++
	ranks := make([]float64, len(g))
	for i, c := range g {
		ranks[i] = rank(c.Stat)
	}
	for i, c := range g {
		for j, d := range g {
			above := ranks[j] >= 0 && ranks[j] < ranks[i] && d.Value > c.Value || // a lower rank has more
				c.Stat == "mean" && (d.Stat == "min" && d.Value > c.Value || d.Stat == "max" && d.Value < c.Value)
			if above && !Same(c.Value, d.Value, c.Unit) {
				note := "it is less than "
				if d.Value < c.Value {
					note = "it is more than "
				}
				a.broken(c, d.Value, note+d.Key)
				return
			}
		}
	}
}

// late finds a time to the first token that is greater than the same statistic
// of the whole request: it would have come after the end.
func (a *inquiry) late(ttft, e2e group) {
	for _, c := range ttft {
		if end := e2e.find(c.Stat); end != nil && c.Stat != "std" && c.Value > end.Value && !Same(c.Value, end.Value, c.Unit) {
			expect(a.find(Impossible, c, "the first token would come after the end: it is more than "+end.Key), end.Value)
			return
		}
	}
}
