package assemble

import (
	"slices"
	"sort"

	"servescope/analyzer/trace"
)

// end writes a request and forgets it.
func (a *Assembler) end(q *open, status trace.Status) {
	hash := q.hash
	a.fill(q, q.ownStatus(status))
	before, start := a.recent.of(hash), q.start()
	uses := before.n
	if uses > 0 && start != Unknown && start == before.start {
		a.w.Note(duplicate, q.offset)
	}
	if uses > 0 {
		if _, ok := a.row.Int(trace.Attempt); !ok {
			a.row.SetInt(trace.Attempt, int64(uses))
		}
	}
	a.w.Add(&a.row)
	a.endChoices(q, status, int64(uses))
	a.forget(q)
	a.recent.add(hash, start)
}

// start is when the request began, as far as its events tell, or Unknown.
func (d *detail) start() int64 {
	for _, k := range [...]Kind{Arrival, Queued} {
		if d.set>>k&1 != 0 {
			return d.stages[k]
		}
	}
	return Unknown
}

// mostKept is how many bytes of text a request that is not in use may keep.
const mostKept = 512

// forget frees what an open request holds.
func (a *Assembler) forget(q *open) {
	d := q.detail
	a.nodes.drop(&q.gaps)
	a.nodes.drop(&d.counts)
	a.table.remove(q.hash, q)
	a.texts -= int64(d.counted)
	if cap(d.texts) > mostKept || cap(d.longID) > mostKept {
		d.texts, d.longID = nil, nil
	}
	q.hash, q.idSize = 0, 0 // an event that was looked up before must not match
	a.free = append(a.free, q)
}

// fill makes the row of a request.
func (a *Assembler) fill(q *open, status trace.Status) {
	d := q.detail
	r := &a.row
	r.Reset(d.offset)
	r.SetText(trace.RequestID, q.name())
	if d.of != nil {
		a.inherit(d.of.detail, r)
	}
	d.fill(r)
	if len(d.choices) > 0 {
		r.SetInt(trace.Choice, 0)
		if !d.own {
			unsetAll(r, ofAll)
		}
	}
	if d.of != nil && d.of.flags&hasArrival != 0 {
		q.flags |= hasArrival
	}
	seen := r.HasArrival || q.flags&hasArrival != 0 || a.w.Run.Side >= trace.Engine && d.set>>Queued&1 != 0
	r.Partial = !seen && q.flags&headless != 0
	a.fillTokens(q, r)
	switch {
	case status == trace.Failed:
		r.Error = true
	case status == trace.Aborted:
		r.SetInt(trace.StatusCol, int64(trace.Aborted))
	case !seen && !r.Error:
		r.SetInt(trace.StatusCol, int64(trace.HeadMissing))
	case status == trace.Open:
		r.SetInt(trace.StatusCol, int64(trace.Open))
	}
}

// fill sets the stages and fields that events have stated.
func (d *detail) fill(r *Row) {
	for k, c := range stages {
		switch {
		case d.set>>k&1 == 0:
		case Kind(k) == Arrival:
			r.Arrival, r.HasArrival = d.stages[k], true
		default:
			r.SetInt(c, d.stages[k])
		}
	}
	for _, f := range d.fields {
		switch {
		case f.Col == arrivalField:
			r.Arrival, r.HasArrival = f.Int, true
		case f.Col == errorField:
			r.Error = true
		case f.Text:
			r.SetText(f.Col, d.texts[f.Span.From:f.Span.To])
		default:
			r.SetInt(f.Col, f.Int)
		}
	}
}

// fillTokens sets what the token events say.
func (a *Assembler) fillTokens(q *open, r *Row) {
	n, stated := r.Int(trace.OutputTokens)
	if q.chunks == 0 {
		// No token events: there were no tokens, unless the log says otherwise.
		r.Tokens = r.Tokens[:0]
		r.HasTokens = !a.Untold && !(stated && n > 0) && !r.ints.has(trace.FirstToken) && !r.Partial
		return
	}
	if q.flags&kinds != 0 {
		r.SetInt(trace.TokenKind, int64(q.tokenKind))
		if q.flags&answered != 0 {
			r.SetInt(trace.FirstAnswerToken, q.answer)
		}
		if !r.ints.has(trace.ReasoningTokens) {
			r.SetInt(trace.ReasoningTokens, q.reasoning)
		}
	}
	if q.flags&counted != 0 && q.flags&noMemory == 0 {
		r.ChunkTokens, r.HasTokenCount = a.nodes.appendTo(r.ChunkTokens[:0], &q.counts), true
	}
	if q.flags&(noGaps|noMemory) != 0 {
		a.fillEdges(q, r)
		return
	}
	r.Gaps = a.nodes.appendTo(r.Gaps[:0], &q.gaps)
	r.Tokens = slices.Grow(r.Tokens[:0], len(r.Gaps)+1)[:len(r.Gaps)+1]
	at := q.first
	r.Tokens[0] = at
	for i, gap := range r.Gaps {
		at += gap
		r.Tokens[i+1] = at
	}
	r.HasTokens = true
	if r.exact = q.flags&unsorted == 0; !r.exact {
		a.w.Note(lateToken, q.offset)
		a.sorted.sort(r)
	}
}

// fillEdges sets what is known of the tokens of a request whose gaps are lost.
func (a *Assembler) fillEdges(q *open, r *Row) {
	r.Chunks = int64(q.chunks)
	if q.flags&noGaps != 0 {
		a.w.Note(unknownInList, q.offset)
	}
	if q.flags&unsorted != 0 {
		return
	}
	if q.flags&noFirst == 0 && !r.Partial {
		r.SetInt(trace.FirstToken, q.first)
	}
	if q.flags&noLast == 0 {
		r.SetInt(trace.LastToken, q.last)
	}
}

// sorter sorts token stamps together with their counts.
type sorter struct {
	row *Row
}

func (s *sorter) sort(r *Row) {
	if !r.HasTokenCount {
		slices.Sort(r.Tokens)
		return
	}
	s.row = r
	sort.Stable(s)
}

func (s *sorter) Len() int           { return len(s.row.Tokens) }
func (s *sorter) Less(i, j int) bool { return s.row.Tokens[i] < s.row.Tokens[j] }
func (s *sorter) Swap(i, j int) {
	t, k := s.row.Tokens, s.row.ChunkTokens
	t[i], t[j] = t[j], t[i]
	k[i], k[j] = k[j], k[i]
}
