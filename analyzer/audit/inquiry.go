package audit

import (
	"fmt"
	"math"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"strconv"
)

// inquiry is an audit in progress.
type inquiry struct {
	*Subject
	out   *report.Audit
	list  []*report.Finding
	cells []Cell // under other definitions
	asked bool   // for them

	verified map[*trace.Reported]bool // the requests give these: no other figure can prove them wrong
}

// find adds a finding about a figure.
func (a *inquiry) find(kind string, c *trace.Reported, note string) *report.Finding {
	f := &report.Finding{Kind: kind, Key: c.Key, Metric: c.Metric, Stat: c.Stat, Unit: c.Unit, Note: note}
	f.Value.Known, f.Value.V, f.Value.Unit = true, c.Value, c.Unit
	f.Expected.Reason, f.Factor.Reason = notComparable, notComparable
	a.list = append(a.list, f)
	return f
}

// broken adds a finding about a figure that contradicts other figures; want is
// the value that they imply.
func (a *inquiry) broken(c *trace.Reported, want float64, note string) *report.Finding {
	a.out.Broken++
	f := a.find(Identity, c, note)
	expect(f, want)
	return f
}

// again drops the latest finding and counts it with an earlier one, if that
// says the same about another statistic of the same distribution. The finding
// about the mean stays.
func (a *inquiry) again() {
	last := len(a.list) - 1
	f := a.list[last]
	for i, g := range a.list[:last] {
		if g.Kind != f.Kind || g.Metric != f.Metric || g.Cause != f.Cause || g.Count != 0 || f.Stat == "value" || g.Note != f.Note && f.Kind != Differs {
			continue
		}
		if f.Stat == "mean" {
			f.More, a.list[i] = g.More, f
		}
		a.list[i].More++
		a.list = a.list[:last]
		return
	}
}

// verdict compares one figure with the requests.
func (a *inquiry) verdict(c *trace.Reported, v *Verdict) {
	v.Class, v.Own.Reason = Unchecked, notComparable
	switch {
	case c.Metric == "":
		return
	case a.Own == nil:
		v.Own.Reason, v.Note = "no_requests", a.Why
		return
	}
	v.Own = a.own(c)
	cause, want := "definition", c.Value
	switch {
	case !v.Own.Known:
		if v.Note = a.defined(c); v.Note == "" {
			return
		}
	case !Comparable(v.Own.Unit, c.Unit):
		return
	case same(c, v.Own.V):
		v.Class = Equal
		return
	default:
		want = v.Own.V
		cause, v.Note = a.explain(c, want)
	}
	if v.Class = Explained; cause == "" {
		v.Class = Differs
		v.Note = "the requests give " + factor(want, c.Value) + " times this value, and no known cause explains it"
	}
	f := a.find(v.Class, c, v.Note)
	f.Cause = cause
	expect(f, want)
	a.again()
}

// own returns a figure computed from the requests under the producer's
// definition. If the requests' stamps give no duration, a rate is divided by
// the producer's own duration, so that at least its numerator is checked.
func (a *inquiry) own(c *trace.Reported) report.Value {
	v := Of(a.Own, c)
	if d := a.Duration; !v.Known && d > 0 {
		if n := a.counted(c.Metric); n > 0 {
			return report.Known(n*1e9/float64(d), c.Unit)
		}
	}
	return v
}

// explain returns why a figure differs from the requests under the producer's
// definition, or "" if no known cause gives its value.
func (a *inquiry) explain(c *trace.Reported, own float64) (cause, note string) {
	same := func(v float64) bool { return same(c, v) }
	r, m := &a.Own.Requests, a.Own.Metrics[c.Metric]
	n, all := float64(m.N), float64(r.Total)
	switch {
	case c.Metric == "requests.ok" && same(float64(r.OK+r.Empty)):
		return "cohort", fmt.Sprintf("it includes %d requests without any token", r.Empty)
	case c.Stat == "mean" && m.N > 0 && all > n && same(float64(own*n)/all):
		return "cohort", fmt.Sprintf("the average includes %d requests without a value as 0", r.Total-m.N)
	case c.Stat == "mean" && m.N > 0 && r.Empty > 0 && same(float64(own*n)/(n+float64(r.Empty))):
		return "cohort", fmt.Sprintf("the average includes %d requests without any token as 0", r.Empty)
	case c.Stat == "std" && n > 1 && same(own*math.Sqrt(n/(n-1))):
		return "estimator", "it is the standard deviation of a sample, which divides by n - 1"
	}
	note = a.defined(c) // also computes what window needs
	if over := a.window(c, same); over != "" {
		return "window", over
	}
	if note != "" {
		return "definition", note
	}
	for _, u := range []struct {
		factor float64
		what   string
	}{{1e3, "1000 times too small"}, {1e-3, "1000 times too large"}, {1.0 / 60, "per minute, not per second"}, {100, "a share, not a percentage"}} {
		if same(own / u.factor) {
			return "unit", "the unit is another: it is " + u.what
		}
	}
	return "", ""
}

// defined tries the other definition sets.
func (a *inquiry) defined(c *trace.Reported) string {
	if !a.asked && a.Definitions != nil {
		a.cells, a.asked = a.Definitions(), true
	}
	for _, cell := range a.cells {
		if v := Of(cell.Cell, c); v.Known && Comparable(v.Unit, c.Unit) && same(c, v.V) {
			return "it is the figure as " + cell.Definition + " defines it"
		}
	}
	return ""
}

// window tries a rate over other durations: the run as its producer measured
// it, and the intervals of rates under the definitions tried.
func (a *inquiry) window(c *trace.Reported, same func(float64) bool) string {
	s := a.Subject
	if c.Unit != unit.PerSecond && c.Unit != unit.TokenRate || c.Stat != "value" {
		return ""
	}
	count := a.counted(c.Metric)
	if count == 0 {
		return ""
	}
	if d := float64(s.Duration); d > 0 && same(count*1e9/d) {
		return fmt.Sprintf("it is over the producer's own duration of %s", unit.FormatDuration(s.Duration))
	}
	for _, cell := range append(a.cells, Cell{"", s.Own}) {
		if w := cell.Throughput.Window; w.Known && w.V > 0 && same(count*1e9/w.V) {
			return fmt.Sprintf("it is over %s, from the first send to the last token", unit.FormatDuration(int64(w.V)))
		}
		rate, whole := cell.Throughput.Values["request_rate_ok"], cell.Throughput.Values["request_rate_ok_whole"]
		for _, v := range []report.Value{rate, whole} {
			if v.Known && v.V > 0 && s.Own.Requests.OK > 0 {
				if d := float64(s.Own.Requests.OK) / v.V; same(count / d) {
					return fmt.Sprintf("it is over %s", unit.FormatDuration(int64(d*1e9)))
				}
			}
		}
	}
	return ""
}

// counted returns the numerator of a rate, or 0 if it is unknown.
func (a *inquiry) counted(name string) float64 {
	sum := func(name string) float64 {
		m := a.Own.Metrics[name]
		return float64(float64(m.N) * m.Mean)
	}
	switch name {
	case "request_rate":
		return float64(a.Own.Requests.Total)
	case "request_rate_ok":
		return float64(a.Own.Requests.OK)
	case "tps", "tps_ok":
		return sum("output_tokens")
	case "tps_prompt":
		return sum("prompt_tokens")
	case "tps_end_to_end":
		return sum("prompt_tokens") + sum("output_tokens")
	}
	return 0
}

// identities checks the relations among the figures.
func (a *inquiry) identities() {
	k := checker{inquiry: a, first: make(map[[2]string]*trace.Reported)}
	for i := range a.Reported {
		c := &a.Reported[i]
		if key := [2]string{c.Metric, c.Stat}; c.Metric != "" && k.first[key] == nil {
			k.first[key] = c
		}
		k.rounded = k.rounded || c.Step > 0
	}
	k.pace("tpot")
	k.pace("chunk_gap")
	k.rates()
	k.counts()
}

// impossible finds values that cannot be true, once for each distribution.
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

// doubt adds a finding about values of requests that the format rejected, with
// the mean that they would have caused.
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
		f.Note += "; if they were averaged in, the mean would be " + unit.Format(d.Unit, float64(m.Mean*float64(m.N))/all) + " instead of " + unit.Format(d.Unit, m.Mean)
	}
}

// negative finds the smallest figure of a distribution if it is negative, and
// times to the first token and durations of requests of exactly 0.
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
		a.find(Impossible, least, "no request takes no time: 0 stands for a value that was not measured")
	}
}

// disorder finds a quantile that is less than a quantile of lower rank, and a
// mean outside of minimum and maximum.
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

// late finds a time to the first token that exceeds the same statistic of the
// whole request.
func (a *inquiry) late(ttft, e2e group) {
	for _, c := range ttft {
		if end := e2e.find(c.Stat); end != nil && c.Stat != "std" && c.Value > end.Value && !Same(c.Value, end.Value, c.Unit) {
			expect(a.find(Impossible, c, "the first token would come after the end: it exceeds "+end.Key), end.Value)
			return
		}
	}
}
