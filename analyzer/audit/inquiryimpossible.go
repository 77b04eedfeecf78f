package audit

import (
	"strconv"

	"servescope/analyzer/trace"
)

// group holds the figures of one distribution, in source order.
type group []*trace.Reported

// groups returns the distributions among the figures. A statistic that occurs
// again with another value starts a second distribution of the metric.
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

// rank returns the rank of a statistic in its distribution: 0 for the minimum,
// 1 for the maximum, -1 for mean and deviation, which have none.
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
