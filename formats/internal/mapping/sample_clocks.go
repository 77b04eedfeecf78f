package mapping

import "fmt"

// These are the longest medians, in s, between stamps that look like times since 1970. If
// they lie farther apart, they may come from a clock that began when the machine did, in
// a unit a thousand times as short.
const (
	maxEpochToken = 2.0 // per output token
	maxEpochFirst = 60.0
	maxEpochWhole = 600.0
)

// askClock asks for the clock of stamps that look like times since 1970 but lie too far
// apart for that.
func (s *sample) askClock(m *mapping) {
	var stamps []*entry
	for _, r := range [...]role{sent, arrival, firstToken, lastToken, finished} {
		if e := m.of(r); e != nil && e.epoch && !e.given && e.unit != written && e.typed == nil && s.profiles[e.field].nameUnit == noUnit {
			stamps = append(stamps, e)
		}
	}
	if len(stamps) < 2 {
		return
	}
	start, end := stamps[0], stamps[len(stamps)-1]
	between := s.between(start, end)
	most := maxEpochWhole
	if end.role == firstToken {
		most = maxEpochFirst
	}
	mid, ok := median(between)
	if each, counted := median(s.perOutputToken(m, between)); counted && end.role != firstToken {
		mid, most = each, maxEpochToken
	}
	if !ok || mid <= most {
		return
	}
	m.ask = fmt.Sprintf("columns %s and %s may be times since 1970 in %s, but are far apart for that: they may be of another clock, in a shorter unit", quoteName(start.name), quoteName(end.name), unitNames[start.unit])
	m.fix = "say"
	for i, u := range [...]unit{start.unit, start.unit + 1} {
		if u > nanos {
			continue
		}
		if i > 0 {
			m.fix += ", or"
		}
		var all []string
		for _, e := range stamps {
			all = append(all, assign(e.role, e.name, u))
		}
		m.fix += " " + mapOption(all...)
	}
}

// askLatencies asks about columns whose numbers lie before the beginning in more than a
// tenth of the records. They are most likely latencies, not stamps.
func (s *sample) askLatencies(m *mapping) {
	start := m.of(sent)
	if start == nil {
		start = m.of(arrival)
	}
	if start == nil || start.epoch {
		return
	}
	for _, c := range [...]struct{ stamp, latency role }{{firstToken, ttft}, {lastToken, e2e}, {finished, e2e}} {
		e := m.of(c.stamp)
		if e == nil || e.given || e.epoch {
			continue
		}
		a, b := s.profiles[start.field].values, s.profiles[e.field].values
		n, before := 0, 0
		for i := range min(len(a), len(b)) {
			if a[i] <= 0 || b[i] <= 0 {
				continue
			}
			if n++; float64(b[i]*inSeconds[e.unit]) < float64(a[i]*inSeconds[start.unit]) {
				before++
			}
		}
		if 10*before <= n {
			continue
		}
		m.ask = fmt.Sprintf("column %s lies before %s in many records: it may be no point in time but a latency", quoteName(e.name), quoteName(start.name))
		m.fix = "say " + mapOption(assign(c.latency, e.name, e.unit)) + ", or " + mapOption(assign(c.stamp, e.name, e.unit))
		return
	}
}

// between returns the times in s between two stamps, by record; -1 where one is missing.
func (s *sample) between(start, end *entry) []float64 {
	a, b := s.profiles[start.field].values, s.profiles[end.field].values
	out := make([]float64, min(len(a), len(b)))
	for i := range out {
		out[i] = -1
		if a[i] > 0 && b[i] > 0 {
			out[i] = float64(b[i]*inSeconds[end.unit]) - float64(a[i]*inSeconds[start.unit])
		}
	}
	return out
}
