package mapping

import (
	"bytes"
	"strings"

	"servescope/formats"
	"servescope/formats/internal/json"
	"servescope/formats/internal/records"
)

// document is an object that holds the records in a list, as what answers queries
// writes it: {"events": [ … ]} of CloudWatch, {"hits": {"hits": [ … ]}} of
// Elasticsearch. The list is named in the columns: events[].message.
type document struct {
	base   string // of the names of columns, to the point behind the list; "": records stand by themselves
	inList []byte // of a value, from the list on
	open   bool   // the list has begun, and has not ended
	hurt   bool   // something in it is no record: a bracket may be of that
	again  []bool // by column: a record has several values of it
	over   bool   // this record has
}

// object reads the next object: those of a file may stand on lines of their own,
// in an array, or behind each other.
func (t *table) object(in *records.Input) outcome {
	for enters := true; enters; {
		if res := t.between(in); res != found {
			return res
		}
		if t.rec.off = in.At(); in.Buf[in.I] != '{' {
			t.hurt = true
			in.SkipLine()
			return bad
		}
		if enters = t.base != "" && !t.open; enters {
			if res := t.enter(in); res != found {
				return res
			}
		}
	}
	for {
		next, ok := json.Walk(in.Buf, in.I, t.value)
		if ok {
			in.I = next
			return found
		}
		clear(t.rec.cells)
		t.next, t.over = 0, false
		t.fresh()
		whole := next < len(in.Buf)
		if !whole && len(in.Buf)-in.I < maxRecord && in.More() {
			continue
		}
		if in.Err != nil {
			return ended
		}
		if t.hurt = true; whole && t.within {
			in.SkipElement(next - in.I)
			return bad
		}
		in.SkipLine()
		switch {
		case whole:
			return bad
		case in.EOF && in.I >= len(in.Buf):
			t.open = false
			return truncated
		}
		return long
	}
}

// between goes over what stands between records; found: there is something behind it.
func (t *table) between(in *records.Input) outcome {
	for {
		for in.I < len(in.Buf) && bytes.IndexByte([]byte(" \t\r\n,[]\x1e"), in.Buf[in.I]) >= 0 {
			switch in.Buf[in.I] {
			case '[':
				t.within = true
			case ']':
				if t.within = in.Torn; t.open && !t.hurt {
					in.I++
					if !t.leave(in) {
						return truncated
					}
					continue
				}
			case '\n':
				in.Torn = false
			}
			in.I++
		}
		if in.I < len(in.Buf) {
			if !in.Torn || in.Buf[in.I] == '{' {
				return found
			}
			in.SkipElement(0)
			continue
		}
		if !in.More() {
			return t.cut(in)
		}
	}
}

// value takes a value of the object.
func (t *table) value(path, raw []byte, kind formats.Kind) {
	if t.base != "" {
		path = t.full(path)
	}
	t.put(path, raw, kind)
	if kind == formats.String && len(raw) > 1 && (t.learning || t.holders != nil) && t.holds(path) {
		t.inside(path, raw, true)
	}
}

// enter goes into the list of the object at hand. An object without it is no record.
func (t *table) enter(in *records.Input) outcome {
	list := strings.TrimSuffix(t.base, "[].")
	for {
		if k := json.List(in.Buf[in.I:], list); k >= 0 {
			in.I += k
			t.open, t.within, t.hurt = true, true, false
			return found
		}
		if len(in.Buf)-in.I >= maxRecord || !in.More() {
			break
		}
	}
	if in.Err != nil {
		return ended
	}
	in.SkipLine()
	return bad
}

// cut tells how the source ends: within a list, or where a record may.
func (t *table) cut(in *records.Input) outcome {
	if !t.open || in.Err != nil {
		return ended
	}
	t.open = false
	return truncated
}

// leave goes from behind the list to behind the object that holds it, and tells
// whether that ends.
func (t *table) leave(in *records.Input) bool {
	t.open, t.within = false, false
	depth, quoted, escaped := strings.Count(t.base, "."), false, false
	for depth > 0 {
		if in.I == len(in.Buf) {
			if !in.More() {
				return false
			}
			continue
		}
		c := in.Buf[in.I]
		in.I++
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = c == '\\', c != '"'
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
	}
	return true
}

// full returns the path of a value of a record in a list.
func (t *table) full(path []byte) []byte {
	t.inList = append(append(t.inList[:0], t.base...), path...)
	return t.inList
}
