package gate

import (
	"fmt"
	"math"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// Metrics are the metrics that can be compared: times of one value per request,
// which are the better the shorter they are.
var Metrics = []string{"ttft", "ttft_client", "ttft_server", "tpot", "e2e"}

const (
	// z is the 0.975 quantile of the normal distribution: intervals are of 95 %.
	z = 1.959963984540054
	// least is how many values a mean needs for its error to be taken as normal.
	least = 30
)

// Change compares the mean of a metric, which has one value per request, with
// that of the baseline. The interval is that of the ratio of two independent
// means: with m₀, s₀, n₀ of the baseline and q = m₁/m₀,
//
//	q - 1 ± z·√(s₁²/n₁ + q²·s₀²/n₀) / m₀
//
// (delta method). It knows nothing of what differs between two runs of the same
// system, nor of requests that slow each other down: it is the least error.
type Change struct {
	Metric    string       `json:"metric"`    // our name
	Unit      unit.Unit    `json:"unit"`      // base unit of the means
	N         int64        `json:"n"`         // values of the run
	BaseN     int64        `json:"base_n"`    // values of the baseline
	Mean      report.Value `json:"mean"`      // of the run
	Base      report.Value `json:"base_mean"` // of the baseline
	Change    report.Value `json:"change"`    // mean / base mean - 1
	Low       report.Value `json:"low"`       // lower bound of its 95 % interval
	High      report.Value `json:"high"`      // upper bound
	Threshold report.Value `json:"threshold"` // the growth that is let pass
	Verdict   Verdict      `json:"verdict"`   // not_met: the interval lies above the threshold; met: below
	Reason    string       `json:"reason"`    // why the verdict is unknown; else empty
	Fix       string       `json:"fix"`       // what to add; else empty
}

func change(name string, base, run *report.Cell, threshold int64) Change {
	m0, m1 := base.Metrics[name], run.Metrics[name]
	limit := float64(threshold) / million
	c := Change{
		Metric: name, Unit: m1.Unit, N: m1.N, BaseN: m0.N, Mean: mean(&m1), Base: mean(&m0),
		Threshold: report.Known(limit, unit.Ratio), Verdict: Unknown,
	}
	none := report.Null("no_values")
	c.Change, c.Low, c.High = none, none, none
	switch {
	case m0.N == 0 || m1.N == 0:
		c.Reason, c.Fix = "one of the two has no value", "compare a metric that both record"
	case m0.Side != m1.Side:
		c.Reason = fmt.Sprintf("measured on the %s side, the baseline on the %s side", m1.Side, m0.Side)
		c.Fix = "compare logs of one side"
	case m0.Mean <= 0:
		c.Reason, c.Fix = "the baseline's mean is not above 0", "compare another metric"
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

// compare sets the interval and the verdict.
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
	switch {
	case growth-half > limit:
		c.Verdict = NotMet
	case growth+half <= limit:
		c.Verdict = Met
	default:
		c.Reason = "the interval holds the threshold"
		c.Fix = "measure more requests in both"
		if gap := math.Abs(limit - growth); gap > 0 {
			if times := math.Ceil(float64(half/gap) * float64(half/gap)); times < 1000 {
				c.Fix = fmt.Sprintf("measure about %d times as many requests in both, or raise the threshold", int64(times))
			}
		}
	}
}

func mean(m *report.Metric) report.Value {
	if m.N == 0 {
		return report.Null(m.Reason)
	}
	return report.Known(m.Mean, m.Unit)
}
