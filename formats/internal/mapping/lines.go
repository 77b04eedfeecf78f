package mapping

import (
	"bytes"

	"servescope/formats"
)

// Pairs is the name of the format of lines of pairs.
const Pairs = "logfmt"

// SniffPairs tells whether a text is a log whose lines are pairs of requests.
func SniffPairs(h *formats.Head) (formats.Score, string) {
	if !ofPairs(h.Start, 4) {
		return formats.No, "its lines are no pairs of key=value behind a stamp or a level, or by themselves"
	}
	score, why := sampleLines(h.Start, nil, nil).sniff()
	if score > formats.No && ofPairs(h.Start, 2) { // more than the prefix of a line tells
		score = formats.Likely
	}
	return score, why
}

// sniffed is how many lines of a head are looked at.
const sniffed = 200

// ofPairs tells whether at least one in part of the first lines that are not blank is of
// pairs, and the text holds no objects or rows.
func ofPairs(head []byte, part int) bool {
	if first := bytes.TrimLeft(head, " \t\r\n,[\x1e"); len(first) == 0 || first[0] == '{' || bytes.IndexByte(first, '=') < 0 && bytes.IndexByte(first, '{') < 0 {
		return false
	}
	t := &table{pairing: pairing{lines: true}, frozen: true}
	in := inputOf(bytes.Clone(head))
	lines, hits := 0, 0
	for lines < sniffed {
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

// sampleLines reads the head of a log of such lines.
func sampleLines(head []byte, given []assignment, parts []partition) *sample {
	s := &sample{table: &table{pairing: pairing{lines: true}}}
	s.learn0(given)
	s.partitioned(parts)
	s.profileAll(inputOf(bytes.Clone(head)))
	return s
}

// concerns tells whether a line is of a request: other lines of a server have stamps and
// models, too, and say how long something took.
func (r *reader) concerns() bool {
	if r.m.events {
		return r.filled(id) && r.filled(event)
	}
	for _, role := range [...]role{sent, firstToken, lastToken, ttft, tpot, gaps, times, prompt, output} {
		if r.filled(role) {
			return true
		}
	}
	if r.filled(arrival) && r.filled(finished) {
		return true
	}
	if r.by[id] == nil {
		return r.filled(e2e)
	}
	return r.filled(id) && (r.filled(e2e) || r.filled(failure) || r.filled(status))
}

// filled tells whether the record has a value for a role.
func (r *reader) filled(role role) bool {
	e := r.by[role]
	return e != nil && r.rec.cells[e.field].set
}
