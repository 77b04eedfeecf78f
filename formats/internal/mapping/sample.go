package mapping

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"servescope/formats"
	"servescope/formats/internal/json"
	"servescope/formats/internal/records"
)

// sampled is how many records of the head tell what the columns mean.
const sampled = 500

// sample is the head of a table.
type sample struct {
	*table
	profiles []profile
	records  int
}

// sampleOf reads the head of a source. Names given in assignments tell a row of
// names from one of values.
func sampleOf(head []byte, given []assignment, parts []partition) (*sample, outcome) {
	in := inputOf(bytes.Clone(head))
	s := &sample{table: new(table)}
	s.learn0(given)
	s.delim, s.flat = delimiter(head)
	if !s.flat {
		s.partitioned(parts)
		s.profileAll(in)
		return s.listed(head, given, parts), found
	}
	if _, s.told = told(head); s.told {
		s.read(in)
		s.rec.cells = s.rec.cells[:0]
	}
	res := s.read(in)
	for res == found && s.ahead < maxAhead && preface(s.rec.cells) {
		s.ahead++
		s.rec.cells = s.rec.cells[:0]
		res = s.read(in)
	}
	if res != found {
		return s, res
	}
	s.header = isHeader(s.rec.cells, given)
	for i, c := range s.rec.cells {
		name := fmt.Sprint(i + 1)
		if s.header {
			name = string(c.raw)
		}
		s.names = append(s.names, name)
	}
	s.width = len(s.names)
	s.partitioned(parts)
	s.cellsInside(s.width)
	if !s.header {
		s.part()
		s.take()
	}
	s.profileAll(in)
	return s, found
}

// sampleIn reads the records in a list.
func sampleIn(head []byte, given []assignment, parts []partition, base string) *sample {
	s := &sample{table: &table{document: document{base: base}}}
	s.learn0(given)
	s.partitioned(parts)
	s.profileAll(inputOf(bytes.Clone(head)))
	return s
}

// sampleLines reads the head of a log of such lines.
func sampleLines(head []byte, given []assignment, parts []partition) *sample {
	s := &sample{table: &table{pairing: pairing{lines: true}}}
	s.learn0(given)
	s.partitioned(parts)
	s.profileAll(inputOf(bytes.Clone(head)))
	return s
}

// inputOf reads what is in memory.
func inputOf(b []byte) *records.Input {
	return &records.Input{Ctx: context.Background(), R: bytes.NewReader(nil), Buf: b, Size: 1}
}

// profileAll reads the sampled records of a head.
func (s *sample) profileAll(in *records.Input) {
	for s.records < sampled {
		switch s.read(in) {
		case ended:
			return
		case other:
		default:
			s.take()
		}
	}
}

func (s *sample) take() {
	if s.rec.ragged || s.rec.last && s.records > 0 {
		return
	}
	if n := s.width - 1; s.flat && s.rec.last && n >= 0 {
		s.rec.cells[n].set = false // it may be cut off: 1340,5 of 1340,500
	}
	if s.typed != nil { // of many columns, few may be wanted
		for _, i := range s.typed.want {
			s.profiles[i].add(s.records, s.rec.cells[i])
		}
		s.fill()
		for i := s.width; i < len(s.profiles); i++ {
			s.profiles[i].add(s.records, s.rec.cells[i])
		}
		s.records++
		return
	}
	s.fill()
	for i := range s.profiles {
		s.profiles[i].add(s.records, s.rec.cells[i])
	}
	s.records++
}

// fill makes the profiles of columns that have none.
func (s *sample) fill() {
	for len(s.profiles) < len(s.names) {
		var p profile
		i := len(s.profiles)
		p.joined, p.levels, p.named = words(s.names[i][max(s.wrap(i), len(s.base)):])
		p.label = match(event, p.joined, p.levels) >= 0 || match(id, p.joined, p.levels) >= 0
		p.state = match(status, p.joined, p.levels) >= 0
		s.profiles = append(s.profiles, p)
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

// several tells whether records have several values of a column.
func (s *sample) several(i int) bool { return i < len(s.again) && s.again[i] }

// nested tells whether a column is in the text of another.
func (s *sample) nested(e *entry) bool { return s.wrap(e.field) > 0 }

// lookInto lists the columns in whose text some of the entries are.
func (s *sample) lookInto(m *mapping) (list []string) {
	for i := range m.entries {
		if n := s.wrap(m.entries[i].field); n > 0 {
			if name := s.names[m.entries[i].field][:n-1]; !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

// partsOf returns the partitions that are texts of requests, with the places of their
// columns among names.
func (s *sample) partsOf(m *mapping, names []string) (list []partition) {
	for _, p := range s.parts {
		k := slices.IndexFunc(m.entries, func(e entry) bool { return e.name == p.name })
		if k < 0 || p.own && (about[m.entries[k].role].class != text || m.entries[k].role == id || m.entries[k].role == event) {
			continue
		}
		if p.field = slices.Index(names, p.name); p.field >= 0 {
			list = append(list, p)
		}
	}
	return list
}

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
