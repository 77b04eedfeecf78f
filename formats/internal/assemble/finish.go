package assemble

import (
	"slices"
	"sort"

	"servescope/analyzer/trace"
)

// finisher makes the rows of requests that have ended.
type finisher struct {
	untold bool // as in Assembler
	w      *Writer
	row    Row
	sorted sorter
	lists  nodes
	id     [idLen + restLen]byte
}

// write writes a request, then its further choices.
func (f *finisher) write(e *ending) {
	q := e.q
	f.fill(q, q.ownStatus(e.status))
	if e.copied {
		f.w.Note(duplicate, q.offset)
	}
	f.add(e.uses)
	for _, other := range q.choices {
		f.fill(other, other.ownStatus(e.status))
		f.add(e.uses)
	}
}

// add writes the row, of a request whose id has been used so often before.
func (f *finisher) add(uses uint32) {
	if _, ok := f.row.Int(trace.Attempt); !ok && uses > 0 {
		f.row.SetInt(trace.Attempt, int64(uses))
	}
	f.w.Add(&f.row)
}

// fill makes the row of a request.
func (f *finisher) fill(q *open, status trace.Status) {
	d := q.detail
	r := &f.row
	r.Reset(d.offset)
	r.SetText(trace.RequestID, q.name(&f.id))
	if d.of != nil {
		f.inherit(d.of.detail, r)
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
	seen := r.HasArrival || q.flags&hasArrival != 0 || f.w.Run.Side >= trace.Engine && d.set>>Queued&1 != 0
	r.Partial = !seen && q.flags&headless != 0
	f.fillTokens(q, r)
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
func (f *finisher) fillTokens(q *open, r *Row) {
	n, stated := r.Int(trace.OutputTokens)
	if q.chunks == 0 {
		// No token events: there were no tokens, unless the log says otherwise.
		r.Tokens = r.Tokens[:0]
		r.HasTokens = !f.untold && !(stated && n > 0) && !r.ints.has(trace.FirstToken) && !r.Partial
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
		r.ChunkTokens, r.HasTokenCount = f.lists.appendTo(r.ChunkTokens[:0], &q.counts), true
	}
	if q.flags&(noGaps|noMemory) != 0 {
		f.fillEdges(q, r)
		return
	}
	r.Gaps = f.lists.appendTo(r.Gaps[:0], &q.gaps)
	r.Tokens = slices.Grow(r.Tokens[:0], len(r.Gaps)+1)[:len(r.Gaps)+1]
	at := q.first
	r.Tokens[0] = at
	for i, gap := range r.Gaps {
		at += gap
		r.Tokens[i+1] = at
	}
	r.HasTokens = true
	if r.exact = q.flags&unsorted == 0; !r.exact {
		f.w.Note(lateToken, q.offset)
		f.sorted.sort(r)
	}
}

// fillEdges sets what is known of the tokens of a request whose gaps are lost.
func (f *finisher) fillEdges(q *open, r *Row) {
	r.Chunks = int64(q.chunks)
	if q.flags&noGaps != 0 {
		f.w.Note(unknownInList, q.offset)
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
