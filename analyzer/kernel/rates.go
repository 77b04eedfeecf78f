package kernel

import (
	"math"

	"servescope/analyzer/join"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
)

// rates computes throughput: what went through in an interval of time, and the
// models that it is compared with. Requests belong to the window of their send,
// completions to that of their end, tokens to that of their own time.
type rates struct{ def *metric.Definition }

func (rates) Name() string { return "rates" }
func (rates) Lists() bool  { return true }

func (k rates) New(q *query.Query, facts *Facts) State {
	s := new(ratesState)
	s.base = newBase(k.def, q, facts)
	s.cells.fresh = newFlow
	return s
}

type ratesState struct {
	celled[flow, *flow]
	y       sequence                 // the request at hand
	more    occupancy                // columns that only rates read
	seconds cells[seconds, *seconds] // by group, without windows
}

func (s *ratesState) Update(v *View) {
	x := s.begin(v)
	l := listsOf(v)
	names := v.Dicts(trace.Replica)
	s.more = occupancyOf(v)
	origin, known := s.origin(v.RunIndex)
	s.late = s.late || s.def.ChunkPeak && !known && s.facts.Pass == 0
	for i := range v.Rows {
		w, selected := x.next(i)
		if !selected || s.late || w.role == join.Linked {
			continue
		}
		c, why := l.at(i, w)
		e := emissionOf(w, c, why, s.def)
		name := ""
		if code, ok := names.At(i); ok {
			name = names.Values[code]
		}
		s.y = sequence{batch: x, row: w, emission: e, i: i, group: x.group[i], replica: name}
		if !w.sibling {
			s.count(s.y.request(s.def))
		}
		s.emit(&s.y)
		s.decode(&s.y)
		if s.def.ChunkPeak && w.cohort(s.def) == metric.None {
			if why == metric.None {
				c, why = l.listed(i, w, c, s.def)
			}
			s.peaks(&s.y, c, why, origin)
		}
	}
}

// origin returns the first send of a run, from where tools count seconds.
func (s *ratesState) origin(run int32) (int64, bool) {
	if int(run) >= len(s.facts.Runs) || !s.facts.Runs[run].HasTimes {
		return 0, false
	}
	return s.facts.Runs[run].FirstSend, true
}

// peaks counts the chunks of a request by seconds from origin on.
func (s *ratesState) peaks(y *sequence, c chunks, why metric.Reason, origin int64) {
	whole := place{NoWindow, y.index, y.group, int32(y.row.side)}
	if why != metric.None || c.base == none {
		s.cells.at(whole, 0).unlisted++
		return
	}
	if !y.row.placed {
		return
	}
	sec, t := s.seconds.at(whole, 0), c.base-origin
	sec.add((t-floorMod(t, second))/second, 1)
	for _, gap := range c.gaps {
		t += gap
		sec.add((t-floorMod(t, second))/second, 1)
	}
}

// sequence is a request as rates see it.
type sequence struct {
	*batch
	row      *row
	emission emission
	i        int // in the batch
	group    int32
	replica  string
}

// request returns the request of the sequence, mostly itself.
func (y *sequence) request(def *metric.Definition) *sequence {
	if y.row.joint == nil {
		return y
	}
	q := *y
	q.row = y.row.request()
	q.emission = emissionOf(q.row, chunks{base: none}, metric.NotRecorded, def)
	return &q
}

// at returns the flow at time t.
func (s *ratesState) at(y *sequence, t, n int64) *flow {
	s.cells.room()
	return s.cells.at(y.place(y.row, y.group, t), n)
}

// count adds what a request counts once.
func (s *ratesState) count(y *sequence) {
	w, e := y.row, &y.emission
	f := s.at(y, w.arrival(), 1)
	f.requests++
	if w.cohort(s.def) == metric.None { // ok, or what the tool takes for it
		f.ok++
		s.complete(y)
	}
	if e.n == 0 && w.tokens(s.def) == none && w.emitted() {
		s.missing(y)
	}
	s.prompt(y)
}

// missing counts a request that emitted nobody knows how many tokens.
func (s *ratesState) missing(y *sequence) {
	w, e, ok := y.row, &y.emission, int64(0)
	if y.row.cohort(s.def) == metric.None {
		ok = 1
	}
	first := true
	s.during(y, or(e.base, w.arrival()), or(e.last, w.arrival()), func(window, _ int64) {
		f := s.in(y, window, 0)
		f.unknownIn++
		f.unknownOKIn += ok
		if first && window != elsewhere {
			first = false
			f.unknown++
			f.unknownOK += ok
		}
	})
}

// prompt credits the prompt of a request at its first token. Of failed ones,
// tools count none.
func (s *ratesState) prompt(y *sequence) {
	w, e := y.row, &y.emission
	if s.def.OKOnly && w.cohort(s.def) != metric.None || !s.def.OKOnly && e.n == 0 && !w.emitted() {
		return
	}
	f := s.at(y, e.base, 0)
	f.prompts++
	switch {
	case w.prompt == none:
		f.noPrompt++
		return
	case w.cached == none:
		f.noCached++
	case w.overCached():
		f.overCached++
	default:
		f.cached += w.cached
		f.cachedOf += w.prompt
	}
	f.prompt += w.prompt
	if e.n > 0 || w.tokens(s.def) != none {
		f.toldPrompt += w.prompt
	}
	if w.cohort(s.def) == metric.None {
		f.promptOK += w.prompt
	}
}

// complete adds what an ok request counts at its end.
func (s *ratesState) complete(y *sequence) {
	w := y.row
	f := s.at(y, w.leaving(), 0)
	f.completed++
	if end := or(w.finish, w.last); w.placed && end != none {
		f.dated++
		f.firstDone, f.lastDone = least(f.firstDone, end), max(f.lastDone, end)
	}
}

// stretches calls f for the tokens that each window holds, in order of time.
// Those in none are in NoWindow; so are those in windows beyond what is kept,
// all at once. Those outside of the query's interval are elsewhere.
func (s *ratesState) stretches(y *sequence, f func(window, n int64)) {
	e, a := &y.emission, &y.axis
	if !y.row.placed || e.base == none {
		f(y.place(y.row, y.group, none).window, e.n)
		return
	}
	from, to := y.inside()
	if from > 0 {
		f(elsewhere, from)
	}
	if left := to - from; left > 0 && a.length == 0 {
		f(NoWindow, left)
	} else if left > 0 {
		s.windowed(y, from, to, f)
	}
	if to < e.n {
		f(elsewhere, e.n-to)
	}
}

// windowed calls f for the tokens [from, to) that each window holds.
func (s *ratesState) windowed(y *sequence, from, to int64, f func(window, n int64)) {
	e, done, left := &y.emission, int64(0), to-from
	e.walk(y.axis.origin, y.axis.length, func(start, n int64) bool {
		in := min(done+n, to) - max(done, from)
		done += n
		switch {
		case in <= 0 || !y.axis.holds(start):
			return done < to
		case s.cells.beyond(start) && !e.backwards():
			s.cells.lost += left
			return false
		}
		left -= in
		f(start, in)
		return true
	})
	if left > 0 {
		f(NoWindow, left)
	}
}

// inside returns which of the tokens come in the query's interval: [from, to).
func (y *sequence) inside() (from, to int64) {
	a, e := &y.axis, &y.emission
	to = e.n
	if a.to != math.MaxInt64 {
		to = e.before(a.to)
	}
	if a.from != math.MinInt64 {
		from = min(e.before(a.from), to)
	}
	return from, to
}

// emit adds the tokens at their own time.
func (s *ratesState) emit(y *sequence) {
	e := &y.emission
	if e.n == 0 {
		return
	}
	good, first, once := y.row.cohort(s.def) == metric.None, true, true
	told := y.row.request().prompt != none && (good || !s.def.OKOnly)
	s.stretches(y, func(start, n int64) {
		f := s.in(y, start, n)
		f.tokens += n
		if good {
			f.tokensOK += n
		}
		if told {
			f.toldOutput += n
		}
		if e.byChunk {
			f.byChunkIn++
		}
		if e.spread {
			f.spreadIn++
		}
		if y.replica == "" {
			f.unnamed += n
		} else {
			f.replica(y.replica, replica{tokens: n})
		}
		if first && (good || !s.def.OKOnly) { // it is in the model
			f.firsts++
		}
		first = false
		if once && start != elsewhere {
			once = false
			f.assumed(e)
		}
	})
	if !y.row.placed || e.base == none || s.def.ChunkPeak {
		return
	}
	whole := place{NoWindow, y.index, y.group, y.row.slot()}
	sec := s.seconds.at(whole, 0)
	late := *e
	late.base, late.last = e.base-1, e.last-1
	from, to := y.inside()
	if y.axis.from != math.MinInt64 { // what comes as W begins is the work of the time before
		from = min(e.before(y.axis.from+1), to)
	}
	done := int64(0)
	late.walk(0, second, func(start, n int64) bool {
		if in := min(done+n, to) - max(done, from); in > 0 {
			sec.add(start/second, in)
		}
		done += n
		return true
	})
	if late.longStretch {
		s.cells.at(whole, 0).long++
	}
}

// assumed counts a request whose tokens are not all counted and timed.
func (f *flow) assumed(e *emission) {
	if e.byChunk {
		f.byChunk++
	}
	if e.spread {
		f.spread++
	}
}

// decode adds the time between first and last token, clipped to windows.
func (s *ratesState) decode(y *sequence) {
	w := y.row
	if s.def.OKOnly && w.cohort(s.def) != metric.None {
		return
	}
	begin, end := or(w.token, w.event), w.decoded()
	d, why := between(begin, end)
	if why != metric.None || w.stream == 0 {
		if y.emission.n > 0 || w.emitted() {
			s.at(y, w.arrival(), 0).undated++
		}
		return
	}
	s.occupy(y, begin, end)
	n := w.tokens(s.def)
	known := n != none && n >= 1 && !(w.beam && s.def.Strict)
	s.span(y, begin, end, known)
	if !known || n < 2 {
		return
	}
	if f := s.at(y, w.leaving(), 0); d == 0 {
		f.instant++
	} else {
		f.tpot += int64(float64(float64(d)/float64(n-1)*fraction) + 0.5)
		f.tpots++
	}
	// Tokens beyond the first are steps.
	if !y.axis.divided() || !w.placed {
		s.step(y, NoWindow, n-1)
		return
	}
	first := true
	lost := s.cells.lost
	s.stretches(y, func(window, n int64) {
		if first {
			first, n = false, n-1
		}
		s.step(y, window, n)
	})
	s.cells.lost = lost // counted by emit
}

// span adds the decode time of a sequence; known says whether TPOT is made of it.
func (s *ratesState) span(y *sequence, begin, end int64, known bool) {
	beam := y.row.beam && s.def.Strict
	once := !known && !beam
	s.during(y, begin, end, func(window, d int64) {
		f, r := s.in(y, window, 0), replica{span: d}
		f.span += d
		switch {
		case known:
			r.timed = d
			f.timed += d
		case beam:
			f.beams++
		default:
			f.untimedIn++
		}
		if once && window != elsewhere {
			once = false
			f.untimed++
		}
		if y.replica != "" {
			f.replica(y.replica, r)
		} else if !known {
			f.unnamed++
		}
	})
}

// step adds tokens that came after the first.
func (s *ratesState) step(y *sequence, window, n int64) {
	f := s.in(y, window, 0)
	f.steps += n
	if y.replica != "" {
		f.replica(y.replica, replica{steps: n})
	}
}

// in returns the flow of a window, for n requests or tokens.
func (s *ratesState) in(y *sequence, window, n int64) *flow {
	s.cells.room()
	return s.cells.at(place{window, y.index, y.group, y.row.slot()}, n)
}

// during calls f for each window that [from, to) lies in and the time that it
// spends there; once for an instant.
func (s *ratesState) during(y *sequence, from, to int64, f func(window, d int64)) {
	d, why := between(from, to)
	switch {
	case !y.axis.divided() || !y.row.placed:
		f(NoWindow, d)
		return
	case why != metric.None:
		f(y.place(y.row, y.group, none).window, d)
		return
	}
	for t := from; ; {
		window, end := y.axis.stretch(t)
		if window > elsewhere && s.cells.beyond(window) {
			window, end = NoWindow, y.axis.to
		}
		end = min(end, to)
		f(window, end-t)
		if t = end; t >= to {
			return
		}
	}
}
