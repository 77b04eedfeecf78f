package mapping

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"servescope/formats"
	"servescope/formats/internal/records"
)

// Sniff tells whether a text is a table of requests.
func Sniff(h *formats.Head) (formats.Score, string) {
	s, _ := sampleOf(h.Start, nil, nil)
	if s.flat && !s.header {
		return formats.No, "its first line does not name columns"
	}
	return s.sniff()
}

// sniff tells whether columns of the sample name what is measured of requests.
func (s *sample) sniff() (formats.Score, string) {
	m := new(mapping)
	s.guess(m)
	s.eventShape(m)
	switch {
	case s.records == 0:
		return formats.No, "it has no rows under names of columns, and no objects"
	case !m.metrics() || !m.has(arrival, sent, id, model, prompt, output, ttft, gaps, times):
		if example := s.example(); example != "" {
			return formats.No, "no column names a latency of requests; there are " + s.columns() + ": if one is, say " + example
		}
		return formats.No, "its columns name no latency of requests"
	}
	var names []string
	for _, e := range m.entries {
		names = append(names, about[e.role].name)
	}
	return formats.Maybe, "its columns look like " + strings.Join(names, ", ")
}

// sampleOf reads the head of a source. Names given in assignments tell a row of
// names from one of values.
func sampleOf(head []byte, given []assignment, parts []partition) (*sample, outcome) {
	s, res := sampleWith(head, given, parts, false)
	if res == found && s.flat && s.delim != ',' && s.decimals(given) {
		return sampleWith(head, given, parts, true)
	}
	if !s.flat {
		s = s.listed(head, given, parts)
	}
	return s, res
}

// sampleWith reads it where a comma parts decimals, or does not.
func sampleWith(head []byte, given []assignment, parts []partition, comma bool) (*sample, outcome) {
	in := inputOf(bytes.Clone(head))
	s := &sample{table: &table{comma: comma}}
	s.learn0(given)
	s.delim, s.flat = delimiter(head)
	if !s.flat {
		s.partitioned(parts)
		s.profileAll(in)
		return s, found
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

const maxAhead = 100 // rows of a title and comments in front of a table

// preface tells whether a row in front of a table is none of it: a comment, or a title
// beside which the cells are blank, or a blank row.
func preface(row []cell) bool {
	if comment(row[0].raw) {
		return true
	}
	filled := 0
	for _, c := range row {
		if len(bytes.TrimSpace(c.raw)) > 0 {
			filled++
		}
	}
	return filled <= 1 && len(row) > 2
}

func comment(line []byte) bool {
	return len(line) > 0 && line[0] == '#' && (len(line) == 1 || line[1] == ' ' || line[1] == '#' || line[1] == '\r')
}

// inputOf reads what is in memory.
func inputOf(b []byte) *records.Input {
	return &records.Input{Ctx: context.Background(), R: bytes.NewReader(nil), Buf: b, Size: 1}
}

// isHeader tells whether a row names columns: no cell is a value.
func isHeader(row []cell, given []assignment) bool {
	letters := false
	for _, c := range row {
		for _, a := range given {
			if a.column == string(c.raw) && len(c.raw) > 0 && c.raw[0] > '9' {
				return true
			}
		}
		if _, ok := float(c.raw); ok {
			return false
		}
		if _, ok := dateOf(c.raw, dayFirst); ok || len(c.raw) > 200 {
			return false
		}
		letters = letters || len(c.raw) > 0
	}
	return letters
}

// told returns what parts the cells of a table whose first line says so, for Excel.
func told(head []byte) (delim byte, ok bool) {
	if len(head) < 6 || !bytes.EqualFold(head[:4], []byte("sep=")) || head[5] != '\r' && head[5] != '\n' {
		return 0, false
	}
	return head[4], true
}

// delimiter tells what parts the cells of a table, or that it holds objects.
func delimiter(head []byte) (delim byte, flat bool) {
	if delim, flat = told(head); flat {
		return delim, flat
	}
	lines := 0
	for line := range bytes.Lines(head) {
		line = bytes.TrimLeft(line, " \t\r\n,[]\x1e")
		if len(line) > 0 && line[0] == '{' {
			return 0, false
		}
		if lines++; lines > 5 {
			break
		}
	}
	for comment(head) {
		_, rest, more := bytes.Cut(head, []byte("\n"))
		if !more {
			break
		}
		head = rest
	}
	delim = ','
	most := 0
	own := bytes.Clone(head) // reading moves what it has not used
	for _, d := range []byte(",;\t|") {
		t := &table{flat: true, delim: d}
		in := inputOf(append(own[:0], head...))
		width, same, rows := 0, 0, 0
		for rows < 50 {
			t.rec.cells = t.rec.cells[:0]
			if t.read(in) != found || t.rec.last && rows > 0 {
				break
			}
			if rows++; width == 0 {
				width = len(t.rec.cells)
			}
			if len(t.rec.cells) == width {
				same++
			}
		}
		if width > 1 && 10*same >= 8*rows && width > most {
			delim, most = d, width
		}
	}
	return delim, true
}
