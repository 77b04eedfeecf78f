package mapping

import (
	"fmt"
	"slices"
	"strings"

	"servescope/formats/internal/column"
)

func (s *sample) learn(given []assignment) *mapping {
	m := new(mapping)
	s.fill()
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
			m.ask += "; in column " + label(s.names[k]) + " " + tooCoarse
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

// infer says what the columns mean.
func (s *sample) infer(m *mapping) {
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

// assign adds what the caller says to the mapping.
func (s *sample) assign(m *mapping, list []assignment) {
	for _, a := range list {
		k := s.index(a.column)
		if k < 0 {
			m.ask = fmt.Sprintf("there is no column %s for %s", label(a.column), about[a.role].name)
			m.fix = "the columns are " + s.columns()
			return
		}
		e := entry{role: a.role, field: k, name: s.names[k], unit: a.unit, order: a.order, given: true, why: "as given"}
		m.entries = append(m.entries, e)
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

// far is what tells against a column of a name as good as that of another: it is
// around the line that holds the record, or in a text beside columns of the table.
func (s *sample) far(i int) int {
	n := s.wrap(i)
	switch {
	case n == 0 && s.lined:
		return 1e5
	case n > 0 && !isLine(last([]byte(s.names[i][:n-1]))):
		return 1e3
	}
	return 0
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

// envelope tells whether what is measured is in the texts of columns: a record without
// such a text, or with another, is none of a request.
func (s *sample) envelope(m *mapping) {
	for i := range m.entries {
		e := &m.entries[i]
		if e.role == arrival || about[e.role].class == text && e.role != event {
			continue
		}
		if !s.nested(e) && e.role != finished {
			m.wrapped = false
			return
		}
		m.wrapped = m.wrapped || s.nested(e)
	}
}

// keyed tells whether the only record is an object of records by their keys, as data
// frames are written by their index: several columns differ from that of the entry in
// the level that holds it alone.
func (s *sample) keyed(e *entry) bool {
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
	return alike > 2 // two may be sides of one
}

// around takes the level that holds a column out of its name.
func around(name string) (above, leaf string) {
	k := strings.LastIndexByte(name, '.')
	if k < 0 {
		return name, ""
	}
	return name[:strings.LastIndexByte(name[:k], '.')+1], name[k+1:]
}

// unclear asks for records that have one value of a column each.
func (s *sample) unclear(m *mapping, e *entry) {
	k := strings.LastIndex(e.name, "[].")
	if k < 0 {
		m.ask = "the file is one object, in which several have a value as that of column " + label(e.name) + ": what is a request is not known"
		m.fix = "write each request as a line of its own, or all as a list: df.to_json(FILE, orient='records')"
		return
	}
	list := e.name[:k]
	m.ask = "records have several values of column " + label(e.name) + ": what is a request is not known"
	m.fix = "write the elements of " + label(list) + " as lines of their own"
}

// eventShape decides whether a record is an event: its names are those of events,
// at least two of them, and requests occur more than once.
func (s *sample) eventShape(m *mapping) {
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

// endStamp tells whether the only stamp is that of the line of a log, which is
// written when the request has ended.
func (s *sample) endStamp(m *mapping) {
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
		if s.lined && s.wrap(a.field) == 0 && slices.ContainsFunc(m.entries, func(e entry) bool { return s.nested(&e) }) {
			writer = "of the line that holds the record"
		}
		if writer == "" {
			m.notes = append(m.notes, fmt.Sprintf("column %s is taken for the arrival; if it is written when a request ends, say %s", label(a.name), option(assign(finished, a.name, noUnit))))
			return
		}
		m.logged = true
		a.role, a.why = finished, a.why+", "+writer+", written when the request has ended"
	}
}

// example is the option that makes the column that is most likely one the latency
// of requests, or "" where no column has numbers. Which unit it has is for the
// caller to say.
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
	text := about[e2e].name + "=" + s.names[best]
	if score < sureSpan {
		text += ":UNIT"
	}
	text = option(text)
	if score < sureSpan {
		text += " with UNIT s, ms, us or ns"
	}
	return text
}

const sureSpan = 3 // its type is a duration

// likely tells how likely a column holds a latency: 0 not at all.
func (s *sample) likely(i int) int {
	p := &s.profiles[i]
	if len(s.names[i]) > 60 || strings.ContainsAny(s.names[i], ",\n\r") {
		return 0
	}
	for r := noRole + 1; r < roles; r++ {
		if match(r, p.joined, p.levels) >= 0 {
			return 0 // it is something else
		}
	}
	if f := p.typed; f != nil {
		switch {
		case f.Kind == column.Int && f.Step > 0:
			if p.kept(span) {
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
	case !p.most(p.numbers) || p.low <= 0 || p.epoch() != noUnit:
		return 0
	case p.low == p.high && p.numbers > 2: // a version, a level
		return 0
	case p.whole < p.numbers || p.named != noUnit:
		return 2
	}
	return 1
}
