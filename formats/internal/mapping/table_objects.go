package mapping

import (
	"bytes"
	"strings"

	"servescope/formats"
	"servescope/formats/internal/json"
	"servescope/formats/internal/records"
)

// document is the state of a table whose records are a list within an object, as the
// answers of APIs hold it: {"events": […]} of CloudWatch, {"hits": {"hits": […]}} of
// Elasticsearch. Columns are named with the list: events[].message.
type document struct {
	base   string // prefix of the columns of the list, such as "events[]."; "": there is no list
	inList []byte // path of a value, with base
	open   bool   // the cursor is within the list
	hurt   bool   // the list holds broken text, so that brackets do not count
	again  []bool // by column: some record has several values
	over   bool   // this record has several values of a column
}

// object reads the next object. Objects may stand on lines of their own, in an array, or
// behind each other.
func (t *table) object(in *records.Input) outcome {
	for enters := true; enters; {
		if res := t.skipToRecord(in); res != found {
			return res
		}
		if t.rec.off = in.At(); in.Buf[in.I] != '{' {
			t.hurt = true
			in.SkipLine()
			return bad
		}
		if enters = t.base != "" && !t.open; enters {
			if res := t.enterList(in); res != found {
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
		t.resetTexts()
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

// skipToRecord moves over what separates records. It returns found if something follows.
func (t *table) skipToRecord(in *records.Input) outcome {
	for {
		for in.I < len(in.Buf) && bytes.IndexByte([]byte(" \t\r\n,[]\x1e"), in.Buf[in.I]) >= 0 {
			switch in.Buf[in.I] {
			case '[':
				t.within = true
			case ']':
				if t.within = in.Torn; t.open && !t.hurt {
					in.I++
					if !t.leaveList(in) {
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
		path = t.listPath(path)
	}
	t.put(path, raw, kind)
	if kind == formats.String && len(raw) > 1 && (t.learning || t.holders != nil) && t.holds(path) {
		t.takeObjectIn(path, raw, true)
	}
}

// enterList moves into the list of the object at the cursor. An object without that list
// is not a record.
func (t *table) enterList(in *records.Input) outcome {
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

// cut returns the outcome at the end of the source: truncated within a list, else ended.
func (t *table) cut(in *records.Input) outcome {
	if !t.open || in.Err != nil {
		return ended
	}
	t.open = false
	return truncated
}

// leaveList moves from the end of the list to the end of the object around it. It reports
// whether that object ends.
func (t *table) leaveList(in *records.Input) bool {
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

// listPath returns the full path of a value of a record in a list.
func (t *table) listPath(path []byte) []byte {
	t.inList = append(append(t.inList[:0], t.base...), path...)
	return t.inList
}
