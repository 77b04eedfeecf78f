package mapping

import (
	"fmt"
	"slices"
	"strings"

	"servescope/formats/internal/column"
)

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

// stated tells whether the unit is one that a mapping states: neither the values
// nor the type of the column say it.
func (e *entry) stated() bool {
	return timed(e.role) && e.unit != noUnit && e.unit != written && e.typed == nil
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

// local tells whether stamps may state no zone: which of the two turns of an hour
// is meant depends on the rows before.
func (m *mapping) local() bool {
	return slices.ContainsFunc(m.entries, func(e entry) bool {
		return e.unit == written || e.typed != nil && e.typed.Instant && !e.typed.UTC
	})
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

// comma asks for the numbers of a column in another form.
func (m *mapping) comma(e *entry) {
	m.ask = fmt.Sprintf("column %s has numbers with a comma (1,5), which may part decimals or thousands", label(e.name))
	m.fix = "export the numbers with a point, and without separators of thousands"
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

// remarks tells how the columns were understood.
func (m *mapping) remarks() []string {
	var out []string
	for i := range m.entries {
		e := &m.entries[i]
		text := fmt.Sprintf("%s is column %s", about[e.role].name, label(e.name))
		if e.stated() {
			text += " in " + unitNames[e.unit]
		}
		out = append(out, text+" ("+e.why+")")
	}
	return append(out, m.notes...)
}

// told returns the mapping as the caller would give it, and what is not known.
func (m *mapping) told() (out []string, ask string) {
	for i := range m.entries {
		e := &m.entries[i]
		text := about[e.role].name + "=" + e.name
		if e.stated() {
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
