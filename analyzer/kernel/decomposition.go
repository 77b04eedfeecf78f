package kernel

import (
	"cmp"
	"maps"
	"slices"

	"servescope/analyzer/decompose"
	"servescope/analyzer/join"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/sorting"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
)

// decomposition takes the time to first token of every request apart. What is
// taken apart is TTFT by the default definition, whatever the query's is. The
// parts of every request are kept, as varints, at the finest place only: the
// requests of a tail are known at the end only.
type decomposition struct{ asked *metric.Definition }

func (decomposition) Name() string { return "decomposition" }
func (decomposition) Lists() bool  { return false }
func (k decomposition) New(q *query.Query, facts *Facts) State {
	s := &decompositionState{asked: k.asked}
	s.base = newBase(metric.Default, q, facts)
	return s
}

type decompositionState struct {
	celled[cohorts, *cohorts]
	asked *metric.Definition

	offsets map[clocksKey]int64 // by how much the clocks of a server and its engine differ at most, ns
}

// cohorts holds the requests of a place by the signature of their parts.
type cohorts struct {
	rows     int64 // with a total and without
	excluded tally
	censored int64 // of the excluded: ended or cut off before their first token
	events   int64 // totals that end at the first event, the only one recorded

	bySignature map[decompose.Signature]*cohort
	last        *cohort
	totals      *totals // nil until the state is settled
}

// cohort is the requests of one signature. Values holds, for each, its entries
// and what they leave of its total: mostly little or nothing.
type cohort struct {
	signature decompose.Signature
	values    stat.Tuples
	measured  int64                   // whose residual is also the time that entries leave uncovered
	steps     [decompose.Leaves]int64 // coarsest source of each entry in ns
	memos     [decompose.Memos]stat.Moments
	ways      map[string]*wayIn // by the clocks of server and engine
	without   without
}

// width is how many values there are of each request.
func (c *cohort) width() int { return int(c.signature.N) + 1 }

func (c *cohort) n() int64 { return c.values.N() }

// each calls f for every request: with its entries and what they leave of its
// total, and the total.
func (c *cohort) each(f func(parts []int64, total int64)) {
	c.values.Each(c.width(), func(tuple []int64) {
		total := int64(0)
		for _, v := range tuple {
			total += v
		}
		f(tuple, total)
	})
}

func (c *cohorts) of(s *decompose.Signature) *cohort {
	if c.last != nil && c.last.signature == *s {
		return c.last
	}
	c.last = c.bySignature[*s]
	if c.last == nil {
		if c.bySignature == nil {
			c.bySignature = make(map[decompose.Signature]*cohort)
		}
		c.last = &cohort{signature: *s}
		c.bySignature[*s] = c.last
	}
	return c.last
}

// add adds a request.
func (c *cohorts) add(p *decompose.Parts) {
	c.totals = nil
	o := c.of(&p.Signature)
	var tuple [decompose.Leaves + 1]int64
	rest := p.Total
	for i, e := range p.Entries() {
		tuple[i] = e.NS
		rest -= e.NS
		o.steps[i] = max(o.steps[i], e.Step)
	}
	tuple[o.width()-1] = rest
	o.values.Add(tuple[:o.width()])
	if p.Measured && p.Open == p.Residual() {
		o.measured++
	}
	for i, v := range p.Memo {
		if v != decompose.Unknown {
			o.memos[i].AddN(v, 1)
		}
	}
}

// Update implements State.
func (s *decompositionState) Update(v *View) {
	x := s.begin(v)
	columns := decompose.ColumnsOf(v.Batch)
	var p decompose.Parts
	rows := make([]decompose.Row, 1, 8) // that of the row, then those of its peers
	others := linkedRows(v.Links, v.Base)
	var ways ways
	for i := range v.Rows {
		w, selected := x.next(i)
		if !selected || w.sibling {
			continue
		}
		s.cells.room()
		q := w.request()
		columns.Row(i, &rows[0])
		rows[0].Side = w.side
		rows = inward(others(i, rows[:1]))
		place := x.place(q, x.group[i], q.arrival())
		why := s.takeApart(q, rows, &p)
		s.unjoined(x, i, w, place)
		c := s.cells.at(place, 1)
		c.rows++
		if why == metric.None {
			c.add(&p)
			s.wayIn(x, i, w, &ways, c.last, &p)
			s.without(x, i, w, &ways, c.last, p.Total)
			if q.eventOnly() {
				c.events++
			}
			continue
		}
		c.excluded.add(why, 1)
		if (q.status == trace.Aborted || q.status == trace.Open) && !q.emitted() {
			c.censored++
		}
		if len(rows) == 1 && w.side == trace.Server && w.role != join.Apart && q.cohort(s.def) == metric.None && rows[0].Inward() && rows[0].Parts(&p) {
			place.side = int32(trace.Engine)
			c = s.cells.at(place, 0)
			c.rows++
			c.add(&p)
		}
	}
}

// inward drops the peers that are further out than the first row: its total is
// within theirs. The nodes of a disaggregated deployment are beside each other.
func inward(rows []decompose.Row) []decompose.Row {
	own := rows[0].Side
	kept := 1
	for _, r := range rows[1:] {
		if r.Side > own || own == trace.Decode && r.Side == trace.Prefill {
			rows[kept] = r
			kept++
		}
	}
	return rows[:kept]
}

// takeApart sets p to the parts of a request, of which the first of rows is the
// row, or returns why it has no total.
func (s *decompositionState) takeApart(q *row, rows []decompose.Row, p *decompose.Parts) metric.Reason {
	value := ttft
	if q.side >= trace.Engine {
		value = ttftEngine
	}
	_, why := value(q, s.def)
	switch {
	case why == metric.None:
		rows[0].Begin(q.start, q.first(s.def))
		if _, ok := decompose.TTFT(rows, p); !ok {
			return metric.NotRecorded
		}
	case why == metric.NotRecorded && q.side >= trace.Engine && q.cohort(s.def) == metric.None:
		if rows[0].Parts(p) { // its stages alone make the total
			return metric.None
		}
	}
	return why
}

func (c *cohorts) merge(o *cohorts) {
	c.totals = nil
	c.rows += o.rows
	c.excluded.merge(o.excluded)
	c.censored += o.censored
	c.events += o.events
	for key, from := range o.bySignature {
		to := c.of(&key)
		to.values.Merge(&from.values)
		to.measured += from.measured
		for i := range to.steps {
			to.steps[i] = max(to.steps[i], from.steps[i])
		}
		for i := range to.memos {
			to.memos[i].Merge(&from.memos[i])
		}
		to.mergeWays(from)
		to.without.merge(&from.without)
	}
}

func (c *cohorts) weight() int64 { return c.rows }

func (c *cohorts) size() int64 {
	n := int64(64)
	for _, o := range c.bySignature {
		n += 512 + o.values.Size() + 256*int64(len(o.ways))
	}
	return n
}

// inOrder returns the cohorts, the largest first.
func (c *cohorts) inOrder() []*cohort {
	list := make([]*cohort, 0, len(c.bySignature))
	for _, o := range c.bySignature {
		list = append(list, o)
	}
	sorting.By(list, func(a, b *cohort) int {
		return cmp.Or(cmp.Compare(b.n(), a.n()), a.signature.Compare(&b.signature))
	})
	return list
}

// Merge implements State.
func (s *decompositionState) Merge(other State) error {
	o, ok := other.(*decompositionState)
	if !ok {
		return errMerge(s, other)
	}
	for key, off := range o.offsets {
		if least, known := s.offsets[key]; !known || off < least {
			s.offset(key, off)
		}
	}
	return s.merge(&o.celled)
}

func (s *decompositionState) offset(key clocksKey, off int64) {
	if s.offsets == nil {
		s.offsets = make(map[clocksKey]int64)
	}
	s.offsets[key] = off
}

// AppendState implements State.
func (s *decompositionState) AppendState(dst []byte) []byte {
	dst = appendInts(s.celled.AppendState(dst), int64(len(s.offsets)))
	keys := slices.Collect(maps.Keys(s.offsets))
	sorting.By(keys, func(a, b clocksKey) int { return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.name, b.name)) })
	for _, key := range keys {
		dst = appendInts(appendText(appendInts(dst, int64(key.run)), key.name), s.offsets[key])
	}
	return dst
}

// LoadState implements State.
func (s *decompositionState) LoadState(src []byte) error {
	r := &reader{src: src}
	s.base.load(r)
	s.cells.load(r)
	for n := r.count(); n > 0 && r.err == nil; n-- {
		key := clocksKey{int32(r.int()), r.text()}
		s.offset(key, r.int())
	}
	return r.done()
}

func (c *cohorts) appendTo(dst []byte) []byte {
	dst = c.excluded.appendTo(appendInts(dst, c.rows, c.censored, c.events, int64(len(c.bySignature))))
	for _, o := range c.inOrder() {
		key := &o.signature
		dst = appendInts(dst, int64(key.N), int64(key.Absent), int64(key.Outside), int64(key.Coarse))
		for i := range key.N {
			dst = appendInts(dst, int64(key.Sets[i]), o.steps[i])
		}
		dst = o.values.AppendTo(appendInts(dst, o.measured))
		for i := range o.memos {
			dst = o.memos[i].AppendTo(dst)
		}
		dst = o.without.appendTo(o.appendWays(dst))
	}
	return dst
}

func (c *cohorts) load(src *reader) {
	src.ints(&c.rows, &c.censored, &c.events)
	if c.rows < 0 || c.censored < 0 || c.events < 0 {
		src.fail()
	}
	n := src.count()
	c.excluded.load(src)
	for ; n > 0 && src.err == nil; n-- {
		var key decompose.Signature
		var o cohort
		sets := src.int()
		if sets < 0 || sets > int64(decompose.Leaves) {
			src.fail()
			return
		}
		key.N = uint8(sets)
		key.Absent, key.Outside, key.Coarse = decompose.Set(src.int()), decompose.Set(src.int()), decompose.Set(src.int())
		for i := range key.N {
			key.Sets[i], o.steps[i] = decompose.Set(src.int()), src.int()
		}
		o.measured = src.int()
		o.signature = key
		src.part(func(src []byte) ([]byte, error) { return o.values.Load(src, o.width()) })
		for i := range o.memos {
			src.moments(&o.memos[i])
		}
		o.loadWays(src)
		o.without.load(src)
		to := c.of(&key)
		if to.n() > 0 || o.n() == 0 {
			src.fail()
			return
		}
		*to = o
	}
}
