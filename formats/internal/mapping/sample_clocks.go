package mapping

import "fmt"

// The most that passes between stamps in most requests, in s, where these are
// taken for times since 1970 because they look like them: so do those of a clock
// that began with the machine, in a unit a thousand times as short.
const (
	mostEpochToken = 2.0 // per token, from the beginning to the end
	mostEpochFirst = 60.0
	mostEpochWhole = 600.0
)

// otherClock asks which clock stamps are of that only look like times since 1970,
// and lie too far apart for it.
func (s *sample) otherClock(m *mapping) {
	var stamps []*entry
	for _, r := range [...]role{sent, arrival, firstToken, lastToken, finished} {
		if e := m.of(r); e != nil && e.epoch && !e.given && e.unit != written && e.typed == nil && s.profiles[e.field].named == noUnit {
			stamps = append(stamps, e)
		}
	}
	if len(stamps) < 2 {
		return
	}
	start, end := stamps[0], stamps[len(stamps)-1]
	between := s.between(start, end)
	most := mostEpochWhole
	if end.role == firstToken {
		most = mostEpochFirst
	}
	mid, ok := median(between)
	if each, counted := median(s.each(m, between)); counted && end.role != firstToken {
		mid, most = each, mostEpochToken
	}
	if !ok || mid <= most {
		return
	}
	m.ask = fmt.Sprintf("columns %s and %s may be times since 1970 in %s, but are far apart for that: they may be of another clock, in a shorter unit", label(start.name), label(end.name), unitNames[start.unit])
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
		m.fix += " " + option(all...)
	}
}

// beforehand asks what columns are whose numbers, of no date, lie before the
// beginning in more than a tenth of the records: they are no stamps of its clock,
// but most likely latencies.
func (s *sample) beforehand(m *mapping) {
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
		m.ask = fmt.Sprintf("column %s lies before %s in many records: it may be no point in time but a latency", label(e.name), label(start.name))
		m.fix = "say " + option(assign(c.latency, e.name, e.unit)) + ", or " + option(assign(c.stamp, e.name, e.unit))
		return
	}
}

// between returns the times in s between stamps, -1 where there are none.
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
