package join

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"servescope/analyzer/trace"
)

// Summary is the result of linking the rows of one run.
type Summary struct {
	Counting trace.Side // the side by which requests are counted
	Requests int64      // counted
	Joined   int64      // counted requests with a row of another end
	Ends     []End      // in order of inputs, then from outside
	Pairs    []Pair     // pairs of ends that have a request in common

	Duplicates  Names  // ids that one end gave to several requests
	Ambiguous   Names  // names with several candidates, which linked nothing
	Benchmark   string // why a benchmark's result, which names no requests, was not joined: no_id, several or other; "": there is no such result
	Disagree    int64  // requests whose rows state different numbers of output tokens, by the server's count
	DisagreeRow int32  // the first row of one of them
	Late        int64  // requests in which two rows of one side state different times to the first token
	LateRow     int32
}

// Names counts names and holds the first few.
type Names struct {
	N     int64
	First []string
}

// End is one side of one input.
type End struct {
	Input     int32
	Side      trace.Side
	Requests  int64 // requests with rows of this end
	Repeated  int64 // rows for which a row of another input stands
	Unnamed   int64 // requests without an id
	Unmatched Names // requests with rows of no other end
}

// Pair is two ends, the outer one first, with one clock of each.
type Pair struct {
	A, B           int // ends
	ClockA, ClockB trace.Clock
	Joined         int64 // requests that both have on these clocks
	Rules          []RuleCount
	Offset         Offset // of clock B over clock A
	SameClock      bool   // the offset is 0 by definition
}

// RuleCount is the number of requests that were linked in one way.
type RuleCount struct {
	Rule Rule
	N    int64
}

// summarizer builds the summary of a run.
type summarizer struct {
	*Links
	run   int32
	out   Summary
	ends  map[[2]int32]int // by input and side
	pairs map[pairKey]int
}

type pairKey struct {
	a, b           int
	clockA, clockB trace.Clock
}

// Summarize returns the result of linking the rows of a run.
func (l *Links) Summarize(run int32) Summary {
	s := summarizer{Links: l, run: run, ends: make(map[[2]int32]int), pairs: make(map[pairKey]int)}
	s.out.Counting = l.Counting(run)
	s.findEnds()
	for r := range l.n {
		if v, _ := l.at(r); v.Part.Run != run {
			continue
		}
		if list := l.Rows(r); list == nil {
			s.single(r)
		} else if list[0] == r {
			s.request(list)
		}
	}
	s.names()
	s.sort()
	return s.out
}

// findEnds lists the ends in order.
func (s *summarizer) findEnds() {
	for k := range s.views {
		v := &s.views[k]
		if v.Part.Run != s.run {
			continue
		}
		for i := range v.Rows {
			side := s.Side(v.First + int32(i))
			at := [2]int32{v.Input, int32(side)}
			if _, ok := s.ends[at]; !ok {
				s.ends[at] = 0
				s.out.Ends = append(s.out.Ends, End{Input: v.Input, Side: side})
			}
		}
	}
	slices.SortFunc(s.out.Ends, func(a, b End) int {
		return cmp.Or(cmp.Compare(rank[a.Side], rank[b.Side]), cmp.Compare(a.Input, b.Input))
	})
	for i, e := range s.out.Ends {
		s.ends[[2]int32{e.Input, int32(e.Side)}] = i
	}
}

// end returns the number of the end of row r.
func (s *summarizer) end(r int32) int {
	v, _ := s.at(r)
	return s.ends[[2]int32{v.Input, int32(s.Side(r))}]
}

// single adds a request with one row.
func (s *summarizer) single(r int32) {
	e := &s.out.Ends[s.end(r)]
	e.Requests++
	if s.Side(r) == s.out.Counting {
		s.out.Requests++
	}
	if _, ok := s.id(r); !ok {
		e.Unnamed++
	}
	s.unmatched(e, r)
}

func (s *summarizer) unmatched(e *End, r int32) {
	if e.Unmatched.N++; len(e.Unmatched.First) < shown {
		e.Unmatched.First = s.show(e.Unmatched.First, r)
	}
}

// show appends the name of row r for people, if it has one.
func (s *summarizer) show(dst []string, r int32) []string {
	v, i := s.at(r)
	name, ok := v.ids.At(i)
	if !ok {
		if name, ok = v.groups.At(i); !ok {
			return dst
		}
	}
	if len(name) <= longestName {
		return append(dst, string(name))
	}
	n := longestName
	for n > 0 && !utf8.RuneStart(name[n]) {
		n--
	}
	return append(dst, string(name[:n])+"…")
}

// longestName is the number of bytes of a name that are shown.
const longestName = 80

// request adds a request with several rows.
func (s *summarizer) request(list []int32) {
	var ends []int
	for _, r := range list {
		k := s.end(r)
		if s.role[r] == Repeats {
			s.out.Ends[k].Repeated++
		}
		if !slices.Contains(ends, k) {
			ends = append(ends, k)
			s.out.Ends[k].Requests++
		}
	}
	if s.Side(list[0]) == s.out.Counting {
		s.out.Requests++
		if len(ends) > 1 {
			s.out.Joined++
		}
	}
	if len(ends) == 1 {
		s.unmatched(&s.out.Ends[ends[0]], list[0])
		return
	}
	var done []pairKey
	for i, a := range list {
		for _, b := range list[i+1:] {
			if s.end(a) != s.end(b) {
				done = s.pair(a, b, done)
			}
		}
	}
	s.check(list)
}

// pair adds two rows of a request. done lists the pairs that already count the
// request.
func (s *summarizer) pair(a, b int32, done []pairKey) []pairKey {
	outer, inner := s.sight(a), s.sight(b)
	key := pairKey{s.end(a), s.end(b), outer.clock, inner.clock}
	n, ok := s.pairs[key]
	if !ok {
		n = len(s.out.Pairs)
		s.pairs[key] = n
		s.out.Pairs = append(s.out.Pairs, Pair{A: key.a, B: key.b, ClockA: outer.clock, ClockB: inner.clock, SameClock: s.sameClock(a, b, &outer, &inner)})
	}
	p := &s.out.Pairs[n]
	if slices.Contains(done, key) {
		return done
	}
	p.Joined++
	p.count(s.rules[a] | s.rules[b])
	switch {
	case !comparableClocks(outer.clock, inner.clock):
	case outer.side == trace.Decode && inner.side == trace.Prefill:
		p.Offset.addNodes(&outer, &inner)
	case rank[outer.side] < rank[inner.side] && outer.side < trace.Engine:
		p.Offset.add(&outer, &inner)
	}
	return append(done, key)
}

// sameClock reports whether two rows certainly have the same clock: the clock
// names a host, or both rows are in one input.
func (s *summarizer) sameClock(a, b int32, x, y *sight) bool {
	v, _ := s.at(a)
	w, _ := s.at(b)
	return x.clock == y.clock && x.clock.Kind != trace.RequestClock && (x.clock.Source != "" || v.Input == w.Input)
}

// count counts a request that was linked in one way.
func (p *Pair) count(rule Rule) {
	i := slices.IndexFunc(p.Rules, func(c RuleCount) bool { return c.Rule == rule })
	if i < 0 {
		i = len(p.Rules)
		p.Rules = append(p.Rules, RuleCount{Rule: rule})
	}
	p.Rules[i].N++
}

// check compares values that several rows of a request state.
func (s *summarizer) check(list []int32) {
	for i, a := range list {
		for _, b := range list[i+1:] {
			if s.source(a) == s.source(b) {
				return // these are choices: each has its own tokens
			}
		}
	}
	var lead int32 = -1
	differ, late := false, false
	for i, r := range list {
		if n, ok := s.served(r); ok && s.Side(r) != trace.Prefill {
			if lead < 0 {
				lead = r
			} else if m, _ := s.served(lead); n != m {
				differ = true
			}
		}
		if s.role[r] == Repeats {
			k := slices.IndexFunc(list[:i], func(o int32) bool { return s.repeats(r, o) })
			late = late || s.late(list[k], r)
		}
	}
	if differ {
		if s.out.Disagree++; s.out.Disagree == 1 {
			s.out.DisagreeRow = list[0]
		}
	}
	if late {
		if s.out.Late++; s.out.Late == 1 {
			s.out.LateRow = list[0]
		}
	}
}

// served returns the server's count of output tokens of a row.
func (s *summarizer) served(r int32) (int64, bool) {
	v, i := s.at(r)
	if code, ok := v.Dicts(trace.OutputTokensSource).At(i); !ok || trace.TokenSource(code) != trace.FromServer {
		return 0, false
	}
	return v.output.At(i)
}

// late reports whether the times to the first token of two rows of one side
// differ by more than the resolution of their clocks.
func (s *summarizer) late(a, b int32) bool {
	x, y := s.sight(a), s.sight(b)
	if !x.start.known || !x.first.known || !y.start.known || !y.first.known {
		return false
	}
	d := (x.first.t - x.start.t) - (y.first.t - y.start.t)
	step := 2 * (x.resolution + y.resolution)
	return d > step || -d > step
}

// names adds the refused names to the summary.
func (s *summarizer) names() {
	take := func(n *refused) Names {
		var out Names
		for _, r := range n.first {
			if v, _ := s.at(r); v.Part.Run != s.run {
				continue
			}
			out.First = s.show(out.First, r)
		}
		out.N = n.by[s.run]
		return out
	}
	s.out.Duplicates, s.out.Ambiguous = take(&s.duplicates), take(&s.ambiguous)
	if b := s.benchmarks[s.run]; b != nil && !b.one() {
		switch {
		case b.unlike:
			s.out.Benchmark = "other"
		case len(b.seen) == 0:
			s.out.Benchmark = "no_id"
		default:
			s.out.Benchmark = "several"
		}
	}
}

// sort sorts the pairs and their rules.
func (s *summarizer) sort() {
	slices.SortFunc(s.out.Pairs, func(p, q Pair) int {
		return cmp.Or(cmp.Compare(p.A, q.A), cmp.Compare(p.B, q.B), cmp.Compare(p.ClockA.String(), q.ClockA.String()), cmp.Compare(p.ClockB.String(), q.ClockB.String()))
	})
	for _, p := range s.out.Pairs {
		slices.SortFunc(p.Rules, func(a, b RuleCount) int {
			return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Rule, b.Rule))
		})
	}
}
