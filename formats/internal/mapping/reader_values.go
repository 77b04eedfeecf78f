package mapping

import (
	"bytes"

	"servescope/analyzer/diag"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/numx"
)

const day = int64(86400e9)

// cell returns the value of the record for a role, or nil.
func (r *reader) cell(role role) *cell {
	e := r.by[role]
	if e == nil {
		return nil
	}
	c := &r.rec.cells[e.field]
	if !c.set || c.kind == formats.String && len(c.raw) == 0 {
		if class := roleInfo[role].class; !r.m.events && (class == span || class == stamp || role == prompt || role == output) {
			r.note(emptyCell)
		}
		return nil
	}
	return c
}

// invalid notes a cell that does not hold a value of its role.
func (r *reader) invalid(role role) {
	if v := r.rec.cells[r.by[role].field].raw; isNull(v) {
		r.note(emptyCell)
		return
	}
	r.add(diag.Diag{Code: "bad_value", Severity: diag.DataLoss,
		Msg: "values cannot be read and are unknown; the first is of column " + quoteName(r.by[role].name), Fix: "write numbers as 1340.5 and dates as 2026-11-30 14:05:01, or give the column's unit with --map"})
}

// span returns a duration in ns. A duration of 0 or less was not measured and is unknown.
func (r *reader) span(role role) (int64, bool) {
	c := r.cell(role)
	if c == nil {
		return 0, false
	}
	var v int64
	var ok bool
	if u := r.by[role].unit; u == written {
		v, ok = duration(c.raw)
	} else {
		v, ok = number(c.raw, u.scale())
	}
	switch {
	case !ok:
		r.invalid(role)
		return 0, false
	case v <= 0:
		r.note(zeroTime)
		return 0, false
	case v > day:
		r.note(implausible)
		return 0, false
	}
	return v, true
}

// stamp returns a point in time in ns on the clock of the run.
func (r *reader) stamp(role role) (int64, bool) {
	c := r.cell(role)
	if c == nil {
		return 0, false
	}
	e := r.by[role]
	if e.unit == written {
		d, ok := dateOf(c.raw, e.order)
		if !ok {
			r.invalid(role)
			return 0, false
		}
		return r.utc(role, &d)
	}
	v, ok := number(c.raw, e.unit.scale())
	switch {
	case !ok:
		if _, isNumber := float(c.raw); isNumber { // out of the range of times
			r.note(otherUnit)
		} else {
			r.invalid(role)
		}
		return 0, false
	case e.epoch && v <= 0:
		r.note(assemble.UnknownStamp)
		return 0, false
	case e.epoch && !assemble.EpochLikeStamp(v):
		r.note(otherUnit)
		return 0, false
	case e.epoch && e.typed != nil && !e.typed.UTC:
		return r.utc(role, &date{local: v})
	}
	return v, true
}

// utc returns the time of a date in ns since 1970.
func (r *reader) utc(role role, d *date) (int64, bool) {
	t, known, p := r.zones[role].utc(d)
	if p != nil {
		r.note(p)
	}
	return t, known
}

// count returns a number of tokens.
func (r *reader) count(role role) (int64, bool) {
	c := r.cell(role)
	if c == nil {
		return 0, false
	}
	raw := bytes.TrimSpace(c.raw)
	v, n, ok := numx.ParseInt(raw)
	if !ok || n != len(raw) || v < 0 {
		r.invalid(role)
		return 0, false
	}
	return v, true
}

// text returns a text, or nil.
func (r *reader) text(role role) []byte {
	c := r.cell(role)
	if c == nil {
		return nil
	}
	return c.raw
}

// stampsOf appends the points in time of an array to dst, in ns on the clock of the run.
func (r *reader) stampsOf(dst []int64, raw []byte, e *entry) (list []int64, ok bool) {
	if e.unit != written {
		list, ok = listOf(dst, raw, e.unit.scale())
		if e.epoch && e.typed != nil && !e.typed.UTC {
			for i, v := range list {
				list[i] = r.stampOr(e.role, &date{local: v}, v != assemble.Unknown)
			}
		}
		return list, ok
	}
	list = dst
	ok = datesOf(raw, func(item []byte) (date, bool) { return dateOf(item, e.order) }, func(d date, known bool) { list = append(list, r.stampOr(e.role, &d, known)) })
	return list, ok
}

// stampOr returns the time of a date, or assemble.Unknown.
func (r *reader) stampOr(role role, d *date, known bool) int64 {
	if known {
		if t, ok := r.utc(role, d); ok {
			return t
		}
	}
	return assemble.Unknown
}

// setLists sets the times of tokens, or the gaps between them. It reports whether it did.
func (r *reader) setLists(row *assemble.Row) bool {
	if c := r.cell(times); c != nil {
		e := r.by[times]
		var ok bool
		row.Tokens, ok = r.stampsOf(row.Tokens[:0], bytes.TrimSpace(c.raw), e)
		list := row.Tokens
		if !ok {
			r.invalid(times)
			return false
		}
		a := r.by[arrival]
		if r.by[sent] != nil {
			a = r.by[sent]
		}
		if a == nil && r.by[ttft] == nil || a != nil && a.epoch == e.epoch {
			row.HasTokens = true
		} else { // on another clock only the differences count
			row.Gaps, row.HasGaps = row.Gaps[:0], true
			for i := 1; i < len(list); i++ {
				row.Gaps = append(row.Gaps, list[i]-list[i-1])
			}
		}
		row.HasUnknown = hasUnknown(list)
		if row.HasUnknown && row.HasGaps {
			row.HasGaps = false
			r.invalid(times)
		}
		return true
	}
	if c := r.cell(gaps); c != nil {
		var ok bool
		if row.Gaps, ok = listOf(row.Gaps[:0], bytes.TrimSpace(c.raw), r.by[gaps].unit.scale()); !ok {
			r.invalid(gaps)
			return false
		}
		row.HasGaps, row.HasUnknown = true, hasUnknown(row.Gaps)
		return true
	}
	return false
}
