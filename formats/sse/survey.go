package sse

import (
	"bytes"
	"fmt"
	"slices"

	"servescope/analyzer/trace"
)

// kind is the kind of lines of a transcript.
type kind uint8

const (
	textLine kind = iota // a stamp and a text
	jsonLine
)

// survey is what the head of a transcript says about the whole.
type survey struct {
	events int
	kind   kind
	trace  bool // a trace of curl
	clock  clock
	digits int    // the largest number of digits of a stamp
	per    int64  // units of relative stamps in a second
	why    string // the reason for that unit
	ask    string // the question without whose answer nothing can be read
	fix    string // how to answer it
	since  bool   // relative stamps count from the line before
}

// surveyOf looks at the first lines of a transcript.
func surveyOf(head []byte) survey {
	s := survey{per: 1}
	var stamps []stamp
	unit, n, whole := "", 0, true
	sections, timeless := false, false
	var recent []byte // the last bytes of a trace
	var order stepsBack
	for line := range bytes.Lines(head) {
		line = bytes.TrimRight(line, "\r\n")
		at, rest := takeStamp(line)
		if !sections || !isDumped(line) { // a trace may begin with a long prompt
			n++
		}
		if n > maxSniffed {
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
		case at.clock == daytime && sectionOf(rest) != nothing:
			sections, s.clock, s.digits = true, daytime, max(s.digits, at.digits)
			continue
		case n == 1 && sectionOf(line) != nothing, timeless && sectionOf(line) != nothing:
			sections, timeless = true, true
			continue
		case sections:
			if isDumped(line) && s.endsFieldName(line[bytes.IndexByte(line, ':')+2:], &recent) {
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
		s.findUnit(unit, stamps, whole)
		s.since = s.kind == textLine && 4*order.falls > order.lines
	}
	return s
}

// stepsBack counts how often relative stamps are lower than the one before.
type stepsBack struct {
	lines, falls int
	last         int64
}

func (f *stepsBack) add(s *stamp) {
	if s.clock == relative {
		if f.lines++; s.at < f.last {
			f.falls++
		}
		f.last = s.at
	}
}

// endsFieldName takes a line of a trace. It reports whether the name of a field of events
// ends in that line.
func (s *survey) endsFieldName(text []byte, recent *[]byte) bool {
	name := []byte("data:")
	if b, ok := bytesOf(text); ok {
		text = b
	}
	have := append(*recent, text...)
	*recent = have[max(0, len(have)-len(name)+1):]
	return bytes.Contains(have, name)
}

// isEvent reports whether a text is certainly an event of a stream.
func isEvent(b []byte) bool {
	w, body := field(b)
	if w == done {
		return true
	}
	var c chunk
	return w == payload && c.read(body) && c.known && (len(b) > 0 && b[0] != '{' || len(c.parts) > 0 || bytes.HasPrefix(body, []byte(`{"text"`)))
}

// minGap and maxGap bound plausible gaps between events, in s.
const minGap, maxGap = 100e-6, 10.0

// findUnit finds the unit of relative stamps: as the name of the member says, or the only
// unit in which the gaps between events are plausible.
func (s *survey) findUnit(name string, stamps []stamp, whole bool) {
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
			if g := float64(gaps[n/2]) / 1e9 / per; g >= minGap && g <= maxGap && (k > 0 || !whole) {
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

// set sets the unit to the k-th of s, ms, µs and ns.
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

// notes returns the notes of the run on its times.
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
