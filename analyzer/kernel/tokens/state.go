package tokens

import (
	"math"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/stat"
)

type state struct {
	cell.State[pool, *pool]
	found *state // in a refining pass: what an earlier pass found
	sized bool   // of the run of the batch: see RunFacts.Sized

	budget cell.Budget
	added  int   // values since the last pack, at most
	held   int64 // bytes of packed values in memory
	only   cell.Only

	shared *foundTokens // holds found
	buf    []int64
}

func newState(def *metric.Definition, q *query.Query, facts *kernel.Facts) *state {
	s := new(state)
	s.Base = cell.NewBase(def, q, facts)
	s.budget = cell.BudgetOf(facts)
	s.Cells.Coarse = true
	s.Cells.Fresh = func() *pool { return newPool(s.Ranks(), stat.DefaultLimit) }
	return s
}

// block is rows [from, end) whose gaps go to the same cells, just as they are.
type block struct {
	from, end int
	group     int32
	slot      int32 // of their side
	uneven    int64 // as in pool
	single    bool  // some rows have one token in each chunk
}

func (s *state) Update(v *kernel.View) {
	x := s.Begin(v)
	l := request.ListsOf(v)
	s.sized = int(v.RunIndex) < len(s.Facts.Runs) && s.Facts.Runs[v.RunIndex].Sized
	var b block
	for i := range v.Rows {
		w, selected := x.Next(i)
		if !selected || s.Pending {
			continue
		}
		c, why := l.At(i, w)
		if out := w.Cohort(s.Def); out != metric.None {
			why = out
		}
		plain := why == metric.None && !s.sized && w.MultiChoice == nil && !x.Axis.Divided() && s.plain() && len(c.Tokens) == 0 && len(c.Gaps) > 0 && !w.EventOnly()
		if !plain {
			s.flush(x, &l, &b)
			s.row(x, &l, i, w, c, why)
			continue
		}
		if b.end != i || b.group != x.Group[i] || b.slot != w.Slot() {
			s.flush(x, &l, &b)
			b = block{from: i, group: x.Group[i], slot: w.Slot()}
		}
		b.end = i + 1
		if c.Single(w) {
			b.single = true
		} else {
			b.uneven += int64(len(c.Gaps))
		}
	}
	s.flush(x, &l, &b)
	s.pack()
}

// plain reports whether the definition takes gaps just as they are.
func (s *state) plain() bool {
	return s.Def.Gaps == metric.TokenGaps && s.Def.Split == metric.WholeGaps && !s.Def.Positive
}

// flush folds the rows of a block at once: their lists lie side by side.
func (s *state) flush(x *cell.Batch, l *request.Lists, b *block) {
	n := int64(b.end - b.from)
	if n == 0 {
		return
	}
	info := s.Runs[x.RunIndex].Of(int(b.slot))
	info.Single = info.Single || b.single
	values := l.Gaps.Values[l.Gaps.Offsets[b.from]:l.Gaps.Offsets[b.end]]
	for _, p := range s.pools(cell.Place{Window: kernel.NoWindow, Run: x.RunIndex, Group: b.group, Side: b.slot}, int64(len(values))) {
		if p == nil {
			continue
		}
		if d := p.digests[gapDigest]; d != nil {
			d.Add(values)
		}
		p.requests[gapDigest] += n
		p.uneven += b.uneven
		p.excluded[latencyDigest].Add(metric.NotRecorded, n)
		p.excluded[sizeDigest].Add(metric.NotRecorded, n)
		p.noUpper.Add(metric.NotEvent, n)
	}
	*b = block{}
}

// part is the cells that a value goes to, coarse to fine; some may be nil.
type part [4]*pool

// pools returns the cells of a place and the coarser ones that hold it, for n
// gaps.
func (s *state) pools(p cell.Place, n int64) (to part) {
	s.Cells.MakeRoom()
	if p.Window == cell.Elsewhere {
		if len(s.Query.By) > 0 && s.found == nil {
			s.Cells.At(cell.Place{Window: kernel.NoWindow, Run: p.Run, Group: p.Group, Side: p.Side}, 0) // the group has a cell
		}
		return to
	}
	k := 0
	put := func(group int32, window int64) {
		at := cell.Place{Window: window, Run: p.Run, Group: group, Side: p.Side}
		if s.found != nil {
			to[k] = s.refiner(at)
		} else if to[k] = s.Cells.At(at, n); to[k] != nil {
			to[k].values += n
			s.added += poolDigests * int(n)
		}
		k++
	}
	put(-1, kernel.NoWindow)
	if len(s.Query.By) > 0 {
		put(p.Group, kernel.NoWindow)
	}
	if p.Window != kernel.NoWindow {
		put(-1, p.Window)
		if len(s.Query.By) > 0 {
			put(p.Group, p.Window)
		}
	}
	return to
}

// refiner returns the pool that completes what was found at a place, or nil.
func (s *state) refiner(at cell.Place) *pool {
	if p, ok := s.Cells.ByPlace[at]; ok {
		return p
	}
	if s.Cells.ByPlace == nil {
		s.Cells.ByPlace = make(map[cell.Place]*pool)
	}
	var r *pool
	if of := s.found.Cells.ByPlace[at]; of != nil {
		s.shared.mu.Lock()
		r = of.refiner(s.Def.Quantile)
		s.shared.mu.Unlock()
	}
	if r == nil {
		r = new(pool)
	}
	s.Cells.ByPlace[at] = r
	return r
}

// row folds one row that needs a look of its own.
func (s *state) row(x *cell.Batch, l *request.Lists, i int, w *request.Row, c request.Chunks, why metric.Reason) {
	home := s.pools(x.Place(w, x.Group[i], w.Arrival()), 0)
	listed, unlisted := c, why
	switch {
	case s.Def.Gaps == metric.NoGaps:
		unlisted = metric.NotDefined
	case s.Def.Gaps == metric.PaceGaps:
		unlisted = s.paced(x, i, w, c, why)
	case why == metric.None:
		if listed, unlisted = l.Listed(i, w, c, s.Def); unlisted == metric.None && listed.NoGap(s.Def) {
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
	if unlisted == metric.None && s.Def.Gaps != metric.PaceGaps {
		s.gaps(x, i, w, listed, c.Single(w))
	}
	single, info := c.Single(w), s.Runs[x.RunIndex].Of(int(w.Slot()))
	info.Single, info.Told = info.Single || single, info.Told || len(c.Tokens) > 0
	if len(c.Tokens) == 0 && !(s.sized && single) {
		return
	}
	s.fold(x, x.Group[i], w, c, func(to part, gaps, tokens []int64) {
		s.split(to, latencyDigest, gaps, tokens)
		if len(tokens) > 0 {
			to.add(sizeDigest, tokens)
		} else {
			to.addN(sizeDigest, 1, int64(len(gaps)))
		}
	})
}

// gaps folds the gaps that the definition calls ITL.
func (s *state) gaps(x *cell.Batch, i int, w *request.Row, c request.Chunks, single bool) {
	if s.Def.Split == metric.ZeroGaps && len(c.Tokens) > 0 && c.Tokens[0] > 1 {
		to := s.pools(x.Place(w, x.Group[i], c.Base), c.Tokens[0]-1)
		to.addN(gapDigest, 0, c.Tokens[0]-1)
	}
	s.fold(x, x.Group[i], w, c, func(to part, gaps, tokens []int64) {
		switch s.Def.Split {
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
func (s *state) paced(x *cell.Batch, i int, w *request.Row, c request.Chunks, why metric.Reason) metric.Reason {
	n := int64(request.None)
	if why == metric.None {
		n = c.Received(w)
	}
	p := s.Def.ITL
	d, by, why := w.PaceOf(p, n, s.Def)
	if why != metric.None {
		return why
	}
	weight := int64(1)
	if p.Weighted {
		weight = by
	}
	to := s.pools(x.Place(w, x.Group[i], w.Leaving()), weight)
	to.addN(gapDigest, split(d, by), weight)
	return metric.None
}

// fold calls f for each stretch of gaps that end in one window, with the tokens
// of the chunks that they lead to (none where they are not counted).
func (s *state) fold(x *cell.Batch, group int32, w *request.Row, c request.Chunks, f func(to part, gaps, tokens []int64)) {
	tokens := c.Tokens
	if len(tokens) > 0 {
		tokens = tokens[1:]
	}
	if !x.Axis.Divided() || !w.Placed || c.Base == request.None {
		if len(c.Gaps) > 0 {
			f(s.pools(x.Place(w, group, request.None), int64(len(c.Gaps))), c.Gaps, tokens)
		}
		return
	}
	t := c.Base
	for i := 0; i < len(c.Gaps); {
		from := i
		t += c.Gaps[i]
		window := x.Axis.Window(t)
		for i++; i < len(c.Gaps); i++ {
			next := t + c.Gaps[i]
			if !x.Axis.Same(window, next) {
				break
			}
			t = next
		}
		to := s.pools(cell.Place{Window: window, Run: x.RunIndex, Group: group, Side: w.Slot()}, int64(i-from))
		if len(tokens) > 0 {
			f(to, c.Gaps[from:i], tokens[from:i])
		} else {
			f(to, c.Gaps[from:i], nil)
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
func (s *state) split(to part, digest int, gaps, tokens []int64) {
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
	v := min(max(d, -1<<51), 1<<51) * request.Fraction
	return (2*v + k) / (2 * k)
}

// pack bounds the unpacked values of all digests: the digests with most of them pack
// them, once there are half as many new ones. Packing few values of each cell is not
// worth the time.
func (s *state) pack() {
	most := max(s.budget.Raw/2, cell.MinPacked*len(s.Cells.ByPlace))
	if s.added <= most {
		return
	}
	s.added = 0
	sum := 0
	for _, p := range s.Cells.ByPlace {
		sum += p.raw()
	}
	for least := stat.DefaultLimit / 2; sum > most && least >= cell.MinPacked; least /= 2 {
		for _, p := range s.Cells.ByPlace {
			var to stat.Store
			if s.held > s.budget.Packed {
				to = s.Facts.Store
			}
			n, held := p.pack(least, to)
			sum, s.held = sum-n, s.held+held
		}
	}
}

func (s *state) Merge(other kernel.State) error {
	o, ok := other.(*state)
	if !ok || (s.found == nil) != (o.found == nil) {
		return cell.MergeError(s, other)
	}
	if s.found == nil {
		err := s.MergeCells(&o.State)
		s.held += o.held
		s.added = math.MaxInt
		s.pack()
		return err
	}
	s.Base.MergeRuns(&o.Base)
	for p, r := range o.Cells.ByPlace {
		s.refiner(p).Merge(r)
	}
	return nil
}

// LoadState loads what a state of the same pass encoded.
func (s *state) LoadState(src []byte) error {
	if err := s.State.LoadState(src); err != nil || s.found == nil {
		return err
	}
	loaded := s.Cells.ByPlace
	s.Cells.ByPlace = nil
	for p, pool := range loaded {
		s.refiner(p).Merge(pool)
	}
	return nil
}

func (s *state) Size() int64 {
	n := s.Cells.Size()
	if s.found != nil {
		n += s.found.Cells.Size()
	}
	return n
}

// Settle brings the kept values of the digests together.
func (s *state) Settle() {
	for _, p := range s.Cells.ByPlace {
		for _, d := range p.digests {
			if d != nil {
				d.Settle()
			}
		}
	}
}

// Next asks for another pass where windows could not be placed yet, where chunks
// have counted tokens in some requests and one token each in others, or where a
// quantile is not exact.
func (s *state) Next(facts *kernel.Facts) bool {
	if s.Learn(facts) {
		return true
	}
	if s.found != nil {
		return false
	}
	if s.learnSized(facts) {
		return true
	}
	for _, p := range s.Cells.ByPlace {
		for _, d := range p.digests {
			if d.Missing(s.Def.Quantile) {
				s.pass(facts)
				return true
			}
		}
	}
	return false
}

// learnSized adds to facts which runs are sized, and reports whether that is news.
func (s *state) learnSized(facts *kernel.Facts) (news bool) {
	for run, info := range s.Runs {
		for _, x := range info.Sides {
			if x != nil && x.Single && x.Told {
				for int(run) >= len(facts.Runs) {
					facts.Runs = append(facts.Runs, kernel.RunFacts{})
				}
				f := &facts.Runs[run]
				news, f.Sized = news || !f.Sized, true
			}
		}
	}
	return news
}

// pass hands what was found to the next pass.
func (s *state) pass(facts *kernel.Facts) {
	for _, p := range s.Cells.ByPlace {
		p.condense(4096, s.Def.Quantile) // what these keep shrinks to their quantiles
	}
	if facts.Private == nil {
		facts.Private = make(map[string][]byte)
	}
	facts.Private[tokens{}.Name()] = s.AppendState(nil)
}

// Cut returns the first window of which something is left out.
func (s *state) Cut() (window int64, capped bool) {
	if s.found != nil {
		return s.found.Cut()
	}
	return s.State.Cut()
}
