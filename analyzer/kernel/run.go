package kernel

import (
	"cmp"
	"slices"
	"strconv"

	"servescope/analyzer/metric"
	"servescope/analyzer/trace"
)

// sides is the number of sides.
const sides = int(trace.Decode) + 1

// slots is the number of places for figures of sides: each has one more for rows
// that no request of the run belongs to (join.Apart).
const slots = 2 * sides

// outermost orders the sides: a request that several sides saw is counted once,
// by the first of these that the run has.
var outermost = [sides]trace.Side{trace.Client, trace.Proxy, trace.Server, trace.Engine, trace.Decode, trace.Prefill}

// extent is the time that requests of one side of a run lie in, on its clock.
// The stamps are none where unknown.
type extent struct {
	firstSend, lastSend int64
	lastToken, lastEnd  int64
}

var noExtent = extent{none, none, none, none}

func (x *extent) add(w *row) {
	if w.enter != none {
		x.firstSend = least(x.firstSend, w.enter)
		x.lastSend = max(x.lastSend, w.enter)
	}
	x.lastToken = max(x.lastToken, w.lastSeen())
	x.lastEnd = max(x.lastEnd, w.enter, w.token, w.last, w.finish)
}

func (x *extent) merge(o *extent) {
	x.firstSend = least(x.firstSend, o.firstSend)
	x.lastSend = max(x.lastSend, o.lastSend)
	x.lastToken = max(x.lastToken, o.lastToken)
	x.lastEnd = max(x.lastEnd, o.lastEnd)
}

// least returns the lesser of two stamps, of which none is unknown.
func least(a, b int64) int64 {
	if a == none || b != none && b < a {
		return b
	}
	return a
}

// sideInfo is what a state knows of one side of a run.
type sideInfo struct {
	seen     int64  // rows of the side, whatever the query selects
	rows     int64  // selected
	timed    int64  // of these, have a TTFT
	unplaced int64  // of these, are on a clock of their own
	clock    string // of the rows; "" before the first
	mixed    bool   // there are several that cannot be compared
	all      extent // of all rows, whatever the query selects
	selected extent
	good     extent // of selected rows whose latencies count; lastEnd is that of an E2E
	longest  int64  // E2E of these, or none
	told     bool   // some requests tell the tokens of each chunk (the kernel of tokens alone asks)
	single   bool   // some do not and have one in each, by their counts (as told)
}

// note learns that rows of the side are on clock c.
func (s *sideInfo) note(c trace.Clock) {
	if c.Kind != trace.RequestClock {
		s.unite(c.String())
	}
}

// unite learns of a clock. Wall clocks of several hosts are taken to be in
// step: what is asked of them here are seconds, not microseconds.
func (s *sideInfo) unite(name string) {
	switch {
	case s.clock == "" || s.clock == name:
		s.clock = name
	case name == "":
	case isWall(s.clock) && isWall(name):
		s.clock = trace.Wall.String()
	default:
		s.clock, s.mixed = min(s.clock, name), true
	}
}

func isWall(clock string) bool {
	c, ok := trace.ParseClock(clock)
	return ok && c.Kind == trace.Wall
}

// placed reports whether the side's rows have a common clock, all of them.
func (s *sideInfo) placed() bool { return s.clock != "" && !s.mixed && s.unplaced == 0 }

func (s *sideInfo) merge(o *sideInfo) {
	s.seen += o.seen
	s.rows += o.rows
	s.timed += o.timed
	s.unplaced += o.unplaced
	s.mixed = s.mixed || o.mixed
	s.told, s.single = s.told || o.told, s.single || o.single
	s.unite(o.clock)
	s.all.merge(&o.all)
	s.selected.merge(&o.selected)
	s.good.merge(&o.good)
	s.longest = max(s.longest, o.longest)
}

// count learns of a selected request for the spans that tools divide by.
func (s *sideInfo) count(w *row, def *metric.Definition) {
	if def.Span == metric.TokenSpan || w.cohort(def) != metric.None {
		return
	}
	if d, why := e2e(w, def); why == metric.None {
		s.longest = max(s.longest, d)
	}
	if w.placed && w.start != none {
		s.good.firstSend = least(s.good.firstSend, w.start)
		s.good.lastEnd = max(s.good.lastEnd, w.end(def))
	}
}

// span returns the time that a tool divides by, none where it is unknown.
func (s *sideInfo) span(is metric.Span) int64 {
	x := &s.selected
	switch is {
	case metric.LongestSpan:
		return s.longest
	case metric.OKSpan:
		x = &s.good
	}
	if x.firstSend == none || x.lastEnd == none {
		return none
	}
	return x.lastEnd - x.firstSend
}

// runInfo is what every state knows of a run: enough to choose sides and the
// interval of rates.
type runInfo struct {
	record   string           // the record the run was read from; "" before the first
	several  bool             // there is more than one
	duration int64            // as the producer measured it, or none
	limit    int64            // the client's limit on concurrency, or 0
	linked   bool             // rows of several sides are linked
	met      origin           // the latest record
	sides    [slots]*sideInfo // nil: as unseen
}

// origin names a record that a batch belongs to.
type origin struct {
	run  *trace.RunMeta
	file string
}

func newRunInfo() *runInfo { return &runInfo{duration: none} }

// unseen is what is known of a side that no row is of.
var unseen = sideInfo{all: noExtent, selected: noExtent, good: noExtent, longest: none}

// side returns what is known of a side, which must not be changed: most runs have
// rows of one side only, and there may be thousands of runs.
func (r *runInfo) side(slot int) *sideInfo {
	if s := r.sides[slot]; s != nil {
		return s
	}
	return &unseen
}

// of returns what is known of a side, to learn more.
func (r *runInfo) of(slot int) *sideInfo {
	if r.sides[slot] == nil {
		own := unseen
		r.sides[slot] = &own
	}
	return r.sides[slot]
}

// reset makes s know of no row.
func (s *sideInfo) reset() { *s = unseen }

// meet learns of the record that a batch belongs to.
func (r *runInfo) meet(v *View) {
	r.linked = r.linked || v.Links != nil
	if r.met == (origin{v.Run, v.File}) {
		return
	}
	r.met = origin{v.Run, v.File}
	record := v.File + "\x00" + strconv.FormatInt(v.Run.Key, 36)
	if r.record == record {
		return
	}
	if r.record != "" {
		r.record, r.several, r.duration, r.limit = min(r.record, record), true, none, 0
		return
	}
	r.record = record
	if v.Run.HasDuration && v.Run.Duration > 0 {
		r.duration = v.Run.Duration
	}
	for _, p := range v.Run.Config {
		if p.Key == "max_concurrency" {
			r.limit, _ = strconv.ParseInt(p.Value, 10, 64)
		}
	}
}

func (r *runInfo) merge(o *runInfo) {
	r.linked = r.linked || o.linked
	switch {
	case r.record == "":
		r.record, r.several, r.duration, r.limit = o.record, o.several, o.duration, o.limit
	case o.record == "" || o.record == r.record && !o.several && !r.several:
	default:
		r.record, r.several, r.duration, r.limit = min(r.record, o.record), true, none, 0
	}
	for i, side := range o.sides {
		if side != nil {
			r.of(i).merge(side)
		}
	}
}

// counting returns the side by which the run's requests are counted.
func (r *runInfo) counting() trace.Side {
	for _, s := range outermost {
		if r.side(int(s)).rows > 0 {
			return s
		}
	}
	for _, s := range outermost { // the query removes all
		if r.side(int(s)).seen > 0 {
			return s
		}
	}
	return trace.Client
}

// latency returns the side whose stamps give the run's latencies.
func (r *runInfo) latency(def *metric.Definition) trace.Side {
	order := [...]trace.Side{trace.Server, trace.Client, trace.Proxy}
	if def.Client {
		order = [...]trace.Side{trace.Client, trace.Server, trace.Proxy}
	}
	for _, s := range order {
		if r.side(int(s)).timed > 0 {
			return s
		}
	}
	for _, s := range order {
		if r.side(int(s)).rows > 0 {
			return s
		}
	}
	return r.counting()
}

// interval is W, what rates are over.
type interval struct {
	from, to, whole int64 // W = [from, to]; the whole span ends at whole
	placed          bool  // from, to and whole are known
	part            bool  // W is cut to an interval or a window: there is no whole span
	dt              int64 // length that rates divide by
	note            string
	why             metric.Reason // dt is unknown
}

// over returns W of a run, with the length that rates under def divide by.
func (r *runInfo) over(def *metric.Definition, span metric.Span) interval {
	side := r.side(int(r.counting()))
	x := &side.selected
	var w interval
	switch {
	case side.rows == 0:
		w.why = metric.NoRequests
	case !side.placed() || x.firstSend == none:
		w.why = metric.Clock
		if side.placed() {
			w.why = metric.NotRecorded
		}
	case x.lastToken == none:
		w.why = metric.NoToken
	case x.lastToken <= x.firstSend:
		w.why = metric.NoSpan
	default:
		w = interval{from: x.firstSend, to: x.lastToken, whole: max(x.lastEnd, x.lastToken), placed: true, dt: x.lastToken - x.firstSend}
	}
	switch d := side.span(span); {
	case r.duration != none && (def.Reported || w.why == metric.Clock && span != metric.LongestSpan):
		w.dt, w.why = r.duration, metric.None
		w.note = "over the duration that the producer measured"
	case span == metric.TokenSpan, side.rows == 0:
	case span != metric.LongestSpan && !side.placed():
	case d == none && w.why != metric.None:
	case d == none:
		w.dt, w.why = 0, metric.NotRecorded
	case d <= 0:
		w.dt, w.why = 0, metric.NoSpan
	default:
		w.dt, w.why = d, metric.None
		w.note = "over the " + def.SpanName(span)
	}
	return w
}

// facts returns what later passes may learn of the run.
func (r *runInfo) facts() RunFacts {
	var f RunFacts
	for _, s := range outermost {
		side := r.side(int(s))
		if side.clock == "" {
			continue
		}
		x := &side.all
		if side.placed() && x.firstSend != none {
			f = RunFacts{HasTimes: true, Clock: side.clock, FirstSend: x.firstSend, LastSend: x.lastSend, LastToken: max(x.lastToken, x.firstSend)}
		}
		break
	}
	return f
}

func (r *runInfo) appendTo(dst []byte) []byte {
	dst = appendInts(appendText(dst, r.record), flag(r.several), flag(r.linked), r.duration, r.limit)
	for i := range r.sides {
		s := r.side(i)
		dst = appendInts(appendText(dst, s.clock), flag(s.mixed), flag(s.told), flag(s.single), s.seen, s.rows, s.timed, s.unplaced, s.longest)
		for _, x := range []*extent{&s.all, &s.selected, &s.good} {
			dst = appendInts(dst, x.firstSend, x.lastSend, x.lastToken, x.lastEnd)
		}
	}
	return dst
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func (r *runInfo) load(src *reader) {
	r.record = src.text()
	r.several, r.linked = src.int() != 0, src.int() != 0
	src.ints(&r.duration, &r.limit)
	for i := range r.sides {
		s := new(sideInfo)
		s.clock = src.text()
		s.mixed, s.told, s.single = src.int() != 0, src.int() != 0, src.int() != 0
		src.ints(&s.seen, &s.rows, &s.timed, &s.unplaced)
		src.ints(&s.longest)
		for _, x := range []*extent{&s.all, &s.selected, &s.good} {
			src.ints(&x.firstSend, &x.lastSend, &x.lastToken, &x.lastEnd)
		}
		if *s != unseen {
			r.sides[i] = s
		}
	}
}

// sortedKeys returns the keys of m in order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
