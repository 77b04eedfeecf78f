package mapping

import (
	"fmt"
	"slices"
	"strings"
)

// These are the bounds of latencies, in s. No model writes a token in less than 100 µs or
// has a first token within a millisecond, and nobody uses one that takes 10 s a token.
const (
	minToken, maxToken = 100e-6, 10.0
	minSpan, maxSpan   = 1e-3, 3600.0
)

var allUnits = [...]unit{seconds, millis, micros, nanos}

var inSeconds = [...]float64{seconds: 1, millis: 1e-3, micros: 1e-6, nanos: 1e-9}

// findUnit finds the unit of a column of times.
func (s *sample) findUnit(m *mapping, e *entry, c class) {
	p := &s.profiles[e.field]
	e.digits = p.digits
	if p.typed != nil && p.typed.Step > 0 {
		s.unitByType(m, e, c)
		return
	}
	stamped := c == stamp || c == stamps
	if stamped {
		epoch := p.epoch()
		e.epoch = epoch != noUnit || p.dates > 0 && p.mostly(p.dates+p.empty)
		switch {
		case p.dates > 0 && p.mostly(p.dates+p.empty):
			e.unit, e.why = written, e.why+"; dates"
			s.dated(m, e)
			return
		case p.coarse():
			m.ask, m.fix = fmt.Sprintf("column %s cannot be used: its %s", quoteName(e.name), tooCoarse), "export it with all digits, as 64-bit numbers"
			return
		case e.unit != noUnit: // given
			if e.epoch = epoch == e.unit; epoch != noUnit && !e.epoch {
				e.why += ", though its values could be times since 1970 in " + unitNames[epoch]
			}
			return
		case epoch == noUnit && p.nearlyAll(p.epochCount()):
			m.ask = fmt.Sprintf("column %s has times since 1970 in several units (%s)", quoteName(e.name), p.valueRange())
			m.fix = "write a column in one unit"
			return
		case epoch != noUnit && p.nameUnit != noUnit && p.nameUnit != epoch:
			m.ask = fmt.Sprintf("the name of column %s says %s, but its values (%s) are times since 1970 in %s", quoteName(e.name), unitNames[p.nameUnit], p.valueRange(), unitNames[epoch])
			m.suggestUnits(e, p.nameUnit, epoch)
			return
		case epoch != noUnit:
			e.unit, e.why = epoch, e.why+"; its values are times since 1970 in "+unitNames[epoch]
			return
		}
	}
	switch {
	case e.unit != noUnit:
	case p.commas > 0:
		m.askComma(e)
	case p.mostly(p.durations):
		e.unit, e.why = written, e.why+"; the values state their unit"
	case p.nameUnit != noUnit:
		e.unit, e.why = p.nameUnit, e.why+"; the name says "+unitNames[p.nameUnit]
	case p.n == 0:
		m.ask = fmt.Sprintf("the unit of column %s is not in its name, and it has no values", quoteName(e.name))
		m.suggestUnits(e, seconds, millis)
	case (p.joined == "request_time" || p.joined == "upstream_response_time") && p.thirds == p.numbers:
		e.unit, e.why = seconds, e.why+"; nginx writes seconds with three digits"
	case !s.lines && s.isSlog() && p.whole == p.numbers && p.high >= 1e5 && !stamped:
		e.unit, e.why = nanos, e.why+"; log/slog of Go writes a time.Duration as whole ns"
	default:
		s.unitByElimination(m, e, c)
	}
}

// isSlog reports whether records begin with the members that log/slog writes first.
func (s *sample) isSlog() bool {
	for i := range max(0, len(s.names)-3) {
		n := s.wrap(i)
		if (i == 0 && !s.flat || n > 0 && s.wrap(max(0, i-1)) == 0) && s.names[i][n:] == "time" && s.names[i+1][min(n, len(s.names[i+1])):] == "level" && s.names[i+2][min(n, len(s.names[i+2])):] == "msg" {
			return true
		}
	}
	return false
}

// unitByType takes the unit of a column of times from its type, which is certain.
func (s *sample) unitByType(m *mapping, e *entry, c class) {
	p := &s.profiles[e.field]
	f := p.typed
	step := stepName(f.Step)
	what := "duration in " + step
	if f.Instant {
		what = "timestamp in " + step + " of no zone"
		if f.UTC {
			what = "timestamp in " + step + " of UTC"
		}
	}
	if !p.fitsType(c) {
		m.ask = fmt.Sprintf("column %s cannot be %s: its type is a %s", quoteName(e.name), roleInfo[e.role].name, what)
		m.fix = "the columns are " + s.columns()
		return
	}
	if e.unit != noUnit && e.unit != written && unitNames[e.unit] != step {
		m.ask = fmt.Sprintf("column %s is not in %s: its type is a %s", quoteName(e.name), unitNames[e.unit], what)
		m.fix = "leave the unit out: " + mapOption(assign(e.role, e.name, noUnit))
		return
	}
	e.unit, e.typed, e.epoch = nanos, f, f.Instant
	e.why += "; its type is a " + what
	e.digits = p.digits - 9 // negative: coarser than 1 ns
}

// unitByElimination finds the unit of a column that does not say it: the unit that agrees
// with stamps, or the only one in which the values are plausible. Where several are, it
// asks.
func (s *sample) unitByElimination(m *mapping, e *entry, c class) {
	if u, by := s.unitByStamps(m, e); u != noUnit {
		e.unit, e.why = u, e.why+"; in "+unitNames[u]+" it agrees with "+by
		return
	}
	var left []unit
	var against []string
	for _, u := range allUnits {
		if why := s.implausible(m, e, c, inSeconds[u]); why != "" {
			against = append(against, unitNames[u]+": "+why)
		} else {
			left = append(left, u)
		}
	}
	p := &s.profiles[e.field]
	values := p.valueRange()
	if p.numbers == 0 {
		values = "lists"
	}
	switch len(left) {
	case 1:
		e.unit = left[0]
		e.why += fmt.Sprintf("; its values (%s) can only be %s (%s)", values, unitNames[e.unit], strings.Join(against, "; "))
	case 0:
		m.ask = fmt.Sprintf("the values of column %s (%s) fit no unit of time: they may be in several, or no %s", quoteName(e.name), values, roleInfo[e.role].name)
		m.suggestUnits(e, seconds, millis)
	default:
		var names []string
		for _, u := range left {
			names = append(names, unitNames[u])
		}
		m.ask = fmt.Sprintf("the unit of column %s is not in its name, and its values (%s) can be %s", quoteName(e.name), values, strings.Join(names, " or "))
		m.suggestUnits(e, left...)
	}
}

// median returns the middle of the values above 0. It reports false if there are none.
func median(v []float64) (float64, bool) {
	v = slices.DeleteFunc(slices.Clone(v), func(x float64) bool { return x <= 0 })
	if len(v) == 0 {
		return 0, false
	}
	slices.Sort(v)
	return v[len(v)/2], true
}

// implausible returns why the values cannot be those of a role in a unit, or "".
func (s *sample) implausible(m *mapping, e *entry, c class, unit float64) string {
	values := s.profiles[e.field].values
	mid, ok := median(values)
	if !ok {
		return ""
	}
	if c == stamp || c == stamps {
		return "" // any stamp is plausible by itself
	}
	mid *= unit
	if e.role == tpot || e.role == gaps {
		switch {
		case mid < minToken:
			return "under 100 µs a token"
		case mid > maxToken:
			return "over 10 s a token"
		}
		return ""
	}
	switch {
	case mid < minSpan:
		return "under 1 ms"
	case mid > maxSpan:
		return "over an hour"
	}
	if e.role == e2e {
		return s.perToken(m, values, unit)
	}
	if o := m.of(e2e); o != nil && e.role == ttft {
		return s.mostlyAbove(o, values, unit)
	}
	return ""
}

// perToken returns why latencies do not fit the numbers of output tokens, or "".
func (s *sample) perToken(m *mapping, values []float64, unit float64) string {
	mid, ok := median(s.perOutputToken(m, values))
	switch mid *= unit; {
	case ok && mid < minToken:
		return "under 100 µs a token"
	case ok && mid > maxToken:
		return "over 10 s a token"
	}
	return ""
}

// mostlyAbove returns why times to first token do not fit latencies of a known unit, or
// "".
func (s *sample) mostlyAbove(o *entry, values []float64, unit float64) string {
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

// unitByStamps finds the unit in which latencies equal the times between stamps.
func (s *sample) unitByStamps(m *mapping, e *entry) (unit, string) {
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
			if between < 0.02 { // too short to tell units apart
				continue
			}
			n++
			if d := float64(v*inSeconds[u]) - between; max(d, -d) <= float64(0.02*between)+2e-3 {
				hits++
			}
		}
		if n >= 3 && 10*hits >= 9*n {
			return u, "the times between " + quoteName(start.name) + " and " + quoteName(end.name)
		}
	}
	return noUnit, ""
}

// perOutputToken divides latencies by the numbers of output tokens, where these are
// known.
func (s *sample) perOutputToken(m *mapping, values []float64) (out []float64) {
	o := m.of(output)
	if o == nil {
		return nil
	}
	tokens := s.profiles[o.field].values
	for i, v := range values[:min(len(values), len(tokens))] {
		if v > 0 && tokens[i] >= 4 {
			out = append(out, v/tokens[i])
		}
	}
	return out
}

// hasDecimalCommas reports whether commas in numbers can only be decimal commas: in some
// column of times a comma stands before more or fewer than three digits, and no used
// column contradicts it with a second comma, a comma in a number of tokens, or a point.
// Other columns may hold anything with a comma: the numbers of two GPUs, a place.
func (s *sample) hasDecimalCommas(given []assignment) bool {
	some := false
	for i := range s.profiles {
		p := &s.profiles[i]
		times, counts := s.mayHold(i, given)
		if (times || counts) && (p.groups > 0 || p.points > 0) || counts && p.commas > 0 {
			return false
		}
		some = some || times && p.decimals > 0
	}
	return some
}

// mayHold reports whether column i may hold times, or counts.
func (s *sample) mayHold(i int, given []assignment) (times, counts bool) {
	for _, a := range given {
		if s.index(a.column) == i {
			return timed(a.role), roleInfo[a.role].class == count
		}
	}
	p := &s.profiles[i]
	for r := noRole + 1; r < roles; r++ {
		if matchName(r, p.joined, p.levels) >= 0 {
			times = times || timed(r)
			counts = counts || roleInfo[r].class == count
		}
	}
	return times, counts
}
