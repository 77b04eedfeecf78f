package request

import (
	"servescope/analyzer/metric"
	"servescope/analyzer/trace"
)

// NumSides is the number of sides.
const NumSides = int(trace.Decode) + 1

// NumSlots is the number of places for figures of sides: each has one more for rows
// that no request of the run belongs to (join.Apart).
const NumSlots = 2 * NumSides

// Outermost orders the sides: a request that several sides saw is counted once,
// by the first of these that the run has.
var Outermost = [NumSides]trace.Side{trace.Client, trace.Proxy, trace.Server, trace.Engine, trace.Decode, trace.Prefill}

// SideName names a side as reports do.
func SideName(s trace.Side) string { return trace.Requests.Fields[trace.SideCol].Values[s] }

// Extent is the time span of the requests of one side of a run, on its clock. The
// stamps are None where unknown.
type Extent struct {
	FirstSend, LastSend int64
	LastToken, LastEnd  int64
}

var noExtent = Extent{None, None, None, None}

func (x *Extent) add(w *Row) {
	if w.Enter != None {
		x.FirstSend = Earlier(x.FirstSend, w.Enter)
		x.LastSend = max(x.LastSend, w.Enter)
	}
	x.LastToken = max(x.LastToken, w.lastSeen())
	x.LastEnd = max(x.LastEnd, w.Enter, w.FirstToken, w.LastToken, w.Finished)
}

func (x *Extent) Merge(o *Extent) {
	x.FirstSend = Earlier(x.FirstSend, o.FirstSend)
	x.LastSend = max(x.LastSend, o.LastSend)
	x.LastToken = max(x.LastToken, o.LastToken)
	x.LastEnd = max(x.LastEnd, o.LastEnd)
}

// SideInfo holds figures of one side of a run.
type SideInfo struct {
	Seen     int64  // rows of the side, whatever the query selects
	Rows     int64  // selected
	Timed    int64  // of these, have a TTFT
	Unplaced int64  // of these, are on a clock of their own
	Clock    string // of the rows; "" before the first
	Mixed    bool   // there are several that cannot be compared
	All      Extent // of all rows, whatever the query selects
	Selected Extent
	Good     Extent // of selected rows whose latencies count; LastEnd is the end of an E2E
	Longest  int64  // E2E of these, or none
	Told     bool   // some requests tell the tokens of each chunk (the kernel of tokens alone asks)
	Single   bool   // some do not and have one in each, by their counts (as told)
}

// Unseen holds the figures of a side without rows.
var Unseen = SideInfo{All: noExtent, Selected: noExtent, Good: noExtent, Longest: None}

// note learns that rows of the side are on clock c.
func (s *SideInfo) note(c trace.Clock) {
	if c.Kind != trace.RequestClock {
		s.unite(c.String())
	}
}

// unite learns of a clock. Wall clocks of several hosts are taken to be in
// step: what is asked of them here are seconds, not microseconds.
func (s *SideInfo) unite(name string) {
	switch {
	case s.Clock == "" || s.Clock == name:
		s.Clock = name
	case name == "":
	case isWall(s.Clock) && isWall(name):
		s.Clock = trace.Wall.String()
	default:
		s.Clock, s.Mixed = min(s.Clock, name), true
	}
}

// Placed reports whether the side's rows have a common clock, all of them.
func (s *SideInfo) Placed() bool { return s.Clock != "" && !s.Mixed && s.Unplaced == 0 }

func (s *SideInfo) Merge(o *SideInfo) {
	s.Seen += o.Seen
	s.Rows += o.Rows
	s.Timed += o.Timed
	s.Unplaced += o.Unplaced
	s.Mixed = s.Mixed || o.Mixed
	s.Told, s.Single = s.Told || o.Told, s.Single || o.Single
	s.unite(o.Clock)
	s.All.Merge(&o.All)
	s.Selected.Merge(&o.Selected)
	s.Good.Merge(&o.Good)
	s.Longest = max(s.Longest, o.Longest)
}

// count learns of a selected request for the spans that tools divide by.
func (s *SideInfo) count(w *Row, def *metric.Definition) {
	if def.Span == metric.TokenSpan || w.Cohort(def) != metric.None {
		return
	}
	if d, why := E2E(w, def); why == metric.None {
		s.Longest = max(s.Longest, d)
	}
	if w.Placed && w.Start != None {
		s.Good.FirstSend = Earlier(s.Good.FirstSend, w.Start)
		s.Good.LastEnd = max(s.Good.LastEnd, w.End(def))
	}
}

// Span returns the time that a tool divides by, none where it is unknown.
func (s *SideInfo) Span(is metric.Span) int64 {
	x := &s.Selected
	switch is {
	case metric.LongestSpan:
		return s.Longest
	case metric.OKSpan:
		x = &s.Good
	}
	if x.FirstSend == None || x.LastEnd == None {
		return None
	}
	return x.LastEnd - x.FirstSend
}

// reset makes s know of no row.
func (s *SideInfo) reset() { *s = Unseen }

// add learns of a row of the side.
func (s *SideInfo) add(w *Row, def *metric.Definition, selected bool) {
	if w.Placed {
		s.All.add(w)
	}
	s.Seen++
	if !selected {
		return
	}
	s.count(w, def)
	if w.Sibling { // counted with another row
		if w.Placed {
			s.Selected.add(w)
		}
		return
	}
	s.Rows++
	if _, why := TTFT(w, def); why == metric.None {
		s.Timed++
	}
	if w.Placed {
		s.Selected.add(w)
	} else {
		s.Unplaced++
	}
}

func isWall(clock string) bool {
	c, ok := trace.ParseClock(clock)
	return ok && c.Kind == trace.Wall
}
