package mapping

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"servescope/formats/internal/column"
	"servescope/formats/internal/records"
)

// sampled is how many records of the head tell what the columns mean.
const sampled = 500

// entry says what a column means, and why.
type entry struct {
	role   role
	field  int
	name   string // of the column
	unit   unit
	order  order         // of dates of three numbers
	epoch  bool          // stamps since 1970
	given  bool          // by the caller
	typed  *column.Field // whose type says the unit, or nil
	why    string
	digits int
}

// mapping is what the columns of a table mean.
type mapping struct {
	entries []entry
	events  bool // a record is an event
	logged  bool // records are lines of a log, each with its stamp, whatever it says
	wrapped bool // records are in the texts of others, which may hold anything else
	notes   []string
	doubts  []string // what is read as it is said, and can hardly be
	ask     string   // what is not known, and must be
	fix     string
}

func (m *mapping) of(r role) *entry {
	for i := range m.entries {
		if m.entries[i].role == r {
			return &m.entries[i]
		}
	}
	return nil
}

func (m *mapping) has(list ...role) bool {
	return slices.ContainsFunc(list, func(r role) bool { return m.of(r) != nil })
}

// metrics tells whether the roles yield a metric.
func (m *mapping) metrics() bool {
	return m.has(ttft, e2e, gaps, times) || m.has(arrival, sent) && m.has(firstToken, lastToken, finished) ||
		m.has(firstToken) && m.has(lastToken, finished) || m.has(tpot) && m.has(output) || m.events
}

// sample is the head of a table.
type sample struct {
	*table
	profiles []profile
	records  int
}

// profileAll reads the sampled records of a head.
func (s *sample) profileAll(in *records.Input) {
	for s.records < sampled {
		switch s.read(in) {
		case ended:
			return
		case other:
		default:
			s.take()
		}
	}
}

func (s *sample) take() {
	if s.rec.ragged || s.rec.last && s.records > 0 {
		return
	}
	if n := s.width - 1; s.flat && s.rec.last && n >= 0 {
		s.rec.cells[n].set = false // it may be cut off: 1340,5 of 1340,500
	}
	if s.typed != nil { // of many columns, few may be wanted
		for _, i := range s.typed.want {
			s.profiles[i].add(s.records, s.rec.cells[i])
		}
		s.fill()
		for i := s.width; i < len(s.profiles); i++ {
			s.profiles[i].add(s.records, s.rec.cells[i])
		}
		s.records++
		return
	}
	s.fill()
	for i := range s.profiles {
		s.profiles[i].add(s.records, s.rec.cells[i])
	}
	s.records++
}

// fill makes the profiles of columns that have none.
func (s *sample) fill() {
	for len(s.profiles) < len(s.names) {
		p := profile{other: (*profile).otherDate}
		i := len(s.profiles)
		p.joined, p.levels, p.named = words(s.names[i][max(s.wrap(i), len(s.base)):])
		p.label = match(event, p.joined, p.levels) >= 0 || match(id, p.joined, p.levels) >= 0
		p.state = match(status, p.joined, p.levels) >= 0
		s.profiles = append(s.profiles, p)
	}
}

// guess finds the roles of columns that have none, the best names first.
func (s *sample) guess(m *mapping) {
	for r := noRole + 1; r < roles; r++ {
		if m.of(r) != nil {
			continue
		}
		best, field := -1, -1
		var others []string
		for i := range s.profiles {
			p := &s.profiles[i]
			k := match(r, p.joined, p.levels)
			if k < 0 || s.isPartition(i) && (about[r].class != text || r == id || r == event) || slices.ContainsFunc(m.entries, func(e entry) bool { return e.field == i }) || !p.fits(about[r].class) || r == stream && !p.half(p.flags) || about[r].class == stamp && p.lasts() {
				continue
			}
			if r == status && !p.half(p.statuses) {
				k += 1e6 // the level of a log line may be its status, too
			}
			k += s.far(i)
			if best < 0 || k < best {
				if field >= 0 {
					others = append(others, s.names[field])
				}
				best, field = k, i
			} else {
				others = append(others, s.names[i])
			}
		}
		if field < 0 {
			continue
		}
		why := "by its name"
		if s.isPartition(field) {
			why += ", of the directories of the file"
		}
		for _, o := range others[:min(len(others), 3)] {
			why += ", rather than " + label(o)
		}
		m.entries = append(m.entries, entry{role: r, field: field, name: s.names[field], why: why})
	}
}

// unused notes columns whose names are those of a role and whose values are not.
func (s *sample) unused(m *mapping) {
	for i := range s.profiles {
		p := &s.profiles[i]
		if s.isPartition(i) || slices.ContainsFunc(m.entries, func(e entry) bool { return e.field == i }) {
			continue
		}
		for r := noRole + 1; r < roles; r++ {
			if p.typed != nil && p.typed.Kind == column.None && match(r, p.joined, p.levels) >= 0 {
				m.notes = append(m.notes, fmt.Sprintf("column %s is not used: by its name it is %s, but its type is not read", label(s.names[i]), about[r].name))
				break
			}
			if c := about[r].class; c != text && p.n > 0 && match(r, p.joined, p.levels) >= 0 && !p.fits(c) && m.of(r) == nil {
				why := "but not by its values"
				if p.coarse() && (c == stamp || c == stamps) {
					why = "but its " + tooCoarse
				}
				m.notes = append(m.notes, fmt.Sprintf("column %s is not used: by its name it is %s, %s", label(s.names[i]), about[r].name, why))
				break
			}
		}
	}
}

// label is a column's name for people, who may have written a page into it.
func label(name string) string {
	if len(name) > 60 {
		name = name[:57] + "…"
	}
	return strconv.Quote(name)
}

// infer says what the columns mean.
func (s *sample) infer(m *mapping) {
	if s.comma {
		m.notes = append(m.notes, "numbers have a decimal comma: some have other than three digits behind it")
	}
	s.guess(m)
	s.unused(m)
	s.eventShape(m)
	s.idleDates(m)
	s.endStamp(m)
	s.envelope(m)
	slices.SortStableFunc(m.entries, func(a, b entry) int { return int(a.role) - int(b.role) })
	for i := 0; i < len(m.entries); i++ {
		e := &m.entries[i]
		if about[e.role].class != text && (s.several(e.field) || !e.given && s.keyed(e)) {
			s.unclear(m, e)
			return
		}
		switch c := about[e.role].class; c {
		case stamp, span, spans, stamps:
			s.unit(m, e, c)
			if m.ask != "" && m.events && c == span && !e.given { // events have stamps
				m.notes = append(m.notes, fmt.Sprintf("column %s is not used: %s", label(e.name), m.ask))
				m.ask, m.fix = "", ""
				m.entries = slices.Delete(m.entries, i, i+1)
				i--
				continue
			}
			if u := e.unit; m.ask == "" && c != stamp && c != stamps && u != noUnit && u != written {
				if why := s.absurd(m, e, c, inSeconds[u]); why != "" {
					m.doubts = append(m.doubts, fmt.Sprintf("column %s, read in %s, is %s for most records", label(e.name), unitNames[u], why))
				}
			}
		case count:
			p := &s.profiles[e.field]
			if p.commas > 0 {
				m.comma(e)
			}
			if !e.given && (strings.HasSuffix(p.joined, "_length") || strings.HasSuffix(p.joined, "_len")) {
				m.doubts = append(m.doubts, fmt.Sprintf("column %s is taken for a number of tokens, not of characters", label(e.name)))
			}
		}
		if m.ask != "" {
			return
		}
	}
	m.oneClock()
	if s.otherClock(m); m.ask == "" {
		s.beforehand(m)
	}
	for i := range m.entries { // numbers are written without zeros at their end
		for j := range m.entries {
			if a, b := &m.entries[i], &m.entries[j]; a.unit == b.unit && about[a.role].class == stamp && about[b.role].class == stamp {
				a.digits = max(a.digits, b.digits)
			}
		}
	}
}

// oneClock drops stamps that are on another clock than the first.
func (m *mapping) oneClock() {
	var first *entry
	m.entries = slices.DeleteFunc(m.entries, func(e entry) bool {
		if about[e.role].class != stamp {
			return false
		}
		if first == nil {
			keep := e
			first = &keep
		}
		if first.epoch != e.epoch {
			m.notes = append(m.notes, fmt.Sprintf("column %s is not used: only one of it and %s has times since 1970", label(e.name), label(first.name)))
		}
		return first.epoch != e.epoch
	})
}

// unit finds the unit of a column of times.
func (s *sample) unit(m *mapping, e *entry, c class) {
	p := &s.profiles[e.field]
	e.digits = p.digits
	if p.typed != nil && p.typed.Step > 0 {
		s.byType(m, e, c)
		return
	}
	stamped := c == stamp || c == stamps
	if stamped {
		epoch := p.epoch()
		e.epoch = epoch != noUnit || p.dates > 0 && p.half(p.dates+p.empty)
		switch {
		case p.dates > 0 && p.half(p.dates+p.empty):
			e.unit, e.why = written, e.why+"; dates"
			s.dated(m, e)
			return
		case p.coarse():
			m.ask, m.fix = fmt.Sprintf("column %s cannot be used: its %s", label(e.name), tooCoarse), "export it with all digits, as 64-bit numbers"
			return
		case e.unit != noUnit: // given
			if e.epoch = epoch == e.unit; epoch != noUnit && !e.epoch {
				e.why += ", though its values could be times since 1970 in " + unitNames[epoch]
			}
			return
		case epoch == noUnit && p.most(p.epochal()):
			m.ask = fmt.Sprintf("column %s has times since 1970 in several units (%s)", label(e.name), p.span())
			m.fix = "write a column in one unit"
			return
		case epoch != noUnit && p.named != noUnit && p.named != epoch:
			m.ask = fmt.Sprintf("the name of column %s says %s, but its values (%s) are times since 1970 in %s", label(e.name), unitNames[p.named], p.span(), unitNames[epoch])
			m.suggest(e, p.named, epoch)
			return
		case epoch != noUnit:
			e.unit, e.why = epoch, e.why+"; its values are times since 1970 in "+unitNames[epoch]
			return
		}
	}
	switch {
	case e.unit != noUnit:
	case p.commas > 0:
		m.comma(e)
	case p.half(p.durations):
		e.unit, e.why = written, e.why+"; the values state their unit"
	case p.named != noUnit:
		e.unit, e.why = p.named, e.why+"; the name says "+unitNames[p.named]
	case p.n == 0:
		m.ask = fmt.Sprintf("the unit of column %s is not in its name, and it has no values", label(e.name))
		m.suggest(e, seconds, millis)
	case (p.joined == "request_time" || p.joined == "upstream_response_time") && p.thirds == p.numbers:
		e.unit, e.why = seconds, e.why+"; nginx writes seconds with three digits"
	case !s.lines && s.isSlog() && p.whole == p.numbers && p.high >= 1e5 && !stamped:
		e.unit, e.why = nanos, e.why+"; log/slog of Go writes a time.Duration as whole ns"
	default:
		s.eliminate(m, e, c)
	}
}

// isSlog tells whether the records have what log/slog writes first.
func (s *sample) isSlog() bool {
	for i := range max(0, len(s.names)-3) {
		n := s.wrap(i)
		if (i == 0 && !s.flat || n > 0 && s.wrap(max(0, i-1)) == 0) && s.names[i][n:] == "time" && s.names[i+1][min(n, len(s.names[i+1])):] == "level" && s.names[i+2][min(n, len(s.names[i+2])):] == "msg" {
			return true
		}
	}
	return false
}

func (p *profile) span() string {
	return strconv.FormatFloat(p.low, 'g', 6, 64) + " … " + strconv.FormatFloat(p.high, 'g', 6, 64)
}

// suggest sets the fix to a choice of units.
func (m *mapping) suggest(e *entry, units ...unit) {
	m.fix = "say"
	for i, u := range units {
		if i > 0 {
			m.fix += " or"
		}
		m.fix += " " + option(assign(e.role, e.name, u))
	}
}
