package sse

import (
	"bytes"
	"fmt"
	"slices"

	"servescope/analyzer/trace"
)

// kind is what the lines of a transcript are.
type kind uint8

const (
	textLine kind = iota // a stamp, and what arrived
	jsonLine
)

// survey is what the head of a transcript says of all of it.
type survey struct {
	events int
	kind   kind
	trace  bool // of curl
	clock  clock
	digits int    // most that a stamp has
	per    int64  // of the unit of relative stamps in a second
	why    string // how that is known
	ask    string // what is not known, and must be
	fix    string // how to say it
	since  bool   // relative stamps count from the line before
}

func surveyOf(head []byte) survey {
	s := survey{per: 1}
	var stamps []stamp
	unit, n, whole := "", 0, true
	sections, timeless := false, false
	var recent []byte // bytes of a trace
	var order falls
	for line := range bytes.Lines(head) {
		line = bytes.TrimRight(line, "\r\n")
		at, rest := take(line)
		if !sections || !dumped(line) { // a trace may begin with a long prompt
			n++
		}
		if n > sniffed {
			break
		}
		order.add(&at)
		switch {
		case len(line) > 0 && line[0] == '{':
			r, ok := recordOf(line)
			if !ok || !r.whole && !isEvent(r.data) || r.whole && !r.chunk.known {
				continue
			}
			s.kind, at, unit = jsonLine, r.stamp, r.unit
			whole = whole && at.digits == 0
		case at.clock == daytime && section(rest) != nothing:
			sections, s.clock, s.digits = true, daytime, max(s.digits, at.digits)
			continue
		case n == 1 && section(line) != nothing, timeless && section(line) != nothing:
			sections, timeless = true, true
			continue
		case sections:
			if dumped(line) && s.dumps(line[bytes.IndexByte(line, ':')+2:], &recent) {
				s.events++
			}
			continue
		case at.clock == noClock || !isEvent(rest):
			continue
		}
		if s.events++; s.events == 1 {
			s.clock = at.clock
		}
		if s.digits = max(s.digits, at.digits); at.clock == s.clock {
			stamps = append(stamps, at)
		}
	}
	if s.trace = sections; timeless {
		s.ask, s.fix = "a trace of curl has no times of arrival", "record it with --trace-time beside --trace or --trace-ascii"
	}
	if s.clock == relative {
		s.unit(unit, stamps, whole)
		s.since = s.kind == textLine && 4*order.falls > order.lines
	}
	return s
}

// falls counts how often relative stamps go back.
type falls struct {
	lines, falls int
	last         int64
}

func (f *falls) add(s *stamp) {
	if s.clock == relative {
		if f.lines++; s.at < f.last {
			f.falls++
		}
		f.last = s.at
	}
}

// dumps takes a line of a trace and tells whether the name of a field of events ends
// in it.
func (s *survey) dumps(text []byte, recent *[]byte) bool {
	name := []byte("data:")
	if b, ok := bytesOf(text); ok {
		text = b
	}
	have := append(*recent, text...)
	*recent = have[max(0, len(have)-len(name)+1):]
	return bytes.Contains(have, name)
}

// isEvent tells whether what arrived is an event for certain.
func isEvent(b []byte) bool {
	w, body := field(b)
	if w == done {
		return true
	}
	var c chunk
	return w == payload && c.read(body) && c.known && (len(b) > 0 && b[0] != '{' || len(c.parts) > 0 || bytes.HasPrefix(body, []byte(`{"text"`)))
}

// The gaps between events that there can be, in s.
const leastGap, mostGap = 100e-6, 10.0

// unit finds the unit of relative stamps: what the name says or, of those of
// scripts, the only one in which the gaps can be true.
func (s *survey) unit(name string, stamps []stamp, whole bool) {
	names := [...]string{"s", "ms", "us", "ns"}
	if k := slices.Index(names[:], name); k >= 0 {
		s.set(k, "the name says so")
		return
	}
	if s.kind == textLine {
		s.set(0, "as ts writes them")
		return
	}
	var gaps []int64
	for i := 1; i < len(stamps); i++ {
		if d := stamps[i].at - stamps[i-1].at; d > 0 {
			gaps = append(gaps, d)
		}
	}
	slices.Sort(gaps)
	var left []int
	per := 1.0
	for k := range names {
		if n := len(gaps); n > 0 {
			if g := float64(gaps[n/2]) / 1e9 / per; g >= leastGap && g <= mostGap && (k > 0 || !whole) {
				left = append(left, k)
			}
		}
		per *= 1000
	}
	if len(left) == 1 {
		s.set(left[0], "the gaps between events can be of no other")
		return
	}
	s.fix = "name the member for its unit: t_s or t_ms"
	s.ask = "the unit of the times of arrival is not known: their name says none, and the gaps between events can be of several"
}

func (s *survey) set(k int, why string) {
	s.per, s.why = 1, why
	for range k {
		s.per *= 1000
	}
}

// clockKind returns the clock of the run.
func (s *survey) clockKind() trace.ClockKind {
	switch s.clock {
	case epoch:
		return trace.Wall
	case daytime:
		return trace.RunClock
	}
	return trace.RequestClock
}

func (s *survey) notes() []string {
	switch {
	case s.ask != "":
		return nil
	case s.clock == daytime:
		return []string{"times of arrival are times of day, of no date"}
	case s.since:
		return []string{"times of arrival are those since the line before, as ts -i writes them: they are summed up, from the beginning of the recording"}
	case s.clock == relative:
		return []string{fmt.Sprintf("times of arrival are relative, in %s (%s): the first request of a recording begins at 0", map[int64]string{1: "s", 1e3: "ms", 1e6: "us", 1e9: "ns"}[s.per], s.why)}
	}
	return nil
}
