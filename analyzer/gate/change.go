package gate

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// Metrics are the metrics that can be compared: durations with one value per
// request, where shorter is better.
var Metrics = []string{"ttft", "ttft_client", "ttft_server", "tpot", "e2e"}

const (
	// z is the 0.975 quantile of the normal distribution: intervals are of 95 %.
	z = 1.959963984540054
	// least is the number of values from which the error of a mean counts as
	// normally distributed.
	least = 30
)

// ranks maps the names of the quantiles that can be compared, which every
// report has.
var ranks = map[string]string{"p50": "0.5", "p90": "0.9", "p95": "0.95", "p99": "0.99", "p99.9": "0.999"}

// Change compares the mean or a quantile of a metric, which has one value per
// request, with the baseline. The interval is the interval of the ratio of two
// independent figures. For means, with m₀, s₀, n₀ of the baseline and q =
// m₁/m₀, it is
//
//	q - 1 ± z·√(s₁²/n₁ + q²·s₀²/n₀) / m₀
//
// (delta method). For quantiles q₀ with the 95 % interval [l₀, u₀], and q₁ with
// [l₁, u₁], which assume no distribution, it is
//
//	(q₁·q₀ - √((q₁·q₀)² - l₁·u₀·(2q₁ - l₁)·(2q₀ - u₀))) / (u₀·(2q₀ - u₀)) - 1
//
//	(q₁·q₀ + √((q₁·q₀)² - u₁·l₀·(2q₁ - u₁)·(2q₀ - l₀))) / (l₀·(2q₀ - l₀)) - 1
//
// (Donner and Zou, Statistical Methods in Medical Research 21, 2012). The
// interval ignores the variation between two runs of the same system, and the
// dependence between requests that slow each other down: the true error is at
// least this large.
type Change struct {
	Metric    string       `json:"metric"`     // our name
	Stat      string       `json:"stat"`       // what is compared: mean, or the rank of a quantile as "0.99"
	Unit      unit.Unit    `json:"unit"`       // base unit of the means
	N         int64        `json:"n"`          // values of the run
	BaseN     int64        `json:"base_n"`     // values of the baseline
	Mean      report.Value `json:"mean"`       // of the run
	Base      report.Value `json:"base_mean"`  // of the baseline
	Value     report.Value `json:"value"`      // what is compared, of the run
	BaseValue report.Value `json:"base_value"` // the same of the baseline
	Change    report.Value `json:"change"`     // value / base value - 1
	Low       report.Value `json:"low"`        // lower bound of its 95 % interval
	High      report.Value `json:"high"`       // upper bound
	Threshold report.Value `json:"threshold"`  // the growth that is let pass
	Verdict   Verdict      `json:"verdict"`    // not_met: the interval lies above the threshold; met: below
	Reason    string       `json:"reason"`     // why the verdict is unknown; else empty
	Fix       string       `json:"fix"`        // what to add; else empty
}

// Name returns what was compared, in the syntax of ParseCompare: "ttft" or
// "ttft:p99".
func (c *Change) Name() string {
	for name, rank := range ranks {
		if rank == c.Stat {
			return c.Metric + ":" + name
		}
	}
	return c.Metric
}

func change(what string, base, run *report.Cell, threshold int64) Change {
	name, rank, _ := strings.Cut(what, ":")
	rank = ranks[rank]
	m0, m1 := base.Metrics[name], run.Metrics[name]
	limit := float64(threshold) / million
	c := Change{
		Metric: name, Stat: cmp.Or(rank, "mean"), Unit: cmp.Or(m1.Unit, m0.Unit), N: m1.N, BaseN: m0.N, Mean: mean(&m1), Base: mean(&m0),
		Threshold: report.Known(limit, unit.Ratio), Verdict: Unknown,
	}
	c.Value, c.BaseValue = c.Mean, c.Base
	if rank != "" {
		c.Value, c.BaseValue = quantile(&m1, rank), quantile(&m0, rank)
	}
	none := report.Null("no_values")
	c.Change, c.Low, c.High = none, none, none
	switch {
	case base.Metrics == nil || run.Metrics == nil:
		c.Reason, c.Fix = "one of the two runs has no such request", "measure the same groups in both, or compare without --by"
	case m0.N == 0 || m1.N == 0:
		c.Reason, c.Fix = "one of the two runs has no value", "compare a metric that both record"
	case m0.Side != m1.Side:
		c.Reason = fmt.Sprintf("measured on the %s side, the baseline on the %s side", m1.Side, m0.Side)
		c.Fix = "compare logs of one side"
	case c.BaseValue.V <= 0:
		c.Reason, c.Fix = "the baseline is not above 0", "compare another metric"
	case rank != "":
		c.quantiles(m0.Intervals[rank], m1.Intervals[rank], limit)
	case min(m0.N, m1.N) < least:
		c.Change = report.Known(m1.Mean/m0.Mean-1, unit.Ratio)
		c.Low, c.High = report.Null("too_few_values"), report.Null("too_few_values")
		c.Reason = fmt.Sprintf("%d values are too few for an interval", min(m0.N, m1.N))
		c.Fix = fmt.Sprintf("measure at least %d requests in both", least)
	default:
		c.compare(&m0, &m1, limit)
	}
	return c
}

// compare sets the interval of two means, and the verdict.
func (c *Change) compare(m0, m1 *report.Metric, limit float64) {
	q := m1.Mean / m0.Mean
	v0, v1 := float64(m0.Std*m0.Std)/float64(m0.N), float64(m1.Std*m1.Std)/float64(m1.N)
	half := float64(z*math.Sqrt(v1+float64(float64(q*q)*v0))) / m0.Mean
	growth := q - 1
	c.Change = report.Known(growth, unit.Ratio)
	c.Low, c.High = report.Known(growth-half, unit.Ratio), report.Known(growth+half, unit.Ratio)
	if !c.Low.Known || !c.High.Known {
		c.Reason, c.Fix = "the deviation is undefined", "compare another metric"
		return
	}
	c.decide(limit)
}

// quantiles sets the interval of two quantiles from their own intervals, and
// the verdict.
func (c *Change) quantiles(bounds0, bounds1 [2]any, limit float64) {
	q0, q1 := c.BaseValue.V, c.Value.V
	c.Change = report.Known(q1/q0-1, unit.Ratio)
	c.Low, c.High = report.Null("too_few_values"), report.Null("too_few_values")
	l0, ok0 := bounds0[0].(float64)
	u0, ok1 := bounds0[1].(float64)
	l1, ok2 := bounds1[0].(float64)
	u1, ok3 := bounds1[1].(float64)
	if !ok0 || !ok1 || !ok2 || !ok3 || l0 <= 0 || u0 >= 2*q0 {
		c.Reason, c.Fix = "there are too few values for an interval", "measure more requests in both, or compare a lower percentile"
		return
	}
	q := float64(q1 * q0)
	root := func(a, b float64) float64 { // a is a bound of the run, b a bound of the baseline
		return math.Sqrt(max(0, float64(q*q)-float64(float64(a*b)*float64((2*q1-a)*(2*q0-b)))))
	}
	c.Low = report.Known((q-root(l1, u0))/float64(u0*(2*q0-u0))-1, unit.Ratio)
	c.High = report.Known((q+root(u1, l0))/float64(l0*(2*q0-l0))-1, unit.Ratio)
	c.decide(limit)
}

// decide sets the verdict from the interval.
func (c *Change) decide(limit float64) {
	switch {
	case c.Low.V > limit:
		c.Verdict = NotMet
	case c.High.V <= limit:
		c.Verdict = Met
	default:
		c.Reason = "the threshold lies within the interval"
		c.Fix = "measure more requests in both"
		half := (c.High.V - c.Low.V) / 2
		if gap := math.Abs(limit - c.Change.V); gap > 0 {
			if times := math.Ceil(float64(half/gap) * float64(half/gap)); times < 1000 {
				c.Fix = fmt.Sprintf("measure about %d times as many requests in both, or raise the threshold", int64(times))
			}
		}
	}
}

func quantile(m *report.Metric, rank string) report.Value {
	v, ok := m.Quantiles[rank]
	if !ok {
		return report.Null(cmp.Or(m.Reason, "no_requests"))
	}
	return report.Known(v, m.Unit)
}

func mean(m *report.Metric) report.Value {
	if m.N == 0 {
		return report.Null(cmp.Or(m.Reason, "no_requests"))
	}
	return report.Known(m.Mean, m.Unit)
}
