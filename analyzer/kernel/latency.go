package kernel

import (
	"fmt"
	"math"

	"servescope/analyzer/join"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// latency computes the metrics that have one value per request. Values are kept
// at the finest place only; coarser cells are unions. Where a place has too many
// they are counted, and those that order statistics need are fetched in a second
// pass: see fetch. TTFT and what else lies at the start of a request belong to
// the window of its send, the rest to that of its end.
type latency struct {
	def  *metric.Definition
	only *only
}

func (latency) Name() string { return "latency" }
func (latency) Lists() bool  { return false }
func (k latency) New(q *query.Query, facts *Facts) State {
	s := new(latencyState)
	s.base = newBase(k.def, q, facts)
	s.room = roomOf(facts)
	s.only, s.skip = k.only, k.only.skipped()
	if code := facts.Private[k.Name()]; len(code) > 0 {
		s.refine(code)
	}
	return s
}

// samples holds the values of a place by slot of measures.
type samples struct {
	rows     int64
	values   [len(measures)]stat.Sample
	fetch    *fetch // in the second pass: what values are for then, instead
	excluded [len(measures)]tally
	tpots    weighted // TPOTs, where a definition weighs them, instead of values

	eventOnly, streamEnd int64 // TTFTs from the first event alone; E2Es that end with the response
	served, retokenized  int64 // tokens by the server's and the client's count, of requests with both
	both                 int64 // how many these are
	resolution           int64 // the coarsest step of stamps
	censored             int64 // requests aborted or left open before their first token
	tailRows, tail       int64 // requests with a last token and a later end, and the time between

	unjoined [sides]int64 // requests that each side has no row of, where rows were joined
}

func (s *samples) sums() []*int64 {
	list := []*int64{&s.rows, &s.eventOnly, &s.streamEnd, &s.served, &s.retokenized, &s.both, &s.tailRows, &s.tail, &s.censored}
	for i := range s.unjoined {
		list = append(list, &s.unjoined[i])
	}
	return list
}

func (s *samples) merge(o *samples) {
	for i := range s.values {
		s.values[i].Merge(&o.values[i], measures[i].quotient)
	}
	if s.fetch != nil {
		s.fetch.merge(o.fetch)
	}
	s.mergeRest(o)
}

// unite is merge for what is printed next.
func (s *samples) unite(o *samples) {
	for i := range s.values {
		s.values[i].Unite(&o.values[i])
	}
	s.mergeRest(o)
}

func (s *samples) mergeRest(o *samples) {
	for i := range s.excluded {
		s.excluded[i].merge(o.excluded[i])
	}
	s.tpots = append(s.tpots, o.tpots...)
	mine := s.sums()
	for i, n := range o.sums() {
		*mine[i] += *n
	}
	s.resolution = max(s.resolution, o.resolution)
}

func (s *samples) weight() int64 { return s.rows }

func (s *samples) size() int64 {
	n := int64(48*len(measures)) + 16*int64(cap(s.tpots))
	for i := range s.values {
		n += s.values[i].Size() + 16*int64(cap(s.excluded[i]))
	}
	if s.fetch != nil {
		n += s.fetch.size()
	}
	return n
}

func (s *samples) appendTo(dst []byte) []byte {
	for i := range s.values {
		dst = s.excluded[i].appendTo(s.values[i].AppendTo(dst))
	}
	if s.fetch != nil {
		dst = s.fetch.appendTo(dst)
	}
	dst = s.tpots.appendTo(dst)
	for _, n := range s.sums() {
		dst = appendInts(dst, *n)
	}
	return appendInts(dst, s.resolution)
}

func (s *samples) load(src *reader) {
	for i := range s.values {
		src.part(s.values[i].Load)
		s.excluded[i].load(src)
	}
	if s.fetch != nil {
		s.fetch.load(src)
	}
	s.tpots.load(src)
	src.ints(s.sums()...)
	src.ints(&s.resolution)
}

type latencyState struct {
	celled[samples, *samples]
	wanted *[len(measures)]stat.Wanted // in the second pass: what order statistics need
	found  []byte                      // and the encoding of what the first has found

	alike []*row // requests of one place that are still to be folded
	where place
	of    *samples // of where

	values []int64 // of requests that are alike

	room  room
	added int   // values since the last pack, at most
	held  int64 // bytes of packed values in memory

	only *only
	skip [len(measures)]bool // by slot: nobody asks for it
}

func (s *latencyState) Update(v *View) {
	x := s.begin(v)
	s.alike = s.alike[:0]
	resolutions, phases := v.Ints(trace.Resolution), v.Dicts(trace.AbortPhase)
	for i := range v.Rows {
		w, selected := x.next(i)
		if !selected {
			continue
		}
		if w.joint != nil {
			s.flush() // room may drop the place of those that wait
			s.cells.room()
			s.sequence(x, i, w)
		}
		if w.sibling {
			continue
		}
		q := w.request()
		early := s.fold(q, w.joint != nil, x.place(q, x.group[i], q.arrival()), x.place(q, x.group[i], q.leaving()))
		early.rows++
		early.note(q, s.def)
		if phase, ok := phases.At(i); censored(q, s.def) && (!ok || phase != decodePhase) {
			early.censored++
		}
		if w.role == join.Counts {
			x.unjoined(i, &early.unjoined)
		}
		if step, ok := resolutions.At(i); ok {
			early.resolution = max(early.resolution, step)
		}
		if x.read == nil {
			s.flush() // the row is valid no longer
		}
	}
	s.flush()
	s.added += v.Rows * len(measures)
	s.pack()
}

// fold folds a request that begins at one place and ends at another, and returns the
// content of the first. Those that are alike wait for flush. several says that it has
// several sequences, which have been folded.
func (s *latencyState) fold(q *row, several bool, begin, end place) *samples {
	if len(s.alike) > 0 && s.where == begin && begin == end && !several {
		s.alike = append(s.alike, q)
		return s.of
	}
	s.flush()
	s.cells.room()
	early := s.cells.at(begin, 1)
	if begin == end && !several && early.fetch == nil {
		s.where, s.of, s.alike = begin, early, append(s.alike, q)
		return early
	}
	late := s.cells.at(end, 0)
	for slot := range measures {
		m := &measures[slot]
		if several && m.ofSequence() || s.skip[slot] {
			continue
		}
		c := early
		if m.leaving {
			c = late
		}
		c.put(slot, q, s.def)
	}
	return early
}

// flush folds the requests that are alike, one measure after the other.
func (s *latencyState) flush() {
	if len(s.alike) == 0 {
		return
	}
	for slot := range measures {
		if s.skip[slot] {
			continue
		}
		if slot == slotTPOT && s.def.TPOT != nil && s.def.TPOT.Weighted {
			for _, q := range s.alike {
				s.of.put(slot, q, s.def)
			}
			continue
		}
		s.putAll(s.of, slot)
	}
	s.alike = s.alike[:0]
}

// putAll folds the values of a measure of the requests that are alike.
func (s *latencyState) putAll(to *samples, slot int) {
	m, def := &measures[slot], s.def
	of, values := m.of, s.values[:0]
	n, last := int64(0), metric.None // requests, one behind the other, that are excluded for a reason
	for _, w := range s.alike {
		value, why := of(w, def)
		if why == metric.None {
			values = append(values, value)
			continue
		}
		if why != last && n > 0 {
			to.excluded[slot].add(last, n)
			n = 0
		}
		last = why
		n++
	}
	if n > 0 {
		to.excluded[slot].add(last, n)
	}
	if len(values) > 0 {
		to.values[slot].AddAll(values, m.quotient)
	}
	s.values = values
}

// sequence folds what row i says of itself, as one of several sequences of a
// request.
func (s *latencyState) sequence(x *batch, i int, w *row) {
	c := s.cells.at(x.place(w, x.group[i], w.leaving()), 0)
	for slot := range measures {
		if measures[slot].ofSequence() && !s.skip[slot] {
			c.put(slot, w, s.def)
		}
	}
}

// put folds the value of a measure.
func (s *samples) put(slot int, w *row, def *metric.Definition) {
	if slot == slotTPOT && def.TPOT != nil && def.TPOT.Weighted {
		d, n, why := w.tpotOf(def)
		key, why := quotient(d, n, why, def)
		if why == metric.None {
			s.tpots = append(s.tpots, weightedValue{key, n})
		} else {
			s.excluded[slot].add(why, 1)
		}
		return
	}
	if value, why := measures[slot].of(w, def); why == metric.None {
		if s.fetch != nil {
			s.fetch.add(slot, value)
			return
		}
		s.values[slot].Add(value, measures[slot].quotient)
	} else {
		s.excluded[slot].add(why, 1)
	}
}

// note counts what the notes of a cell are about.
func (s *samples) note(w *row, def *metric.Definition) {
	if w.cohort(def) != metric.None {
		return
	}
	if w.eventOnly() && def.First != metric.FirstEvent {
		s.eventOnly++
	}
	if w.last == none && w.finish != none && !def.ToFinish {
		s.streamEnd++
	}
	if w.n != none && w.client != none && !w.requested {
		s.served += w.n
		s.retokenized += w.client
		s.both++
	}
	if d, why := between(w.last, w.finish); why == metric.None {
		s.tailRows++
		s.tail += d
	}
}

func (s *latencyState) Merge(other State) error {
	o, ok := other.(*latencyState)
	if !ok {
		return errMerge(s, other)
	}
	err := s.merge(&o.celled)
	s.held += o.held
	s.added = math.MaxInt
	s.pack()
	return err
}

func (s *latencyState) Finish(out Output) {
	if s.wanted != nil {
		s.completed().Finish(out)
		return
	}
	s.cells.prune()
	s.finishingOf(s.cells.places(), func(run int32, info *runInfo, places []place) {
		if info.multiple() {
			s.sides(out.Run(run), run, places)
		}
		for _, t := range s.targets(run, ofRequests(places)) {
			c := out.Cell(run, t.group, t.window)
			bySide := s.unite(t.from)
			main := info.latency(s.def)
			wide, idle := t.window == NoWindow && s.only == nil, len(t.from) == 0
			lack := new(samples) // says what sides lack
			if of := bySide[info.counting()]; of != nil {
				lack = of
			}
			for slot := range measures {
				side := main
				if measures[slot].fromClient() && bySide[trace.Client] != nil {
					side = trace.Client
				}
				s.put(c, measures[slot].name, slot, side, bySide[side], lack, wide, idle)
			}
			s.put(c, "ttft_client", slotTTFT, trace.Client, bySide[trace.Client], lack, wide, idle)
			s.put(c, "ttft_server", slotTTFT, trace.Server, bySide[trace.Server], lack, wide, idle)
			engine := trace.Engine
			if bySide[engine] == nil && bySide[trace.Decode] != nil {
				engine = trace.Decode
			}
			s.put(c, "ttft_engine", slotEngine, engine, bySide[engine], lack, wide, idle)
			s.notes(c, info, main, bySide[main])
		}
	})
}

// fromClient reports whether the measure is about the client whatever side
// gives the latencies.
func (m *measure) fromClient() bool {
	return m.name == "client_wait" || m.name == "ttft_client_from_schedule" || m.name == "e2e_from_schedule"
}

// unite returns the samples of the given places by side; nil where there are none.
func (s *latencyState) unite(places []place) (bySide [slots]*samples) {
	for _, p := range places {
		cell := s.cells.byPlace[p]
		switch all := bySide[p.side]; {
		case len(places) == 1:
			bySide[p.side] = cell
		case all == nil:
			bySide[p.side] = new(samples)
			bySide[p.side].unite(cell)
		default:
			all.unite(cell)
		}
	}
	return bySide
}

// put writes one metric. Idle cells hold no request at all; lack tells how many
// requests of the cell have no row of the side.
func (s *latencyState) put(c *report.Cell, name string, slot int, side trace.Side, of, lack *samples, wide, idle bool) {
	if !s.only.has(name) {
		return
	}
	if of == nil {
		of = new(samples)
	}
	excluded := of.excluded[slot]
	if n := lack.unjoined[side]; n > 0 {
		excluded = excluded.with(metric.NotJoined, n)
	}
	m := s.emptyMetric(name, side, excluded, idle)
	if slot == slotTPOT && len(of.tpots) > 0 {
		setMetric(c, name, of.tpots.distribution(m, &s.base, wide))
		return
	}
	m = s.distribution(m, &measures[slot], &of.values[slot], wide)
	if mayBeCensored(slot) {
		s.bound(&m, &measures[slot], &of.values[slot], of.censored, wide)
	}
	of.values[slot].Rest()
	setMetric(c, name, m)
}

// notes says what a reader of the cell's latencies must know.
func (s *latencyState) notes(c *report.Cell, info *runInfo, main trace.Side, of *samples) {
	if of == nil || s.only != nil {
		return
	}
	add := func(name, format string, args ...any) {
		m := c.Metrics[name]
		if m.N > 0 {
			m.Notes = append(m.Notes, fmt.Sprintf(format, args...))
			c.Metrics[name] = m
		}
	}
	if of.eventOnly > 0 {
		add("ttft", "first_event: %d of %d end at the first event, the only one recorded; see ttft_upper", of.eventOnly, c.Metrics["ttft"].N)
	}
	if of.streamEnd > 0 {
		add("e2e", "stream_end: %d of %d end with the response, since no last token is recorded", of.streamEnd, c.Metrics["e2e"].N)
	}
	if of.tail > 0 {
		add("tpot_from_total", "stream_end: the response ends %s after the last token, on average", unit.Format(unit.Nanosecond, float64(of.tail)/float64(of.tailRows)))
	}
	if of.served > 0 && of.served != of.retokenized {
		add("output_tokens", "client_count: the client counts %s of the server's tokens over %s: the text is degenerate or the tokenizer differs",
			unit.Format(unit.Ratio, float64(of.retokenized)/float64(of.served)), counting(of.both, "1 request", "%d requests"))
	}
	for s := range sides {
		if n := info.side(s).timed; trace.Side(s) != main && n > 0 && !info.linked {
			add("ttft", "side: %s stamps; the run also has %s stamped by the %s", sideName(main), counting(n, "1 request", "%d requests"), sideName(trace.Side(s)))
		}
	}
	if m := c.Metrics["ttft"]; of.resolution > 0 && m.N > 0 && float64(of.resolution) > m.Mean/20 {
		add("ttft", "resolution: stamps have a step of %s", unit.FormatDuration(of.resolution))
	}
}
