package decompose

import (
	"fmt"

	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// shortestGap is how long a window must be for the time between its steps to be
// told: stamps of logs resolve a second.
const shortestGap = 60e9

// between returns the time that lies between the selected steps of which only the
// time inside is known, per step: what a window leaves beside the steps that end
// in it. Steps to keep other ranks company take time as others do.
func (s *Steps) between(in Selection) report.Memo {
	m := report.Memo{Name: HostGap.String(), Mean: report.Null("not_recorded")}
	var gap, window, slack int64
	for at, t := range s.timelines {
		if t.source.Quantity != trace.Elapsed {
			continue
		}
		first, last, inside, n := Nowhere, Nowhere, int64(0), int64(0)
		for _, i := range in[at] {
			k := &t.Steps[i]
			switch {
			case k.End == Nowhere:
				continue
			case first == Nowhere:
				first = k.End
			default:
				last, inside, n = k.End, inside+max(k.Duration, 0), n+1
			}
		}
		if first == Nowhere {
			continue
		}
		if n == 0 || last-first < shortestGap {
			m.Mean = report.Null("resolution")
			return m
		}
		gap, window, slack, m.N = gap+last-first-inside, window+last-first, slack+max(t.Resolution, 1), m.N+n
	}
	switch {
	case m.N == 0:
		return m
	case gap < 0:
		m.Mean = report.Null("async")
		return m
	}
	m.Mean = report.Known(float64(gap)/float64(m.N), unit.Nanosecond)
	m.Mean.Note = fmt.Sprintf("%s ± %s of %s", unit.FormatDuration(gap), unit.FormatDuration(slack), unit.FormatDuration(window))
	return m
}
