package mapping

import (
	"fmt"
	"slices"
	"strings"

	"servescope/formats/internal/column"
)

// learn finds the mapping: roles as given, then roles by names and values.
func (s *sample) learn(given []assignment) *mapping {
	m := new(mapping)
	s.addProfiles()
	if s.assign(m, given); m.ask == "" {
		s.infer(m)
	}
	if s.typed != nil && s.records == 0 && len(s.typed.from.Damage()) == 0 {
		m.ask, m.fix = "the table has no rows", ""
	}
	if m.ask == "" && !m.metrics() {
		m.ask, m.fix = "no column is known to hold a latency or stamps of requests", "say which with --map ROLE=COLUMN:UNIT"
		if len(s.names) > 0 {
			m.ask += "; there are " + s.columns()
		}
		if k := slices.IndexFunc(s.profiles, func(p profile) bool { return p.coarse() }); k >= 0 {
			m.ask += "; in column " + quoteName(s.names[k]) + " " + tooCoarse
		}
		if s.typed != nil && len(s.typed.from.Damage()) > 0 {
			m.ask += "; the first rows cannot be read: " + s.typed.from.Damage()[0].Msg
		}
		if example := s.example(); example != "" {
			m.fix += ", as in " + example + "; roles are " + roleNames()
		}
	}
	return m
}

// infer finds the roles and units of all columns.
func (s *sample) infer(m *mapping) {
	if s.comma {
		m.notes = append(m.notes, "numbers have a decimal comma: some have more or fewer than three digits after it")
	}
	s.guess(m)
	s.noteUnused(m)
	s.findEvents(m)
	s.idleDates(m)
	s.findEndStamp(m)
	s.findWrapped(m)
	slices.SortStableFunc(m.entries, func(a, b entry) int { return int(a.role) - int(b.role) })
	for i := 0; i < len(m.entries); i++ {
		e := &m.entries[i]
		if roleInfo[e.role].class != text && (s.several(e.field) || !e.given && s.isKeyed(e)) {
			s.askForRecords(m, e)
			return
		}
		switch c := roleInfo[e.role].class; c {
		case stamp, span, spans, stamps:
			s.findUnit(m, e, c)
			if m.ask != "" && m.events && c == span && !e.given { // events have stamps and need no latency
				m.notes = append(m.notes, fmt.Sprintf("column %s is not used: %s", quoteName(e.name), m.ask))
				m.ask, m.fix = "", ""
				m.entries = slices.Delete(m.entries, i, i+1)
				i--
				continue
			}
			if u := e.unit; m.ask == "" && c != stamp && c != stamps && u != noUnit && u != written {
				if why := s.implausible(m, e, c, inSeconds[u]); why != "" {
					m.doubts = append(m.doubts, fmt.Sprintf("column %s, read in %s, is %s for most records", quoteName(e.name), unitNames[u], why))
				}
			}
		case count:
			p := &s.profiles[e.field]
			if p.commas > 0 {
				m.askComma(e)
			}
			if !e.given && (strings.HasSuffix(p.joined, "_length") || strings.HasSuffix(p.joined, "_len")) {
				m.doubts = append(m.doubts, fmt.Sprintf("column %s is taken for a number of tokens, not of characters", quoteName(e.name)))
			}
		}
		if m.ask != "" {
			return
		}
	}
	m.oneClock()
	if s.askClock(m); m.ask == "" {
		s.askLatencies(m)
	}
	for i := range m.entries { // a number is written without trailing zeros
		for j := range m.entries {
			if a, b := &m.entries[i], &m.entries[j]; a.unit == b.unit && roleInfo[a.role].class == stamp && roleInfo[b.role].class == stamp {
				a.digits = max(a.digits, b.digits)
			}
		}
	}
}

// assign adds the caller's assignments to the mapping.
func (s *sample) assign(m *mapping, list []assignment) {
	for _, a := range list {
		k := s.index(a.column)
		if k < 0 {
			m.ask = fmt.Sprintf("there is no column %s for %s", quoteName(a.column), roleInfo[a.role].name)
			m.fix = "the columns are " + s.columns()
			return
		}
		e := entry{role: a.role, field: k, name: s.names[k], unit: a.unit, order: a.order, given: true, why: "as given"}
		m.entries = append(m.entries, e)
	}
}

// guess finds columns for the roles that have none, by the best names.
func (s *sample) guess(m *mapping) {
	for r := noRole + 1; r < roles; r++ {
		if m.of(r) != nil {
			continue
		}
		best, field := -1, -1
		var others []string
		for i := range s.profiles {
			p := &s.profiles[i]
			k := matchName(r, p.joined, p.levels)
			if k < 0 || s.isPartition(i) && (roleInfo[r].class != text || r == id || r == event) || slices.ContainsFunc(m.entries, func(e entry) bool { return e.field == i }) || !p.fits(roleInfo[r].class) || r == stream && !p.mostly(p.flags) || roleInfo[r].class == stamp && p.isLatency() {
				continue
			}
			if r == status && !p.mostly(p.statuses) {
				k += 1e6 // another column, such as the level of a log line, may be the better status
			}
			k += s.penalty(i)
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
			why += ", rather than " + quoteName(o)
		}
		m.entries = append(m.entries, entry{role: r, field: field, name: s.names[field], why: why})
	}
}

// penalty makes a column lose against another of an equally good name: columns around the
// line that holds the record, and columns in a text beside columns of the table.
func (s *sample) penalty(i int) int {
	n := s.wrap(i)
	switch {
	case n == 0 && s.inLine:
		return 1e5
	case n > 0 && !isLine(lastName([]byte(s.names[i][:n-1]))):
		return 1e3
	}
	return 0
}

// noteUnused notes columns that have the name of a role but not its values.
func (s *sample) noteUnused(m *mapping) {
	for i := range s.profiles {
		p := &s.profiles[i]
		if s.isPartition(i) || slices.ContainsFunc(m.entries, func(e entry) bool { return e.field == i }) {
			continue
		}
		for r := noRole + 1; r < roles; r++ {
			if p.typed != nil && p.typed.Kind == column.None && matchName(r, p.joined, p.levels) >= 0 {
				m.notes = append(m.notes, fmt.Sprintf("column %s is not used: by its name it is %s, but its type is not read", quoteName(s.names[i]), roleInfo[r].name))
				break
			}
			if c := roleInfo[r].class; c != text && p.n > 0 && matchName(r, p.joined, p.levels) >= 0 && !p.fits(c) && m.of(r) == nil {
				why := "but not by its values"
				if p.coarse() && (c == stamp || c == stamps) {
					why = "but its " + tooCoarse
				}
				m.notes = append(m.notes, fmt.Sprintf("column %s is not used: by its name it is %s, %s", quoteName(s.names[i]), roleInfo[r].name, why))
				break
			}
		}
	}
}

// findWrapped finds out whether all measured columns lie within texts. A record with
// another text, or none, is then not a request.
func (s *sample) findWrapped(m *mapping) {
	for i := range m.entries {
		e := &m.entries[i]
		if e.role == arrival || roleInfo[e.role].class == text && e.role != event {
			continue
		}
		if !s.nested(e) && e.role != finished {
			m.wrapped = false
			return
		}
		m.wrapped = m.wrapped || s.nested(e)
	}
}

// isKeyed reports whether the only record is an object of records by their keys, as data
// frames write an index: several columns have the same name in sibling objects.
func (s *sample) isKeyed(e *entry) bool {
	if s.records != 1 || s.flat || s.typed != nil {
		return false
	}
	above, leaf := around(e.name)
	alike := 0
	for _, name := range s.names {
		if a, l := around(name); l != "" && a == above && l == leaf {
			alike++
		}
	}
	return alike > 2 // two may be the two sides of one request
}

// around returns what is above the object that holds a column, and the column's name in
// it.
func around(name string) (above, leaf string) {
	k := strings.LastIndexByte(name, '.')
	if k < 0 {
		return name, ""
	}
	return name[:strings.LastIndexByte(name[:k], '.')+1], name[k+1:]
}

// askForRecords asks for records with one value of the column each.
func (s *sample) askForRecords(m *mapping, e *entry) {
	k := strings.LastIndex(e.name, "[].")
	if k < 0 {
		m.ask = "the file is one object, in which several have a value as that of column " + quoteName(e.name) + ": what is a request is not known"
		m.fix = "write each request as a line of its own, or all as a list: df.to_json(FILE, orient='records')"
		return
	}
	list := e.name[:k]
	m.ask = "records have several values of column " + quoteName(e.name) + ": what is a request is not known"
	m.fix = "write the elements of " + quoteName(list) + " as lines of their own"
}

// findEvents decides whether records are events: they have names of at least two kinds,
// and ids that occur more than once.
func (s *sample) findEvents(m *mapping) {
	ev, who := m.of(event), m.of(id)
	if ev != nil && who != nil && m.has(arrival) {
		var kinds [aborts + 1]int
		for _, t := range s.profiles[ev.field].texts {
			kinds[kindOf(t)]++
		}
		distinct := 0
		for _, n := range kinds[begins:] {
			if n > 0 {
				distinct++
			}
		}
		ids := slices.Clone(s.profiles[who.field].texts)
		slices.Sort(ids)
		m.events = distinct >= 2 && 2*kinds[noKind] <= s.records && len(slices.Compact(ids)) < s.records || ev.given
	}
	m.entries = slices.DeleteFunc(m.entries, func(e entry) bool {
		switch e.role {
		case event:
			return !m.events
		case sent, firstToken, lastToken, finished, tpot, gaps, times:
			return m.events
		}
		return false
	})
}

// findEndStamp makes the only stamp the end of the request where it is that of a log
// line, which is written when the request has ended.
func (s *sample) findEndStamp(m *mapping) {
	a := m.of(arrival)
	if a == nil || a.given || m.events || m.has(firstToken, lastToken, finished, times) || !m.has(e2e, ttft) {
		return
	}
	switch name := s.profiles[a.field].joined; name {
	case "timestamp", "ts", "time", "datetime", "date", "date_time", "asctime", "time_local", "time_iso8601", "msec", "logged_at", "log_time", "event_time", "event_timestamp", "at":
		writer := ""
		for i := range s.profiles {
			switch s.profiles[i].joined {
			case "level", "levelname", "severity", "log_level":
				writer = "a logger's line"
			case "remote_addr", "upstream_response_time", "body_bytes_sent":
				writer = "an access log of nginx"
			}
		}
		if name == "time_local" || name == "time_iso8601" || name == "msec" {
			writer = "an access log of nginx"
		}
		if s.lines && name == "asctime" {
			writer = "the stamp in front of a line"
		}
		if s.names[a.field] == "@timestamp" {
			writer = "a log line's stamp"
		}
		if s.inLine && s.wrap(a.field) == 0 && slices.ContainsFunc(m.entries, func(e entry) bool { return s.nested(&e) }) {
			writer = "of the line that holds the record"
		}
		if writer == "" {
			m.notes = append(m.notes, fmt.Sprintf("column %s is taken for the arrival; if it is written when a request ends, say %s", quoteName(a.name), mapOption(assign(finished, a.name, noUnit))))
			return
		}
		m.logged = true
		a.role, a.why = finished, a.why+", "+writer+", written when the request has ended"
	}
}

// example returns the --map option for the column that is most likely a latency, or "" if
// no column has numbers. The caller must fill in the unit.
func (s *sample) example() string {
	best, score := -1, 0
	for i := range s.profiles {
		if n := s.likely(i); n > score {
			best, score = i, n
		}
	}
	if best < 0 {
		return ""
	}
	text := roleInfo[e2e].name + "=" + s.names[best]
	if score < sureSpan {
		text += ":UNIT"
	}
	text = mapOption(text)
	if score < sureSpan {
		text += " with UNIT s, ms, us or ns"
	}
	return text
}

const sureSpan = 3 // the score of a column whose type is a duration

// likely returns how likely a column holds a latency; 0 is not at all.
func (s *sample) likely(i int) int {
	p := &s.profiles[i]
	if len(s.names[i]) > 60 || strings.ContainsAny(s.names[i], ",\n\r") {
		return 0
	}
	for r := noRole + 1; r < roles; r++ {
		if matchName(r, p.joined, p.levels) >= 0 {
			return 0 // it has another role
		}
	}
	if f := p.typed; f != nil {
		switch {
		case f.Kind == column.Int && f.Step > 0:
			if p.fitsType(span) {
				return sureSpan
			}
			return 0
		case f.Kind == column.Float || f.Kind == column.Text && f.Number || f.Scale > 0:
			return 2
		case f.Kind == column.Int:
			return 1
		}
		return 0
	}
	switch {
	case !p.nearlyAll(p.numbers) || p.low <= 0 || p.epoch() != noUnit:
		return 0
	case p.low == p.high && p.numbers > 2: // a version or a level
		return 0
	case p.whole < p.numbers || p.nameUnit != noUnit:
		return 2
	}
	return 1
}
