package latency

import (
	"math"

	"servescope/analyzer/join"
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
)

type state struct {
	cell.State[samples, *samples]
	wanted *[len(request.Measures)]stat.Wanted // in the second pass: what order statistics need
	found  []byte                              // and the encoding of what the first has found

	alike []*request.Row // requests of one place that are still to be folded
	where cell.Place
	of    *samples // of where

	values []int64 // of requests that are alike

	budget cell.Budget
	added  int   // values since the last pack, at most
	held   int64 // bytes of packed values in memory

	only cell.Only
	skip [len(request.Measures)]bool // by slot: it is not asked for
}

func (s *state) Update(v *kernel.View) {
	x := s.Begin(v)
	s.alike = s.alike[:0]
	resolutions, phases := v.Ints(trace.Resolution), v.Dicts(trace.AbortPhase)
	for i := range v.Rows {
		w, selected := x.Next(i)
		if !selected {
			continue
		}
		if w.MultiChoice != nil {
			s.flush() // room may drop the place of requests that wait
			s.Cells.MakeRoom()
			s.sequence(x, i, w)
		}
		if w.Sibling {
			continue
		}
		q := w.Request()
		early := s.fold(q, w.MultiChoice != nil, x.Place(q, x.Group[i], q.Arrival()), x.Place(q, x.Group[i], q.Leaving()))
		early.rows++
		early.note(q, s.Def)
		if phase, ok := phases.At(i); censored(q, s.Def) && (!ok || phase != decodePhase) {
			early.censored++
		}
		if w.Role == join.Counts {
			x.Unjoined(i, &early.unjoined)
		}
		if step, ok := resolutions.At(i); ok {
			early.resolution = max(early.resolution, step)
		}
		if x.Read == nil {
			s.flush() // the row is valid no longer
		}
	}
	s.flush()
	s.added += v.Rows * len(request.Measures)
	s.pack()
}

// fold folds a request that begins at one place and ends at another, and returns the
// content of the first. Those that are alike wait for flush. several says that it has
// several sequences, which have been folded.
func (s *state) fold(q *request.Row, several bool, begin, end cell.Place) *samples {
	if len(s.alike) > 0 && s.where == begin && begin == end && !several {
		s.alike = append(s.alike, q)
		return s.of
	}
	s.flush()
	s.Cells.MakeRoom()
	early := s.Cells.At(begin, 1)
	if begin == end && !several && early.fetch == nil {
		s.where, s.of, s.alike = begin, early, append(s.alike, q)
		return early
	}
	late := s.Cells.At(end, 0)
	for slot := range request.Measures {
		m := &request.Measures[slot]
		if several && m.OfSequence() || s.skip[slot] {
			continue
		}
		c := early
		if m.Leaving {
			c = late
		}
		c.put(slot, q, s.Def)
	}
	return early
}

// flush folds the requests that are alike, one measure after the other.
func (s *state) flush() {
	if len(s.alike) == 0 {
		return
	}
	for slot := range request.Measures {
		if s.skip[slot] {
			continue
		}
		if slot == request.MeasureTPOT && s.Def.TPOT != nil && s.Def.TPOT.Weighted {
			for _, q := range s.alike {
				s.of.put(slot, q, s.Def)
			}
			continue
		}
		s.putAll(s.of, slot)
	}
	s.alike = s.alike[:0]
}

// putAll folds the values of a measure of the requests that are alike.
func (s *state) putAll(to *samples, slot int) {
	m, def := &request.Measures[slot], s.Def
	of, values := m.Of, s.values[:0]
	n, last := int64(0), metric.None // requests, one behind the other, that are excluded for a reason
	for _, w := range s.alike {
		value, why := of(w, def)
		if why == metric.None {
			values = append(values, value)
			continue
		}
		if why != last && n > 0 {
			to.excluded[slot].Add(last, n)
			n = 0
		}
		last = why
		n++
	}
	if n > 0 {
		to.excluded[slot].Add(last, n)
	}
	if len(values) > 0 {
		to.values[slot].AddAll(values, m.Quotient)
	}
	s.values = values
}

// sequence folds what row i says of itself, as one of several sequences of a
// request.
func (s *state) sequence(x *cell.Batch, i int, w *request.Row) {
	c := s.Cells.At(x.Place(w, x.Group[i], w.Leaving()), 0)
	for slot := range request.Measures {
		if request.Measures[slot].OfSequence() && !s.skip[slot] {
			c.put(slot, w, s.Def)
		}
	}
}

// latencyShare is how many times as many values the samples of single requests may
// hold: without windows and groups they keep them, or count.
const latencyShare = 4

// pack bounds the unpacked values of all samples.
func (s *state) pack() {
	if s.wanted != nil {
		return
	}
	most := max(latencyShare*s.budget.Raw, cell.MinPacked*len(request.Measures)*len(s.Cells.ByPlace))
	if s.added <= most/2 {
		return
	}
	s.added = 0
	sum := 0
	for _, cell := range s.Cells.ByPlace {
		for i := range cell.values {
			sum += cell.values[i].RawCount()
		}
	}
	if sum <= most {
		return
	}
	for least := stat.SampleLimit; sum > most/2 && least >= cell.MinPacked; least /= 2 {
		for _, cell := range s.Cells.ByPlace {
			for i := range cell.values {
				v := &cell.values[i]
				if n := v.RawCount(); n >= least {
					var to stat.Store
					if s.held > s.budget.Packed {
						to = s.Facts.Store
					}
					s.held += v.Pack(to)
					sum -= n
				}
			}
		}
	}
}

func (s *state) Merge(other kernel.State) error {
	o, ok := other.(*state)
	if !ok {
		return cell.MergeError(s, other)
	}
	err := s.MergeCells(&o.State)
	s.held += o.held
	s.added = math.MaxInt
	s.pack()
	return err
}

// Sort sorts the values of each place.
func (s *state) Sort() {
	for _, cell := range s.Cells.ByPlace {
		for slot := range cell.values {
			cell.values[slot].Sort()
		}
	}
}

// Settle sorts and sums up the values of each side of a run that are in one place. Others are
// united for each cell before they are sorted.
func (s *state) Settle() {
	if s.wanted != nil {
		return
	}
	type part struct{ run, side int32 }
	places := make(map[part]int)
	for p := range s.Cells.ByPlace {
		places[part{p.Run, p.Side}]++
	}
	for p, cell := range s.Cells.ByPlace {
		if places[part{p.Run, p.Side}] > 1 {
			continue
		}
		for slot := range cell.values {
			cell.values[slot].Settle(request.Measures[slot].Quotient)
		}
	}
}

// Next asks for another pass where windows could not be placed yet, or where an
// order statistic is not known.
func (s *state) Next(facts *kernel.Facts) bool {
	if s.Learn(facts) {
		return true
	}
	if s.wanted != nil {
		return false
	}
	w, some := s.missing()
	if !some {
		return false
	}
	code := []byte{}
	for i := range w {
		code = w[i].AppendTo(code)
	}
	if facts.Private == nil {
		facts.Private = make(map[string][]byte)
	}
	facts.Private[latency{}.Name()] = s.AppendState(code)
	return true
}

// counted reports whether the values of any place are counted.
func (s *state) counted() bool {
	for _, c := range s.Cells.ByPlace {
		for i := range c.values {
			if c.values[i].Counted() {
				return true
			}
		}
	}
	return false
}

// missing returns what the report needs and is not known.
func (s *state) missing() (w [len(request.Measures)]stat.Wanted, some bool) {
	if !s.counted() {
		return w, false
	}
	add := func(of *samples, wide bool) {
		for slot := range w {
			censored := int64(0)
			if mayBeCensored(slot) {
				censored = of.censored
			}
			if of.values[slot].Counted() {
				s.Want(&w[slot], &of.values[slot], censored, wide)
				some = some || !w[slot].Empty()
			}
			of.values[slot].DropUnpacked()
		}
	}
	s.Cells.Prune()
	s.FinishingOf(s.Cells.Places(), func(run int32, info *cell.Run, places []cell.Place) {
		if info.Multiple() {
			s.ofSides(run, places, func(_ trace.Side, all *samples) { add(all, false) })
		}
		for _, t := range s.Targets(run, cell.OfRequests(places)) {
			for _, of := range s.unite(t.From) {
				if of != nil {
					add(of, t.Window == kernel.NoWindow)
				}
			}
		}
	})
	return w, some
}

// refine prepares s to fetch what an earlier pass has found missing.
func (s *state) refine(code []byte) {
	src := &cell.Reader{Src: code}
	s.wanted = new([len(request.Measures)]stat.Wanted)
	for i := range s.wanted {
		src.Part(s.wanted[i].Load)
	}
	s.found = src.Src
	s.Cells.Fresh = func() *samples { return &samples{fetch: &fetch{wanted: s.wanted}} }
}

// completed returns what the first pass has found, with what the second has
// fetched.
func (s *state) completed() *state {
	found := new(state)
	found.Base = cell.NewBase(s.Def, s.Query, s.Facts)
	if found.LoadState(s.found) != nil {
		return found // what is not a state was not encoded by Next
	}
	for p, c := range s.Cells.ByPlace {
		of := found.Cells.ByPlace[p]
		if of == nil {
			continue
		}
		for i := range of.values {
			of.values[i].AddFetched(&c.fetch.got[i])
		}
	}
	return found
}

// decodePhase is the code of a request that was aborted in its decode phase: it
// had its first token, though the token has no stamp.
const decodePhase = 3

// censored reports whether the request was aborted, or the log ends, before its
// first token: its TTFT is longer than it was seen to wait.
func censored(w *request.Row, def *metric.Definition) bool {
	return (w.Status == trace.Aborted || w.Status == trace.Open) && w.Stream != 0 && w.First(def) == request.None && w.LastToken == request.None
}
