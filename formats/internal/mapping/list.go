package mapping

import (
	"bytes"

	"servescope/formats/internal/assemble"
	"servescope/formats/internal/numx"
)

// listOf reads an array of numbers times 10^scale into dst; an element that is
// none is assemble.Unknown.
func listOf(dst []int64, raw []byte, scale int) (list []int64, ok bool) {
	if list = dst; len(raw) == 0 || raw[0] != '[' {
		return list, false
	}
	for b := raw[1:]; ; {
		var n int
		var stop numx.Stop
		list, n, stop = numx.List(list, b, scale, true)
		switch b = b[n:]; stop {
		case numx.End:
			return list, len(bytes.TrimSpace(b)) == 0
		case numx.Short:
			return list, false
		}
		k := bytes.IndexAny(b, ",]")
		if k < 0 || !isNull(b[:k]) {
			return list, false
		}
		list = append(list, assemble.Unknown)
		if b[k] == ']' {
			return list, true
		}
		b = b[k+1:]
	}
}

// floatsOf reads an array of numbers, of whatever size; an element that is none is -1.
func floatsOf(raw []byte) (list []float64, ok bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 2 || raw[0] != '[' || raw[len(raw)-1] != ']' {
		return nil, false
	}
	raw = bytes.TrimSpace(raw[1 : len(raw)-1])
	for more := len(raw) > 0; more; {
		var item []byte
		item, raw, more = bytes.Cut(raw, []byte(","))
		v, ok := float(item)
		if item = bytes.TrimSpace(item); !ok && (len(item) == 0 || !isNull(item)) {
			return nil, false
		} else if !ok {
			v = -1
		}
		list = append(list, v)
	}
	return list, true
}

// datesOf reads an array of dates, with or without quotes, and calls each for
// them; one that is null has no digits of the day.
func datesOf(raw []byte, parse func([]byte) (date, bool), each func(d date, known bool)) bool {
	if len(raw) < 2 || raw[0] != '[' || raw[len(raw)-1] != ']' {
		return false
	}
	for rest := bytes.TrimSpace(raw[1 : len(raw)-1]); len(rest) > 0; {
		var item []byte
		if q := rest[0]; q == '"' || q == '\'' {
			k := bytes.IndexByte(rest[1:], q)
			if k < 0 {
				return false
			}
			item, rest = rest[1:1+k], bytes.TrimSpace(rest[2+k:])
			if len(rest) > 0 && rest[0] != ',' {
				return false
			}
			rest = rest[min(1, len(rest)):]
		} else {
			item, rest, _ = bytes.Cut(rest, []byte(","))
		}
		rest = bytes.TrimSpace(rest)
		d, known := parse(item)
		if !known && !isNull(item) {
			return false
		}
		each(d, known)
	}
	return true
}

// stampsOf reads an array of points in time into dst, in ns on the run's clock.
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

// lists sets the times of tokens or the gaps between them.
func (r *reader) lists(row *assemble.Row) bool {
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
		} else { // on another clock: the differences stand
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

func hasUnknown(list []int64) bool {
	for _, v := range list {
		if v == assemble.Unknown {
			return true
		}
	}
	return false
}
