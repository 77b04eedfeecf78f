package mapping

import (
	"fmt"
	"time"

	"servescope/formats/internal/column"
)

// kept tells whether a column whose type is that of times can have a role: what is
// a timestamp is no duration. A day is too coarse for either.
func (p *profile) kept(c class) bool {
	f := p.typed
	list := f.Kind == column.IntList
	if f.Step >= int64(24*time.Hour) {
		return false
	}
	switch c {
	case stamp:
		return f.Instant && !list
	case stamps:
		return f.Instant && list
	case span:
		return !f.Instant && !list
	case spans:
		return !f.Instant && list
	}
	return c == text && !list
}

// byType takes the unit of a column of times from its type, which is certain.
func (s *sample) byType(m *mapping, e *entry, c class) {
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
	if !p.kept(c) {
		m.ask = fmt.Sprintf("column %s cannot be %s: its type is a %s", label(e.name), about[e.role].name, what)
		m.fix = "the columns are " + s.columns()
		return
	}
	if e.unit != noUnit && e.unit != written && unitNames[e.unit] != step {
		m.ask = fmt.Sprintf("column %s is not in %s: its type is a %s", label(e.name), unitNames[e.unit], what)
		m.fix = "leave the unit out: " + option(assign(e.role, e.name, noUnit))
		return
	}
	e.unit, e.typed, e.epoch = nanos, f, f.Instant
	e.why += "; its type is a " + what
	e.digits = p.digits - 9 // behind the nanosecond
}

func stepName(ns int64) string {
	for u, name := range unitNames {
		if u := unit(u); u != noUnit && u != written && ns == stepOf(u) {
			return name
		}
	}
	return time.Duration(ns).String()
}

func stepOf(u unit) int64 {
	n := int64(1)
	for range u.scale() {
		n *= 10
	}
	return n
}
