package mapping

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// assignment is one role that the caller gives a column.
type assignment struct {
	role   role
	column string
	unit   unit
	order  order
}

// parseMap reads the caller's assignments, ROLE=COLUMN or ROLE=COLUMN:UNIT.
func parseMap(list []string) ([]assignment, error) {
	var out []assignment
	for _, text := range list {
		name, column, ok := strings.Cut(text, "=")
		if !ok || name == "" || column == "" {
			return nil, fmt.Errorf("mapping %q: write ROLE=COLUMN or ROLE=COLUMN:UNIT", text)
		}
		a := assignment{role: roleOf(name), column: column}
		if a.role == noRole {
			return nil, fmt.Errorf("mapping %q: no role %q: choose one of %s", text, name, roleNames())
		}
		if k := strings.LastIndexByte(column, ':'); k > 0 {
			if o := slices.Index(orderNames[:], column[k+1:]); o > 0 && (about[a.role].class == stamp || about[a.role].class == stamps) {
				a.order, a.column = order(o), column[:k]
			} else if a.unit = unitOf(column[k+1:]); a.unit != noUnit {
				a.column = column[:k]
			} else if timed(a.role) && !strings.Contains(column[k:], ".") {
				return nil, fmt.Errorf("mapping %q: no unit %q: choose one of s, ms, us, ns, iso, dmy, mdy", text, column[k+1:])
			}
		}
		if a.unit != noUnit && !timed(a.role) {
			return nil, fmt.Errorf("mapping %q: %s has no unit", text, name)
		}
		if slices.ContainsFunc(out, func(b assignment) bool { return b.role == a.role }) {
			return nil, fmt.Errorf("mapping %q: %s is given twice", text, name)
		}
		out = append(out, a)
	}
	return out, nil
}

func timed(r role) bool {
	c := about[r].class
	return c == stamp || c == span || c == spans || c == stamps
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

// index returns the column of a name or, where they have places, of a number.
func (s *sample) index(column string) int {
	k := slices.Index(s.names, column)
	if n, err := strconv.Atoi(column); k < 0 && err == nil && s.flat && n >= 1 && n <= s.width {
		k = n - 1
	}
	return k
}

// columns lists the names of columns for people.
func (s *sample) columns() string {
	var names []string
	for _, n := range s.names[:min(len(s.names), 30)] {
		names = append(names, label(n))
	}
	if len(names) < len(s.names) {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
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

// stated tells whether the unit is one that a mapping states: neither the values
// nor the type of the column say it.
func (e *entry) stated() bool {
	return timed(e.role) && e.unit != noUnit && e.unit != written && e.typed == nil
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
