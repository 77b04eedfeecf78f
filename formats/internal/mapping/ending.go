package mapping

import (
	"fmt"
	"slices"
)

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
