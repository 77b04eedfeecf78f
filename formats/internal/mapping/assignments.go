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

// option is the option that gives assignments, as a shell reads it.
func option(assignments ...string) string {
	text := strings.Join(assignments, ",")
	if strings.ContainsAny(text, " \"'$&;()|<>*?[]{}#~!`\\") {
		text = "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return "--map " + text
}

// assign is the assignment of a column, in a unit or none, to a role.
func assign(r role, column string, u unit) string {
	text := about[r].name + "=" + column
	if u != noUnit {
		text += ":" + unitNames[u]
	}
	return text
}

// label is a column's name for people, who may have written a page into it.
func label(name string) string {
	if len(name) > 60 {
		name = name[:57] + "…"
	}
	return strconv.Quote(name)
}
