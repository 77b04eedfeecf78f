package audit

import (
	"strconv"

	"servescope/analyzer/trace"
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
