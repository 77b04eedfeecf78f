package mapping

import (
	"slices"

	"servescope/analyzer/trace"
)

// openRequest is a request whose end has not been read yet.
type openRequest struct {
	id     string
	offset int64
	at     [aborts + 1]int64 // time of the first event of each kind; of chunkOut, the last
	set    uint16
	tokens []int64
	ints   [3]int64 // prompt, output, cached; -1: unknown
	first  int64    // latencies that events state, in ns; 0: unknown
	whole  int64
	model  string
	class  string
	reason string
}

var countRoles = [3]role{prompt, output, cached}

// event adds the record to its request. The event that ends a request writes it.
func (r *reader) event() *problem {
	name := r.text(id)
	if len(name) == 0 {
		return noIdentity
	}
	k := kindOf(string(r.text(event)))
	if k == noKind {
		return unknownEvent
	}
	q := r.open[string(name)]
	if q == nil {
		q = &openRequest{id: string(name[:min(len(name), trace.MaxText)]), offset: r.rec.off, ints: [3]int64{-1, -1, -1}}
		r.open[q.id] = q
		r.order = append(r.order, q)
		r.held += 400 + int64(len(q.id))
	}
	if t, ok := r.stamp(arrival); ok {
		if k == chunkOut || k == firstChunk {
			q.tokens = append(q.tokens, t)
			r.held += 8
		}
		if q.set&(1<<k) == 0 || k == chunkOut {
			q.at[k] = t
		}
		q.set |= 1 << k
	} else if k >= ends {
		q.set |= 1 << k
	}
	for i, c := range countRoles {
		if v, ok := r.count(c); ok {
			q.ints[i] = v
		}
	}
	r.takeLatencies(q, k)
	for _, t := range [...]struct {
		role role
		to   *string
	}{{model, &q.model}, {reason, &q.reason}, {failure, &q.class}} {
		if v := r.text(t.role); len(v) > 0 {
			*t.to = string(v[:min(len(v), 200)])
		}
	}
	if k >= ends {
		r.finish(q)
	}
	return nil
}

// takeLatencies takes the latencies that an event states. A latency of the whole request
// counts only in the event that ends it: in others it is the latency of something else.
func (r *reader) takeLatencies(q *openRequest, k kind) {
	if e := r.by[ttft]; e != nil && r.rec.cells[e.field].set {
		if d, ok := r.span(ttft); ok {
			q.first = d
		}
	}
	if e := r.by[e2e]; e != nil && k >= ends && r.rec.cells[e.field].set {
		if d, ok := r.span(e2e); ok {
			q.whole = d
		}
	}
}

// fillFromLatencies sets missing stamps from the latencies that events state. Where both
// are known they are compared, and the stamps count.
func (r *reader) fillFromLatencies(q *openRequest) {
	if q.first > 0 && q.whole > 0 && q.first > q.whole {
		r.note(contradiction)
		q.first, q.whole = 0, 0
	}
	for k := ends; k <= aborts && q.whole > 0; k++ {
		if q.set&(1<<k) == 0 || q.at[k] == 0 {
			continue
		}
		if end := known(q.at[k], true); q.set&(1<<begins) != 0 {
			r.fillStamp(&end, known(q.at[begins], q.at[begins] != 0), known(q.whole, true))
		} else {
			q.at[begins] = end.t - q.whole
			q.set |= 1 << begins
		}
		break
	}
	if q.first > 0 && q.set&(1<<begins) != 0 && q.at[begins] != 0 {
		var first point
		if len(q.tokens) > 0 {
			first = point{q.tokens[0], true}
		}
		if r.fillStamp(&first, point{q.at[begins], true}, point{q.first, true}); len(q.tokens) == 0 {
			q.tokens = append(q.tokens, first.t)
			q.set |= 1 << firstChunk
		}
	}
}

// finish writes a request and forgets it.
func (r *reader) finish(q *openRequest) {
	r.fillFromLatencies(q)
	row := &r.row
	row.Reset(r.offset(q.offset))
	has := func(k kind) bool { return q.set&(1<<k) != 0 }
	stamp := func(k kind, c trace.Col) {
		if has(k) && q.at[k] != 0 {
			row.SetInt(c, q.at[k])
		}
	}
	row.SetText(trace.RequestID, []byte(q.id))
	stamp(begins, trace.Received)
	stamp(queued, trace.Queued)
	stamp(admitted, trace.Admitted)
	stamp(lastChunk, trace.LastToken)
	stamp(ends, trace.Finished)
	stamp(fails, trace.Finished)
	stamp(aborts, trace.Finished)
	if has(chunkOut) {
		row.Tokens = append(row.Tokens[:0], q.tokens...)
		row.HasTokens = true
	} else if has(firstChunk) {
		row.SetInt(trace.FirstToken, q.tokens[0])
	}
	for i, c := range countRoles {
		if q.ints[i] >= 0 {
			row.SetInt(roleInfo[c].col, q.ints[i])
		}
	}
	if q.model != "" {
		row.SetText(trace.Model, []byte(q.model))
	}
	if q.reason != "" {
		row.SetText(trace.FinishReason, []byte(q.reason))
	}
	switch {
	case has(fails):
		row.Error = true
		if q.class != "" {
			row.SetText(trace.ErrorClass, errorClass([]byte(q.class)))
		}
	case has(aborts):
		row.SetInt(trace.StatusCol, int64(trace.Aborted))
	case has(ends):
	case has(begins):
		row.SetInt(trace.StatusCol, int64(trace.Open))
	default:
		row.SetInt(trace.StatusCol, int64(trace.HeadMissing))
	}
	if has(ends) && !has(begins) {
		row.SetInt(trace.StatusCol, int64(trace.HeadMissing))
	}
	r.writer.Add(row)
	delete(r.open, q.id)
	r.held -= 400 + int64(len(q.id)) + 8*int64(len(q.tokens))
	q.tokens = nil
	q.offset = -1
}

// giveUp writes all open requests in the order of their first events.
func (r *reader) giveUp() {
	for _, q := range r.order {
		if q.offset >= 0 {
			r.finish(q)
		}
	}
	r.order = r.order[:0]
}

// forgetEnded drops requests that have ended, and gives up on the open ones where they
// need more memory than there is.
func (r *reader) forgetEnded() {
	if len(r.order) > 2*len(r.open)+1000 {
		r.order = slices.DeleteFunc(r.order, func(q *openRequest) bool { return q.offset < 0 })
	}
	if r.held > r.memory {
		r.note(crowded)
		r.giveUp()
	}
}
