package mapping

import (
	"bytes"
	"slices"
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

// repeated notes that a column, which has a value in this record, gets another.
func (t *table) repeated(k int) {
	if !strings.Contains(t.names[k], "[].") {
		return // a name that comes twice: the later counts
	}
	if t.over = true; t.learning {
		t.again = append(t.again, make([]bool, len(t.names)-len(t.again))...)
		t.again[k] = true
	}
}

// several tells whether records have several values of a column.
func (s *sample) several(i int) bool { return i < len(s.again) && s.again[i] }

// listed returns the sample of the records in a list of the object that the head
// begins with, where they, and not the object, are what is measured.
func (s *sample) listed(head []byte, given []assignment, parts []partition) *sample {
	m := new(mapping)
	s.fill()
	if s.assign(m, given); m.ask == "" {
		s.guess(m)
	}
	within, beside := false, false
	for _, e := range m.entries {
		if about[e.role].class != text {
			within = within || s.several(e.field)
			beside = beside || !strings.Contains(e.name, "[].")
		}
	}
	i := max(bytes.IndexByte(head, '{'), 0)
	next, whole := json.Walk(head, i, func([]byte, []byte, formats.Kind) {})
	if torn := !whole && next == len(head); !torn && (!within || s.records > 1 && beside) {
		return s
	}
	var tried []string
	for _, name := range s.names {
		k := strings.Index(name, "[].")
		if k < 0 || slices.Contains(tried, name[:k+3]) {
			continue
		}
		tried = append(tried, name[:k+3])
		inner := sampleIn(head, given, parts, name[:k+3])
		m := new(mapping)
		inner.fill()
		if inner.assign(m, given); m.ask == "" {
			inner.guess(m)
			inner.eventShape(m)
		}
		if m.ask == "" && m.metrics() {
			return inner
		}
	}
	return s
}

// sampleIn reads the records in a list.
func sampleIn(head []byte, given []assignment, parts []partition, base string) *sample {
	s := &sample{table: &table{document: document{base: base}}}
	s.learn0(given)
	s.partitioned(parts)
	s.profileAll(inputOf(bytes.Clone(head)))
	return s
}

// keyed tells whether the only record is an object of records by their keys, as data
// frames are written by their index: several columns differ from that of the entry in
// the level that holds it alone.
func (s *sample) keyed(e *entry) bool {
	if s.records != 1 || s.flat || s.typed != nil {
		return false
	}
	above, leaf := around(e.name)
	alike := 0
	for _, name := range s.names {
		if a, l := around(name); l != "" && a == above && l == leaf {
			alike++
		}
	}
	return alike > 2 // two may be sides of one
}

// around takes the level that holds a column out of its name.
func around(name string) (above, leaf string) {
	k := strings.LastIndexByte(name, '.')
	if k < 0 {
		return name, ""
	}
	return name[:strings.LastIndexByte(name[:k], '.')+1], name[k+1:]
}

// unclear asks for records that have one value of a column each.
func (s *sample) unclear(m *mapping, e *entry) {
	k := strings.LastIndex(e.name, "[].")
	if k < 0 {
		m.ask = "the file is one object, in which several have a value as that of column " + label(e.name) + ": what is a request is not known"
		m.fix = "write each request as a line of its own, or all as a list: df.to_json(FILE, orient='records')"
		return
	}
	list := e.name[:k]
	m.ask = "records have several values of column " + label(e.name) + ": what is a request is not known"
	m.fix = "write the elements of " + label(list) + " as lines of their own"
}

// full returns the path of a value of a record in a list.
func (t *table) full(path []byte) []byte {
	t.inList = append(append(t.inList[:0], t.base...), path...)
	return t.inList
}
