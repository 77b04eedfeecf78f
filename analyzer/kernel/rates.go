package kernel

import (
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/stat"
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
	seconds cells[seconds, *seconds] // by group, without windows
}

func (s *ratesState) Update(v *View) {
	x := s.begin(v)
	l := listsOf(v)
	names := v.Dicts(trace.Replica)
	for i := range v.Rows {
		w, selected := x.next(i)
		if !selected || s.late {
			continue
		}
		c, why := l.at(i, &w)
		e := emissionOf(&w, c, why, s.def)
		name := ""
		if code, ok := names.At(i); ok {
			name = names.Values[code]
		}
		s.y = sequence{batch: x, row: w, emission: e, group: x.group[i], replica: name}
		s.count(&s.y)
		s.emit(&s.y)
		s.decode(&s.y)
	}
}

// sequence is a request as rates see it.
type sequence struct {
	*batch
	row      row
	emission emission
	group    int32
	replica  string
}

// at returns the flow at time t.
func (s *ratesState) at(y *sequence, t, n int64) *flow {
	s.cells.room()
	return s.cells.at(y.place(&y.row, y.group, t), n)
}

// count adds what a request counts once.
func (s *ratesState) count(y *sequence) {
	w, good := &y.row, y.row.cohort(s.def) == metric.None
	f := s.at(y, w.arrival(), 1)
	f.requests++
	if w.status == trace.OK {
		f.ok++
		if y.emission.n == 0 && w.tokens(s.def) == none {
			f.unknown++
		}
		s.complete(y)
	}
	f = s.at(y, y.emission.base, 0) // the prompt is credited at the first token
	if good && w.prompt != none {
		f.promptOK += w.prompt
	}
	if y.emission.n == 0 {
		return
	}
	f.prompts++
	if w.prompt == none {
		f.noPrompt++
		return
	}
	f.prompt += w.prompt
	if w.cached == none {
		f.noCached++
	} else {
		f.cached += w.cached
	}
}

// complete adds what an ok request counts at its end.
func (s *ratesState) complete(y *sequence) {
	w := &y.row
	f := s.at(y, w.leaving(), 0)
	f.completed++
	if w.placed && w.leaving() != none {
		f.firstDone, f.lastDone = least(f.firstDone, w.leaving()), max(f.lastDone, w.leaving())
	}
	if v, why := tpot(w, s.def); why == metric.None {
		f.tpot += int64(float64(stat.Unkey(v)*fraction) + 0.5)
		f.tpots++
	}
}

// stretches calls f for the tokens that each window holds. Those in none are in
// NoWindow; so are those in windows beyond what is kept, all at once.
func (s *ratesState) stretches(y *sequence, f func(window, n int64)) {
	e := y.emission
	if y.axis.length == 0 || y.axis.other || !y.row.placed || e.base == none {
		f(NoWindow, e.n)
		return
	}
	left := e.n
	if e.last >= y.axis.to {
		e = e.before(y.axis.to)
	}
	e.walk(y.axis.origin, y.axis.length, func(start, n int64) bool {
		if s.cells.beyond(start) && !e.backwards() {
			s.cells.lost += e.n - (y.emission.n - left)
			return false
		}
		left -= n
		f(start, n)
		return true
	})
	if left > 0 {
		f(NoWindow, left)
	}
}

// emit adds the tokens at their own time.
func (s *ratesState) emit(y *sequence) {
	e := &y.emission
	if e.n == 0 {
		return
	}
	good, first := y.row.cohort(s.def) == metric.None, true
	s.stretches(y, func(start, n int64) {
		s.cells.room()
		f := s.cells.at(place{start, y.index, y.group, int32(y.row.side)}, n)
		f.tokens += n
		if good {
			f.tokensOK += n
		}
		if y.replica == "" {
			f.unnamed += n
		} else {
			f.replica(y.replica, replica{tokens: n})
		}
		if first {
			first = false
			f.first(e)
		}
	})
	if !y.row.placed || e.base == none {
		return
	}
	whole := place{NoWindow, y.index, y.group, int32(y.row.side)}
	sec := s.seconds.at(whole, 0)
	late := *e
	late.base, late.last = e.base-1, e.last-1
	late.walk(0, second, func(start, n int64) bool { sec.add(start/second, n); return true })
	if late.longStretch {
		s.cells.at(whole, 0).long++
	}
}

// first counts the first token of a request.
func (f *flow) first(e *emission) {
	f.firsts++
	if e.byChunk {
		f.byChunk++
	}
	if e.spread {
		f.spread++
	}
}

// decode adds the time between first and last token, clipped to windows.
func (s *ratesState) decode(y *sequence) {
	w := &y.row
	begin := or(w.token, w.event)
	d, why := between(begin, w.last)
	if why != metric.None || w.stream == 0 {
		return
	}
	n := w.tokens(s.def)
	known := n != none && n >= 1
	put := func(window, d, steps int64) {
		s.cells.room()
		f := s.cells.at(place{window, y.index, y.group, int32(w.side)}, 0)
		r := replica{span: d}
		if known {
			r.timed, r.steps = d, steps
		}
		f.span += r.span
		f.timed += r.timed
		f.steps += r.steps
		if y.replica != "" {
			f.replica(y.replica, r)
		}
	}
	if y.axis.length == 0 || y.axis.other || !w.placed {
		put(NoWindow, d, n-1)
		return
	}
	// Time and tokens of each window. Tokens beyond the first are steps.
	for t := begin; t < w.last; {
		window, end := y.axis.window(t), w.last
		switch {
		case window != NoWindow && s.cells.beyond(window):
			window = NoWindow
		case window != NoWindow:
			end = min(end, window+y.axis.length, y.axis.to)
		case t < y.axis.from:
			end = min(end, y.axis.from)
		}
		put(window, end-t, 0)
		t = end
	}
	if !known {
		return
	}
	first := true
	lost := s.cells.lost
	s.stretches(y, func(window, n int64) {
		if first {
			first, n = false, n-1
		}
		put(window, 0, n)
	})
	s.cells.lost = lost // counted by emit
}
