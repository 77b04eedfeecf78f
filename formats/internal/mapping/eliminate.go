package mapping

import (
	"fmt"
	"slices"
	"strings"
)

// The bounds of what a latency can be, in s. No model writes a token in less than
// 100 µs, nor is there a first token within a millisecond; 10 s a token is slower
// than any that is used.
const (
	leastToken, mostToken = 100e-6, 10.0
	leastSpan, mostSpan   = 1e-3, 3600.0
)

var allUnits = [...]unit{seconds, millis, micros, nanos}

var inSeconds = [...]float64{seconds: 1, millis: 1e-3, micros: 1e-6, nanos: 1e-9}

// eliminate finds the unit of a column that does not say it: the one that agrees
// with stamps whose unit is known, or the only one in which the values can be
// true. Where two can, it asks.
func (s *sample) eliminate(m *mapping, e *entry, c class) {
	if u, by := s.agrees(m, e); u != noUnit {
		e.unit, e.why = u, e.why+"; in "+unitNames[u]+" it agrees with "+by
		return
	}
	var left []unit
	var against []string
	for _, u := range allUnits {
		if why := s.absurd(m, e, c, inSeconds[u]); why != "" {
			against = append(against, unitNames[u]+": "+why)
		} else {
			left = append(left, u)
		}
	}
	p := &s.profiles[e.field]
	values := p.span()
	if p.numbers == 0 {
		values = "lists"
	}
	switch len(left) {
	case 1:
		e.unit = left[0]
		e.why += fmt.Sprintf("; its values (%s) can only be %s (%s)", values, unitNames[e.unit], strings.Join(against, "; "))
	case 0:
		m.ask = fmt.Sprintf("the values of column %s (%s) fit no unit of time: they may be in several, or no %s", label(e.name), values, about[e.role].name)
		m.suggest(e, seconds, millis)
	default:
		var names []string
		for _, u := range left {
			names = append(names, unitNames[u])
		}
		m.ask = fmt.Sprintf("the unit of column %s is not in its name, and its values (%s) can be %s", label(e.name), values, strings.Join(names, " or "))
		m.suggest(e, left...)
	}
}

// median returns the middle of the values that there are.
func median(v []float64) (float64, bool) {
	v = slices.DeleteFunc(slices.Clone(v), func(x float64) bool { return x <= 0 })
	if len(v) == 0 {
		return 0, false
	}
	slices.Sort(v)
	return v[len(v)/2], true
}

// absurd says why the values cannot be a role's in a unit, or nothing.
func (s *sample) absurd(m *mapping, e *entry, c class, unit float64) string {
	values := s.profiles[e.field].values
	mid, ok := median(values)
	if !ok {
		return ""
	}
	if c == stamp || c == stamps {
		return "" // no stamp is absurd by itself
	}
	mid *= unit
	if e.role == tpot || e.role == gaps {
		switch {
		case mid < leastToken:
			return "under 100 µs a token"
		case mid > mostToken:
			return "over 10 s a token"
		}
		return ""
	}
	switch {
	case mid < leastSpan:
		return "under 1 ms"
	case mid > mostSpan:
		return "over an hour"
	}
	if e.role == e2e {
		return s.perToken(m, values, unit)
	}
	if o := m.of(e2e); o != nil && e.role == ttft {
		return s.above(o, values, unit)
	}
	return ""
}

// perToken compares latencies with the numbers of tokens.
func (s *sample) perToken(m *mapping, values []float64, unit float64) string {
	mid, ok := median(s.each(m, values))
	switch mid *= unit; {
	case ok && mid < leastToken:
		return "under 100 µs a token"
	case ok && mid > mostToken:
		return "over 10 s a token"
	}
	return ""
}

// above tells whether times to first token are mostly above the latencies, if the
// unit of these is known.
func (s *sample) above(o *entry, values []float64, unit float64) string {
	if o.unit == noUnit || o.unit == written {
		return ""
	}
	whole := s.profiles[o.field].values
	n, over := 0, 0
	for i, v := range values[:min(len(values), len(whole))] {
		if v > 0 && whole[i] > 0 {
			n++
			if v*unit > whole[i]*inSeconds[o.unit] {
				over++
			}
		}
	}
	if 2*over > n {
		return "above the latency"
	}
	return ""
}

// agrees finds the unit in which latencies are the times between stamps.
func (s *sample) agrees(m *mapping, e *entry) (unit, string) {
	start, end := m.of(arrival), m.of(finished)
	if start == nil {
		start = m.of(sent)
	}
	if e.role == ttft {
		end = m.of(firstToken)
	} else if end == nil {
		end = m.of(lastToken)
	}
	if e.role != ttft && e.role != e2e || start == nil || end == nil || start.unit == noUnit || end.unit == noUnit || start.unit == written || end.unit == written {
		return noUnit, ""
	}
	a, b := s.profiles[start.field].values, s.profiles[end.field].values
	values := s.profiles[e.field].values
	for _, u := range allUnits {
		n, hits := 0, 0
		for i, v := range values[:min(len(values), len(a), len(b))] {
			if v <= 0 || a[i] < 0 || b[i] < 0 {
				continue
			}
			between := float64(b[i]*inSeconds[end.unit]) - float64(a[i]*inSeconds[start.unit])
			if between < 0.02 { // any unit would do
				continue
			}
			n++
			if d := float64(v*inSeconds[u]) - between; max(d, -d) <= float64(0.02*between)+2e-3 {
				hits++
			}
		}
		if n >= 3 && 10*hits >= 9*n {
			return u, "the times between " + label(start.name) + " and " + label(end.name)
		}
	}
	return noUnit, ""
}
