package mapping

import (
	"bytes"
	"strings"

	"servescope/formats"
)

// Sniff recognises a table of requests.
func Sniff(h *formats.Head) (formats.Score, string) {
	s, _ := sampleOf(h.Start, nil, nil)
	if s.flat && !s.header {
		return formats.No, "its first line does not name columns"
	}
	return s.sniff()
}

// Pairs is the name of the format whose lines hold pairs.
const Pairs = "logfmt"

// SniffPairs recognises a log whose lines hold pairs of requests.
func SniffPairs(h *formats.Head) (formats.Score, string) {
	if !ofPairs(h.Start, 4) {
		return formats.No, "its lines are no pairs of key=value behind a stamp or a level, or by themselves"
	}
	score, why := sampleLines(h.Start, nil, nil).sniff()
	if score > formats.No && ofPairs(h.Start, 2) { // a prefix of a collector has pairs in fewer lines
		score = formats.Likely
	}
	return score, why
}

// maxSniffed is the number of lines of a head that are looked at.
const maxSniffed = 200

// ofPairs reports whether at least one in part of the first lines holds pairs, and the
// text does not begin with an object.
func ofPairs(head []byte, part int) bool {
	if first := bytes.TrimLeft(head, " \t\r\n,[\x1e"); len(first) == 0 || first[0] == '{' || bytes.IndexByte(first, '=') < 0 && bytes.IndexByte(first, '{') < 0 {
		return false
	}
	t := &table{pairing: pairing{lines: true}, frozen: true}
	in := inputOf(bytes.Clone(head))
	lines, hits := 0, 0
	for lines < maxSniffed {
		switch t.read(in) {
		case ended:
			return hits > 0 && part*hits >= lines
		case found:
			hits++
		}
		lines++
	}
	return hits > 0 && part*hits >= lines
}

// sniff reports whether the names of columns tell what is measured of requests.
func (s *sample) sniff() (formats.Score, string) {
	m := new(mapping)
	s.guess(m)
	s.findEvents(m)
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
		names = append(names, roleInfo[e.role].name)
	}
	return formats.Maybe, "its columns look like " + strings.Join(names, ", ")
}
