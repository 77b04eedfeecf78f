package rates

import (
	"math"

	"servescope/analyzer/join"
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/trace"
)

type state struct {
	cell.State[flow, *flow]
	y       sequence                      // the request at hand
	more    occupancy                     // columns that only rates read
	seconds cell.Cells[seconds, *seconds] // by group, without windows
}

func (s *state) Update(v *kernel.View) {
	x := s.Begin(v)
	l := request.ListsOf(v)
	names := v.Dicts(trace.Replica)
	s.more = occupancyOf(v)
	origin, known := s.origin(v.RunIndex)
	s.Pending = s.Pending || s.Def.ChunkPeak && !known && s.Facts.Pass == 0
	for i := range v.Rows {
		w, selected := x.Next(i)
		if !selected || s.Pending || w.Role == join.Linked {
			continue
		}
		c, why := l.At(i, w)
		e := request.EmissionOf(w, c, why, s.Def)
		name := ""
		if code, ok := names.At(i); ok {
			name = names.Values[code]
		}
		s.y = sequence{Batch: x, row: w, emission: e, i: i, group: x.Group[i], replica: name}
		if !w.Sibling {
			s.count(s.y.request(s.Def))
		}
		s.emit(&s.y)
		s.decode(&s.y)
		if s.Def.ChunkPeak && w.Cohort(s.Def) == metric.None {
			if why == metric.None {
				c, why = l.Listed(i, w, c, s.Def)
			}
			s.peaks(&s.y, c, why, origin)
		}
	}
}

// origin returns the first send of a run, from where tools count seconds.
func (s *state) origin(run int32) (int64, bool) {
	if int(run) >= len(s.Facts.Runs) || !s.Facts.Runs[run].HasTimes {
		return 0, false
	}
	return s.Facts.Runs[run].FirstSend, true
}

// peaks counts the chunks of a request by seconds from origin on.
func (s *state) peaks(y *sequence, c request.Chunks, why metric.Reason, origin int64) {
	whole := cell.Place{Window: kernel.NoWindow, Run: y.RunIndex, Group: y.group, Side: int32(y.row.Side)}
	if why != metric.None || c.Base == request.None {
		s.Cells.At(whole, 0).unlisted++
		return
	}
	if !y.row.Placed {
		return
	}
	sec, t := s.seconds.At(whole, 0), c.Base-origin
	sec.add((t-request.FloorMod(t, request.Second))/request.Second, 1)
	for _, gap := range c.Gaps {
		t += gap
		sec.add((t-request.FloorMod(t, request.Second))/request.Second, 1)
	}
}

// at returns the flow at time t.
func (s *state) at(y *sequence, t, n int64) *flow {
	s.Cells.MakeRoom()
	return s.Cells.At(y.Place(y.row, y.group, t), n)
}

// count adds what a request counts once.
func (s *state) count(y *sequence) {
	w, e := y.row, &y.emission
	f := s.at(y, w.Arrival(), 1)
	f.requests++
	if w.Cohort(s.Def) == metric.None { // ok, or what the tool takes for it
		f.ok++
		s.complete(y)
	}
	if e.N == 0 && w.Tokens(s.Def) == request.None && w.Emitted() {
		s.missing(y)
	}
	s.prompt(y)
}

// missing counts a request that emitted an unknown number of tokens.
func (s *state) missing(y *sequence) {
	w, e, ok := y.row, &y.emission, int64(0)
	if y.row.Cohort(s.Def) == metric.None {
		ok = 1
	}
	first := true
	s.during(y, request.Or(e.Base, w.Arrival()), request.Or(e.Last, w.Arrival()), func(window, _ int64) {
		f := s.in(y, window, 0)
		f.unknownIn++
		f.unknownOKIn += ok
		if first && window != cell.Elsewhere {
			first = false
			f.unknown++
			f.unknownOK += ok
		}
	})
}

// prompt credits the prompt of a request at its first token. Of failed ones,
// tools count none.
func (s *state) prompt(y *sequence) {
	w, e := y.row, &y.emission
	if s.Def.OKOnly && w.Cohort(s.Def) != metric.None || !s.Def.OKOnly && e.N == 0 && !w.Emitted() {
		return
	}
	f := s.at(y, e.Base, 0)
	f.prompts++
	switch {
	case w.PromptTokens == request.None:
		f.noPrompt++
		return
	case w.CachedTokens == request.None:
		f.noCached++
	case w.OverCached():
		f.overCached++
	default:
		f.cached += w.CachedTokens
		f.cachedOf += w.PromptTokens
	}
	f.prompt += w.PromptTokens
	if e.N > 0 || w.Tokens(s.Def) != request.None {
		f.toldPrompt += w.PromptTokens
	}
	if w.Cohort(s.Def) == metric.None {
		f.promptOK += w.PromptTokens
	}
}

// complete adds what an ok request counts at its end.
func (s *state) complete(y *sequence) {
	w := y.row
	f := s.at(y, w.Leaving(), 0)
	f.completed++
	if end := request.Or(w.Finished, w.LastToken); w.Placed && end != request.None {
		f.dated++
		f.firstDone, f.lastDone = request.Earlier(f.firstDone, end), max(f.lastDone, end)
	}
}

// stretches calls f for the tokens that each window holds, in order of time.
// Those in none are in NoWindow; so are those in windows beyond what is kept,
// all at once. Those outside of the query's interval are elsewhere.
func (s *state) stretches(y *sequence, f func(window, n int64)) {
	e, a := &y.emission, &y.Axis
	if !y.row.Placed || e.Base == request.None {
		f(y.Place(y.row, y.group, request.None).Window, e.N)
		return
	}
	from, to := y.inside()
	if from > 0 {
		f(cell.Elsewhere, from)
	}
	if left := to - from; left > 0 && a.Length == 0 {
		f(kernel.NoWindow, left)
	} else if left > 0 {
		s.windowed(y, from, to, f)
	}
	if to < e.N {
		f(cell.Elsewhere, e.N-to)
	}
}

// windowed calls f for the tokens [from, to) that each window holds.
func (s *state) windowed(y *sequence, from, to int64, f func(window, n int64)) {
	e, done, left := &y.emission, int64(0), to-from
	e.Walk(y.Axis.Origin, y.Axis.Length, func(start, n int64) bool {
		in := min(done+n, to) - max(done, from)
		done += n
		switch {
		case in <= 0 || !y.Axis.Holds(start):
			return done < to
		case s.Cells.Beyond(start) && !e.Backwards():
			s.Cells.Lost += left
			return false
		}
		left -= in
		f(start, in)
		return true
	})
	if left > 0 {
		f(kernel.NoWindow, left)
	}
}

// emit adds the tokens at their own time.
func (s *state) emit(y *sequence) {
	e := &y.emission
	if e.N == 0 {
		return
	}
	good, first, once := y.row.Cohort(s.Def) == metric.None, true, true
	told := y.row.Request().PromptTokens != request.None && (good || !s.Def.OKOnly)
	s.stretches(y, func(start, n int64) {
		f := s.in(y, start, n)
		f.tokens += n
		if good {
			f.tokensOK += n
		}
		if told {
			f.toldOutput += n
		}
		if e.ByChunk {
			f.byChunkIn++
		}
		if e.Spread {
			f.spreadIn++
		}
		if y.replica == "" {
			f.unnamed += n
		} else {
			f.replica(y.replica, replica{tokens: n})
		}
		if first && (good || !s.Def.OKOnly) { // it is in the model
			f.firsts++
		}
		first = false
		if once && start != cell.Elsewhere {
			once = false
			f.assumed(e)
		}
	})
	if !y.row.Placed || e.Base == request.None || s.Def.ChunkPeak {
		return
	}
	whole := cell.Place{Window: kernel.NoWindow, Run: y.RunIndex, Group: y.group, Side: y.row.Slot()}
	sec := s.seconds.At(whole, 0)
	late := *e
	late.Base, late.Last = e.Base-1, e.Last-1
	from, to := y.inside()
	if y.Axis.From != math.MinInt64 { // what comes as W begins is the work of the time before
		from = min(e.Before(y.Axis.From+1), to)
	}
	done := int64(0)
	late.Walk(0, request.Second, func(start, n int64) bool {
		if in := min(done+n, to) - max(done, from); in > 0 {
			sec.add(start/request.Second, in)
		}
		done += n
		return true
	})
	if late.LongStretch {
		s.Cells.At(whole, 0).long++
	}
}

// decode adds the time between first and last token, clipped to windows.
func (s *state) decode(y *sequence) {
	w := y.row
	if s.Def.OKOnly && w.Cohort(s.Def) != metric.None {
		return
	}
	begin, end := request.Or(w.FirstToken, w.FirstEvent), w.Decoded()
	d, why := request.Between(begin, end)
	if why != metric.None || w.Stream == 0 {
		if y.emission.N > 0 || w.Emitted() {
			s.at(y, w.Arrival(), 0).undated++
		}
		return
	}
	s.occupy(y, begin, end)
	n := w.Tokens(s.Def)
	known := n != request.None && n >= 1 && !(w.Beam && s.Def.Strict)
	s.span(y, begin, end, known)
	if !known || n < 2 {
		return
	}
	if f := s.at(y, w.Leaving(), 0); d == 0 {
		f.instant++
	} else {
		f.tpot += int64(float64(float64(d)/float64(n-1)*request.Fraction) + 0.5)
		f.tpots++
	}
	// Tokens beyond the first are steps.
	if !y.Axis.Divided() || !w.Placed {
		s.step(y, kernel.NoWindow, n-1)
		return
	}
	first := true
	lost := s.Cells.Lost
	s.stretches(y, func(window, n int64) {
		if first {
			first, n = false, n-1
		}
		s.step(y, window, n)
	})
	s.Cells.Lost = lost // counted by emit
}

// occupy adds the time that a sequence which decoded in [begin, end) spent in the
// running batch, and the part of it in which it stalled. A stall has a length and
// no place: a sequence with one that lies in several windows leaves them without.
func (s *state) occupy(y *sequence, begin, end int64) {
	admitted, stall := s.more.admission(y.i, begin), s.more.stalled(y.i)
	if admitted != request.None {
		s.during(y, admitted, end, func(window, d int64) { s.in(y, window, 0).running += d })
	}
	if admitted != request.None && stall == 0 {
		return
	}
	parts, inside := 0, 0
	s.during(y, begin, end, func(window, _ int64) {
		if parts++; window != cell.Elsewhere {
			inside++
		}
	})
	first := true
	s.during(y, begin, end, func(window, _ int64) {
		f, once := s.in(y, window, 0), first && window != cell.Elsewhere
		if once {
			first = false
		}
		if admitted == request.None {
			count(&f.unadmitted, &f.unadmittedIn, once)
		}
		switch {
		case stall == request.None:
			count(&f.unstalled, &f.unstalledIn, once)
		case stall == 0:
		case inside < parts: // some of it may be outside of the query's interval
			count(&f.severed, &f.adrift, once)
		default:
			if once {
				f.stalled += stall
			}
			if parts > 1 {
				f.adrift++
			}
		}
	})
}

// count counts what is there once, and in every window.
func count(total, everywhere *int64, once bool) {
	*everywhere++
	if once {
		*total++
	}
}

// span adds the decode time of a sequence; known says whether TPOT is made of it.
func (s *state) span(y *sequence, begin, end int64, known bool) {
	beam := y.row.Beam && s.Def.Strict
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
		if once && window != cell.Elsewhere {
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
func (s *state) step(y *sequence, window, n int64) {
	f := s.in(y, window, 0)
	f.steps += n
	if y.replica != "" {
		f.replica(y.replica, replica{steps: n})
	}
}

// in returns the flow of a window, for n requests or tokens.
func (s *state) in(y *sequence, window, n int64) *flow {
	s.Cells.MakeRoom()
	return s.Cells.At(cell.Place{Window: window, Run: y.RunIndex, Group: y.group, Side: y.row.Slot()}, n)
}

// during calls f for each window that [from, to) lies in and the time that it
// spends there; once for an instant.
func (s *state) during(y *sequence, from, to int64, f func(window, d int64)) {
	d, why := request.Between(from, to)
	switch {
	case !y.Axis.Divided() || !y.row.Placed:
		f(kernel.NoWindow, d)
		return
	case why != metric.None:
		f(y.Place(y.row, y.group, request.None).Window, d)
		return
	}
	for t := from; ; {
		window, end := y.Axis.Stretch(t)
		if window > cell.Elsewhere && s.Cells.Beyond(window) {
			window, end = kernel.NoWindow, y.Axis.To
		}
		end = min(end, to)
		f(window, end-t)
		if t = end; t >= to {
			return
		}
	}
}

func (s *state) Merge(other kernel.State) error {
	o, ok := other.(*state)
	if !ok {
		return cell.MergeError(s, other)
	}
	s.seconds.Merge(&o.seconds)
	return s.MergeCells(&o.State)
}

func (s *state) AppendState(dst []byte) []byte {
	return s.seconds.AppendTo(s.Cells.AppendTo(s.Base.AppendRuns(dst)))
}

func (s *state) LoadState(src []byte) error {
	r := &cell.Reader{Src: src}
	s.Base.LoadRuns(r)
	s.Cells.Load(r)
	s.seconds.Load(r)
	return r.Done()
}

func (s *state) Size() int64 { return s.Cells.Size() + s.seconds.Size() }
