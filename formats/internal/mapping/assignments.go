package mapping

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// assignment is one role that the caller gives to a column, in a unit or in none.
type assignment struct {
	role   role
	column string
	unit   unit
	order  order
}

// parseMap reads the caller's assignments: ROLE=COLUMN or ROLE=COLUMN:UNIT.
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
			if o := slices.Index(orderNames[:], column[k+1:]); o > 0 && (roleInfo[a.role].class == stamp || roleInfo[a.role].class == stamps) {
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

// timed reports whether a role holds times, which have a unit.
func timed(r role) bool {
	c := roleInfo[r].class
	return c == stamp || c == span || c == spans || c == stamps
}

// mapOption returns the option that gives these assignments, quoted for a shell.
func mapOption(assignments ...string) string {
	text := strings.Join(assignments, ",")
	if strings.ContainsAny(text, " \"'$&;()|<>*?[]{}#~!`\\") {
		text = "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return "--map " + text
}

// assign returns the assignment of a column to a role; the unit may be noUnit.
func assign(r role, column string, u unit) string {
	text := roleInfo[r].name + "=" + column
	if u != noUnit {
		text += ":" + unitNames[u]
	}
	return text
}

// quoteName quotes the name of a column for a message. Long names are cut: a file may
// hold a page of text in place of one.
func quoteName(name string) string {
	if len(name) > 60 {
		name = name[:57] + "…"
	}
	return strconv.Quote(name)
}
