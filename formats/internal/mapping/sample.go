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

// maxSampled is the number of records of the head that the mapping is inferred from.
const maxSampled = 500

// sample is the first records of a table, with a profile of each column.
type sample struct {
	*table
	profiles []profile
	records  int
}

// sampleOf reads the head of a text. The names in assignments help to tell a row of names
// from a row of values.
func sampleOf(head []byte, given []assignment, parts []partition) (*sample, outcome) {
	s, res := sampleWith(head, given, parts, false)
	if res == found && s.flat && s.delim != ',' && s.hasDecimalCommas(given) {
		return sampleWith(head, given, parts, true)
	}
	if !s.flat {
		s = s.intoList(head, given, parts)
	}
	return s, res
}

// sampleWith reads the head with commas as decimal commas, or not.
func sampleWith(head []byte, given []assignment, parts []partition, comma bool) (*sample, outcome) {
	in := inputOf(bytes.Clone(head))
	s := &sample{table: &table{comma: comma}}
	s.startLearning(given)
	s.delim, s.flat = delimiter(head)
	if !s.flat {
		s.addPartitions(parts)
		s.profileAll(in)
		return s, found
	}
	if _, s.sepLine = separatorLine(head); s.sepLine {
		s.read(in)
		s.rec.cells = s.rec.cells[:0]
	}
	res := s.read(in)
	for res == found && s.prefaceRows < maxPreface && isPreface(s.rec.cells) {
		s.prefaceRows++
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
	s.addPartitions(parts)
	s.cellsInside(s.width)
	if !s.header {
		s.setPartitions()
		s.addRecord()
	}
	s.profileAll(in)
	return s, found
}

// sampleIn reads the records in the list at base.
func sampleIn(head []byte, given []assignment, parts []partition, base string) *sample {
	s := &sample{table: &table{document: document{base: base}}}
	s.startLearning(given)
	s.addPartitions(parts)
	s.profileAll(inputOf(bytes.Clone(head)))
	return s
}

// sampleLines reads the head of a log whose lines hold pairs.
func sampleLines(head []byte, given []assignment, parts []partition) *sample {
	s := &sample{table: &table{pairing: pairing{lines: true}}}
	s.startLearning(given)
	s.addPartitions(parts)
	s.profileAll(inputOf(bytes.Clone(head)))
	return s
}

// inputOf returns an input that reads from memory.
func inputOf(b []byte) *records.Input {
	return &records.Input{Ctx: context.Background(), R: bytes.NewReader(nil), Buf: b, Size: 1}
}

// profileAll reads the first records and profiles their values.
func (s *sample) profileAll(in *records.Input) {
	for s.records < maxSampled {
		switch s.read(in) {
		case ended:
			return
		case other:
		default:
			s.addRecord()
		}
	}
}

// addRecord adds the record at hand to the profiles.
func (s *sample) addRecord() {
	if s.rec.ragged || s.rec.last && s.records > 0 {
		return
	}
	if n := s.width - 1; s.flat && s.rec.last && n >= 0 {
		s.rec.cells[n].set = false // it may be cut off: 1340 of 1340.5
	}
	if s.typed != nil { // few of many columns may be wanted
		for _, i := range s.typed.want {
			s.profiles[i].add(s.records, s.rec.cells[i])
		}
		s.addProfiles()
		for i := s.width; i < len(s.profiles); i++ {
			s.profiles[i].add(s.records, s.rec.cells[i])
		}
		s.records++
		return
	}
	s.addProfiles()
	for i := range s.profiles {
		s.profiles[i].add(s.records, s.rec.cells[i])
	}
	s.records++
}

// addProfiles makes a profile for each column that has none.
func (s *sample) addProfiles() {
	for len(s.profiles) < len(s.names) {
		var p profile
		i := len(s.profiles)
		p.joined, p.levels, p.nameUnit = splitName(s.names[i][max(s.wrap(i), len(s.base)):])
		p.isName = matchName(event, p.joined, p.levels) >= 0 || matchName(id, p.joined, p.levels) >= 0
		p.isStatus = matchName(status, p.joined, p.levels) >= 0
		s.profiles = append(s.profiles, p)
	}
}

// index returns the column of that name, or of that number where columns have places.
func (s *sample) index(column string) int {
	k := slices.Index(s.names, column)
	if n, err := strconv.Atoi(column); k < 0 && err == nil && s.flat && n >= 1 && n <= s.width {
		k = n - 1
	}
	return k
}

// columns lists the names of the columns for a message.
func (s *sample) columns() string {
	var names []string
	for _, n := range s.names[:min(len(s.names), 30)] {
		names = append(names, quoteName(n))
	}
	if len(names) < len(s.names) {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

// several reports whether some record has several values of a column.
func (s *sample) several(i int) bool { return i < len(s.again) && s.again[i] }

// nested reports whether a column lies within the text of another.
func (s *sample) nested(e *entry) bool { return s.wrap(e.field) > 0 }

// wantedHolders lists the columns whose text holds columns of the mapping.
func (s *sample) wantedHolders(m *mapping) (list []string) {
	for i := range m.entries {
		if n := s.wrap(m.entries[i].field); n > 0 {
			if name := s.names[m.entries[i].field][:n-1]; !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

// wantedPartitions returns the partitions that are texts of requests, with their places
// among names.
func (s *sample) wantedPartitions(m *mapping, names []string) (list []partition) {
	for _, p := range s.parts {
		k := slices.IndexFunc(m.entries, func(e entry) bool { return e.name == p.name })
		if k < 0 || p.own && (roleInfo[m.entries[k].role].class != text || m.entries[k].role == id || m.entries[k].role == event) {
			continue
		}
		if p.field = slices.Index(names, p.name); p.field >= 0 {
			list = append(list, p)
		}
	}
	return list
}

// intoList returns the sample of the records in a list, if the head begins with an object
// and its elements, not the object, are the requests.
func (s *sample) intoList(head []byte, given []assignment, parts []partition) *sample {
	m := new(mapping)
	s.addProfiles()
	if s.assign(m, given); m.ask == "" {
		s.guess(m)
	}
	within, beside := false, false
	for _, e := range m.entries {
		if roleInfo[e.role].class != text {
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
		inner.addProfiles()
		if inner.assign(m, given); m.ask == "" {
			inner.guess(m)
			inner.findEvents(m)
		}
		if m.ask == "" && m.metrics() {
			return inner
		}
	}
	return s
}
