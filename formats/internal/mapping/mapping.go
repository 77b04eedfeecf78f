package mapping

import (
	"fmt"
	"slices"
	"strings"

	"servescope/formats/internal/column"
)

// entry is the column that has a role, and the reason for that.
type entry struct {
	role   role
	field  int
	name   string // the name of the column
	unit   unit
	order  order         // the order of day and month
	epoch  bool          // stamps are since 1970
	given  bool          // the caller gave the role
	typed  *column.Field // the column, if its type says the unit
	why    string
	digits int
}

// hasStatedUnit reports whether the mapping must state the unit, because neither the
// values nor the type of the column do.
func (e *entry) hasStatedUnit() bool {
	return timed(e.role) && e.unit != noUnit && e.unit != written && e.typed == nil
}

// mapping is the roles of the columns of a table.
type mapping struct {
	entries []entry
	events  bool // a record is an event
	logged  bool // records are lines of a log; some are not of requests
	wrapped bool // requests lie within texts, which may hold other things
	notes   []string
	doubts  []string // assumptions that are hardly plausible
	ask     string   // the question without whose answer nothing can be read
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

// metrics reports whether the roles yield at least one metric.
func (m *mapping) metrics() bool {
	return m.has(ttft, e2e, gaps, times) || m.has(arrival, sent) && m.has(firstToken, lastToken, finished) ||
		m.has(firstToken) && m.has(lastToken, finished) || m.has(tpot) && m.has(output) || m.events
}

// local reports whether some stamps may lack a zone. In the hour that daylight saving
// time repeats, their time depends on the rows before.
func (m *mapping) local() bool {
	return slices.ContainsFunc(m.entries, func(e entry) bool {
		return e.unit == written || e.typed != nil && e.typed.Instant && !e.typed.UTC
	})
}

// oneClock drops stamps that are on another clock than the first one.
func (m *mapping) oneClock() {
	var first *entry
	m.entries = slices.DeleteFunc(m.entries, func(e entry) bool {
		if roleInfo[e.role].class != stamp {
			return false
		}
		if first == nil {
			keep := e
			first = &keep
		}
		if first.epoch != e.epoch {
			m.notes = append(m.notes, fmt.Sprintf("column %s is not used: only one of it and %s has times since 1970", quoteName(e.name), quoteName(first.name)))
		}
		return first.epoch != e.epoch
	})
}

// askComma asks for the numbers of a column in another form.
func (m *mapping) askComma(e *entry) {
	m.ask = fmt.Sprintf("column %s has numbers with a comma (1,5), which may part decimals or thousands", quoteName(e.name))
	m.fix = "export the numbers with a point, and without separators of thousands"
}

// suggestUnits sets the fix to a choice of units.
func (m *mapping) suggestUnits(e *entry, units ...unit) {
	m.fix = "say"
	for i, u := range units {
		if i > 0 {
			m.fix += " or"
		}
		m.fix += " " + mapOption(assign(e.role, e.name, u))
	}
}

// describe returns a note for each role, with its column, unit and reason.
func (m *mapping) describe() []string {
	var out []string
	for i := range m.entries {
		e := &m.entries[i]
		text := fmt.Sprintf("%s is column %s", roleInfo[e.role].name, quoteName(e.name))
		if e.hasStatedUnit() {
			text += " in " + unitNames[e.unit]
		}
		out = append(out, text+" ("+e.why+")")
	}
	return append(out, m.notes...)
}

// assignments returns the mapping as the caller would give it, and the question that is
// open.
func (m *mapping) assignments() (out []string, ask string) {
	for i := range m.entries {
		e := &m.entries[i]
		text := roleInfo[e.role].name + "=" + e.name
		if e.hasStatedUnit() {
			text += ":" + unitNames[e.unit]
		} else if e.order != noOrder {
			text += ":" + orderNames[e.order]
		}
		out = append(out, text)
	}
	if m.ask != "" {
		ask = strings.TrimSuffix(m.ask+": "+m.fix, ": ")
	}
	return out, ask
}
