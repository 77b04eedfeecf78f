package audit

import (
	"fmt"
	"math"

	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

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
		v.Note = "the requests give " + factor(want, c.Value) + " times this, and nothing that was tried explains it"
	}
	f := a.find(v.Class, c, v.Note)
	f.Cause = cause
	expect(f, want)
	a.again()
}

// own returns a figure of the requests under the producer's definition. Where
// the stamps of requests tell no length of time, a rate is over the producer's
// own duration: its numerator is checked.
func (a *inquiry) own(c *trace.Reported) report.Value {
	v := Of(a.Own, c)
	if d := a.Duration; !v.Known && d > 0 {
		if n := a.counted(c.Metric); n > 0 {
			return report.Known(n*1e9/float64(d), c.Unit)
		}
	}
	return v
}

// explain returns why a figure is not what the requests give under the
// producer's definition, "" where nothing that is tried gives it.
func (a *inquiry) explain(c *trace.Reported, own float64) (cause, note string) {
	same := func(v float64) bool { return same(c, v) }
	r, m := &a.Own.Requests, a.Own.Metrics[c.Metric]
	n, all := float64(m.N), float64(r.Total)
	switch {
	case c.Metric == "requests.ok" && same(float64(r.OK+r.Empty)):
		return "cohort", fmt.Sprintf("%d requests without any token are among them", r.Empty)
	case c.Stat == "mean" && m.N > 0 && all > n && same(float64(own*n)/all):
		return "cohort", fmt.Sprintf("%d requests without a value are averaged in as 0", r.Total-m.N)
	case c.Stat == "mean" && m.N > 0 && r.Empty > 0 && same(float64(own*n)/(n+float64(r.Empty))):
		return "cohort", fmt.Sprintf("%d requests without any token are averaged in as 0", r.Empty)
	case c.Stat == "std" && n > 1 && same(own*math.Sqrt(n/(n-1))):
		return "estimator", "the standard deviation of a sample: it divides by n - 1"
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

// defined tries other definition sets.
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

// window tries a rate over other lengths of time: that of the run as its
// producer measured it, and the intervals of rates under the definitions tried.
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

// counted returns the number that a rate divides, 0 where it is not known.
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

// factor says how many times b goes into a.
func factor(a, b float64) string {
	if b == 0 {
		return "infinitely many"
	}
	return fmt.Sprintf("%.4g", a/b)
}
