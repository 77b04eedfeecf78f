package kernel

import (
	"sync"

	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
)

// tokens computes the metrics that pool the chunks of all requests: chunk_gap,
// token_latency, tokens_per_chunk; and ttft_upper, which needs the first gap.
// Gaps belong to the window that they end in, requests to that of their send.
//
// Values are folded into digests and dropped. Coarse cells have digests of
// their own: the quantiles of a group do not follow from those of its windows.
type tokens struct {
	def   *metric.Definition
	found *foundTokens
	only  *only
}

// foundTokens is what a pass has found, decoded once for the states of the next.
type foundTokens struct {
	mu    sync.Mutex // held to look into pools, whose values are sorted then
	code  []byte
	state *tokensState // nil: code is none
}

// of returns the state that code encodes.
func (f *foundTokens) of(code []byte, fresh func() *tokensState) *tokensState {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.code) != len(code) || &f.code[0] != &code[0] {
		if f.code, f.state = code, fresh(); f.state.LoadState(code) != nil {
			f.state = nil
		}
	}
	return f.state
}

func (tokens) Name() string { return "tokens" }
func (tokens) Lists() bool  { return true }

func (k tokens) New(q *query.Query, facts *Facts) State {
	s := newTokensState(k.def, q, facts)
	s.only = k.only
	if code := facts.Private[k.Name()]; len(code) > 0 {
		s.shared = k.found
		s.found = s.shared.of(code, func() *tokensState {
			s := newTokensState(k.def, q, facts)
			s.only = k.only
			return s
		})
	}
	return s
}

// fraction is the unit of split gaps, 1/fraction ns: they are quotients of whole
// nanoseconds by numbers of tokens.
const fraction = 1024

type tokensState struct {
	celled[pool, *pool]
	found *tokensState // in a refining pass: what an earlier pass found
	sized bool         // of the run of the batch: see RunFacts.Sized

	room  room
	added int   // values since the last pack, at most
	held  int64 // bytes of packed values in memory
	only  *only

	shared *foundTokens // holds found
	buf    []int64
}

func newTokensState(def *metric.Definition, q *query.Query, facts *Facts) *tokensState {
	s := new(tokensState)
	s.base = newBase(def, q, facts)
	s.room = roomOf(facts)
	s.cells.coarse = true
	s.cells.fresh = func() *pool { return newPool(s.ranks(), stat.DefaultLimit) }
	return s
}

func (s *tokensState) Update(v *View) {
	x := s.begin(v)
	l := listsOf(v)
	s.sized = int(v.RunIndex) < len(s.facts.Runs) && s.facts.Runs[v.RunIndex].Sized
	var b block
	for i := range v.Rows {
		w, selected := x.next(i)
		if !selected || s.late {
			continue
		}
		c, why := l.at(i, w)
		if out := w.cohort(s.def); out != metric.None {
			why = out
		}
		plain := why == metric.None && !s.sized && w.joint == nil && !x.axis.divided() && s.plain() && len(c.tokens) == 0 && len(c.gaps) > 0 && !w.eventOnly()
		if !plain {
			s.flush(x, &l, &b)
			s.row(x, &l, i, w, c, why)
			continue
		}
		if b.end != i || b.group != x.group[i] || b.slot != w.slot() {
			s.flush(x, &l, &b)
			b = block{from: i, group: x.group[i], slot: w.slot()}
		}
		b.end = i + 1
		if c.single(w) {
			b.single = true
		} else {
			b.uneven += int64(len(c.gaps))
		}
	}
	s.flush(x, &l, &b)
	s.pack()
}

// plain reports whether the definition takes gaps just as they are.
func (s *tokensState) plain() bool {
	return s.def.Gaps == metric.TokenGaps && s.def.Split == metric.WholeGaps && !s.def.Positive
}

// block is rows [from, end) whose gaps go to the same cells, just as they are.
type block struct {
	from, end int
	group     int32
	slot      int32 // of their side
	uneven    int64 // as in pool
	single    bool  // some rows have one token in each chunk
}

// flush folds the rows of a block at once: their lists lie side by side.
func (s *tokensState) flush(x *batch, l *lists, b *block) {
	n := int64(b.end - b.from)
	if n == 0 {
		return
	}
	info := s.runs[x.index].of(int(b.slot))
	info.single = info.single || b.single
	values := l.gaps.Values[l.gaps.Offsets[b.from]:l.gaps.Offsets[b.end]]
	for _, p := range s.pools(place{NoWindow, x.index, b.group, b.slot}, int64(len(values))) {
		if p == nil {
			continue
		}
		if d := p.digests[gapDigest]; d != nil {
			d.Add(values)
		}
		p.requests[gapDigest] += n
		p.uneven += b.uneven
		p.excluded[latencyDigest].add(metric.NotRecorded, n)
		p.excluded[sizeDigest].add(metric.NotRecorded, n)
		p.noUpper.add(metric.NotEvent, n)
	}
	*b = block{}
}

// part is the cells that a value goes to, coarse to fine; some may be nil.
type part [4]*pool

// pools returns the cells of a place and the coarser ones that hold it, for n
// gaps.
func (s *tokensState) pools(p place, n int64) (to part) {
	s.cells.room()
	if p.window == elsewhere {
		if len(s.q.By) > 0 && s.found == nil {
			s.cells.at(place{NoWindow, p.run, p.group, p.side}, 0) // the group has a cell
		}
		return to
	}
	k := 0
	put := func(group int32, window int64) {
		at := place{window, p.run, group, p.side}
		if s.found != nil {
			to[k] = s.refiner(at)
		} else if to[k] = s.cells.at(at, n); to[k] != nil {
			to[k].values += n
			s.added += poolDigests * int(n)
		}
		k++
	}
	put(-1, NoWindow)
	if len(s.q.By) > 0 {
		put(p.group, NoWindow)
	}
	if p.window != NoWindow {
		put(-1, p.window)
		if len(s.q.By) > 0 {
			put(p.group, p.window)
		}
	}
	return to
}

// refiner returns the pool that completes what was found at a place, or nil.
func (s *tokensState) refiner(at place) *pool {
	if p, ok := s.cells.byPlace[at]; ok {
		return p
	}
	if s.cells.byPlace == nil {
		s.cells.byPlace = make(map[place]*pool)
	}
	var r *pool
	if of := s.found.cells.byPlace[at]; of != nil {
		s.shared.mu.Lock()
		r = of.refiner(s.def.Quantile)
		s.shared.mu.Unlock()
	}
	if r == nil {
		r = new(pool)
	}
	s.cells.byPlace[at] = r
	return r
}

// row folds one row that needs a look of its own.
func (s *tokensState) row(x *batch, l *lists, i int, w *row, c chunks, why metric.Reason) {
	home := s.pools(x.place(w, x.group[i], w.arrival()), 0)
	listed, unlisted := c, why
	switch {
	case s.def.Gaps == metric.NoGaps:
		unlisted = metric.NotDefined
	case s.def.Gaps == metric.PaceGaps:
		unlisted = s.paced(x, i, w, c, why)
	case why == metric.None:
		if listed, unlisted = l.listed(i, w, c, s.def); unlisted == metric.None && listed.none(s.def) {
			unlisted = metric.NLessThan2
		}
	}
	for _, p := range home {
		if p != nil && s.found == nil {
			p.admit(w, c, s.sized, why, unlisted)
		}
	}
	if why != metric.None {
		return
	}
	if unlisted == metric.None && s.def.Gaps != metric.PaceGaps {
		s.gaps(x, i, w, listed, c.single(w))
	}
	single, info := c.single(w), s.runs[x.index].of(int(w.slot()))
	info.single, info.told = info.single || single, info.told || len(c.tokens) > 0
	if len(c.tokens) == 0 && !(s.sized && single) {
		return
	}
	s.fold(x, x.group[i], w, c, func(to part, gaps, tokens []int64) {
		s.split(to, latencyDigest, gaps, tokens)
		if len(tokens) > 0 {
			to.add(sizeDigest, tokens)
		} else {
			to.addN(sizeDigest, 1, int64(len(gaps)))
		}
	})
}

// gaps folds the gaps that the definition calls ITL.
func (s *tokensState) gaps(x *batch, i int, w *row, c chunks, single bool) {
	if s.def.Split == metric.ZeroGaps && len(c.tokens) > 0 && c.tokens[0] > 1 {
		to := s.pools(x.place(w, x.group[i], c.base), c.tokens[0]-1)
		to.addN(gapDigest, 0, c.tokens[0]-1)
	}
	s.fold(x, x.group[i], w, c, func(to part, gaps, tokens []int64) {
		switch s.def.Split {
		case metric.EvenGaps:
			s.split(to, gapDigest, gaps, tokens)
		case metric.ZeroGaps:
			to.add(gapDigest, gaps)
			for _, k := range tokens {
				to.addN(gapDigest, 0, k-1)
			}
		default:
			to.add(gapDigest, gaps)
		}
		if !single {
			to.uneven(int64(len(gaps)))
		}
	})
}

// paced folds the one value of a request that a tool calls ITL, in the cell of
// its end.
func (s *tokensState) paced(x *batch, i int, w *row, c chunks, why metric.Reason) metric.Reason {
	n := int64(none)
	if why == metric.None {
		n = c.received(w)
	}
	p := s.def.ITL
	d, by, why := w.paceOf(p, n, s.def)
	if why != metric.None {
		return why
	}
	weight := int64(1)
	if p.Weighted {
		weight = by
	}
	to := s.pools(x.place(w, x.group[i], w.leaving()), weight)
	to.addN(gapDigest, split(d, by), weight)
	return metric.None
}

// admit counts a request and the bound of its TTFT in the cell of its arrival.
func (p *pool) admit(w *row, c chunks, sized bool, why, unlisted metric.Reason) {
	reason := [poolDigests]metric.Reason{unlisted, why, why}
	upper := why
	if why == metric.None {
		if len(c.tokens) == 0 && !(sized && c.single(w)) {
			reason[latencyDigest], reason[sizeDigest] = metric.NotRecorded, metric.NotRecorded
		} else if len(c.gaps) == 0 {
			reason[latencyDigest], reason[sizeDigest] = metric.NLessThan2, metric.NLessThan2
		}
		switch {
		case w.side >= trace.Engine: // of what a user sees
			upper = metric.NotRecorded
		case w.sibling, !w.eventOnly():
			upper = metric.NotEvent
		case len(c.gaps) == 0:
			upper = metric.NLessThan2
		default:
			var lower, high int64
			if lower, upper = between(w.start, c.base); upper == metric.None {
				if high, upper = between(w.start, c.base+c.gaps[0]); upper == metric.None {
					p.upper = append(p.upper, high)
					p.lower += lower
				}
			}
		}
	}
	for k, r := range reason {
		if r == metric.None {
			p.requests[k]++
		} else {
			p.excluded[k].add(r, 1)
		}
	}
	if upper != metric.None && !w.sibling {
		p.noUpper.add(upper, 1)
	}
}

// fold calls f for each stretch of gaps that end in one window, with the tokens
// of the chunks that they lead to (none where nobody counted).
func (s *tokensState) fold(x *batch, group int32, w *row, c chunks, f func(to part, gaps, tokens []int64)) {
	tokens := c.tokens
	if len(tokens) > 0 {
		tokens = tokens[1:]
	}
	if !x.axis.divided() || !w.placed || c.base == none {
		if len(c.gaps) > 0 {
			f(s.pools(x.place(w, group, none), int64(len(c.gaps))), c.gaps, tokens)
		}
		return
	}
	t := c.base
	for i := 0; i < len(c.gaps); {
		from := i
		t += c.gaps[i]
		window := x.axis.window(t)
		for i++; i < len(c.gaps); i++ {
			next := t + c.gaps[i]
			if !x.axis.same(window, next) {
				break
			}
			t = next
		}
		to := s.pools(place{window, x.index, group, w.slot()}, int64(i-from))
		if len(tokens) > 0 {
			f(to, c.gaps[from:i], tokens[from:i])
		} else {
			f(to, c.gaps[from:i], nil)
		}
	}
}

// add adds values to one digest of every cell.
func (to *part) add(digest int, values []int64) {
	for _, p := range to {
		if p != nil && p.digests[digest] != nil {
			p.digests[digest].Add(values)
		}
	}
}

// addN adds a value n times to one digest of every cell.
func (to *part) addN(digest int, v, n int64) {
	for _, p := range to {
		if p != nil && p.digests[digest] != nil {
			p.digests[digest].AddN(v, n)
		}
	}
}

// uneven counts gaps that may lead to several tokens.
func (to *part) uneven(n int64) {
	for _, p := range to {
		if p != nil {
			p.uneven += n
		}
	}
}

// split adds each gap, divided by the number of tokens it led to, as often as
// there are tokens. A chunk without a token leaves its time to the next.
func (s *tokensState) split(to part, digest int, gaps, tokens []int64) {
	s.buf = s.buf[:0]
	carry := int64(0)
	for i, gap := range gaps {
		k := int64(1)
		if len(tokens) > 0 {
			k = tokens[i]
		}
		if carry += gap; k <= 0 {
			continue
		}
		v := split(carry, k)
		carry = 0
		if k > 256 {
			s.added += len(to) * int(min(k, stat.DefaultLimit))
			for _, p := range to {
				if p != nil && p.digests[digest] != nil {
					p.digests[digest].AddN(v, k)
				}
			}
			continue
		}
		for range k {
			s.buf = append(s.buf, v)
		}
	}
	s.added += len(to) * len(s.buf)
	to.add(digest, s.buf)
}

// split returns d/k in 1/fraction ns, rounded.
func split(d, k int64) int64 {
	v := min(max(d, -1<<51), 1<<51) * fraction
	return (2*v + k) / (2 * k)
}
