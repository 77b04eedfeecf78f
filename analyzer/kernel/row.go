package kernel

import (
	"math"

	"servescope/analyzer/join"
	"servescope/analyzer/metric"
	"servescope/analyzer/trace"
)

// none stands for an unknown stamp or count in a row.
const none = math.MinInt64

// row is one request as kernels see it: stamps in ns on its clock, counts, and
// none where unknown.
type row struct {
	status trace.Status
	side   trace.Side
	placed bool // its stamps are on a clock that it shares with other requests
	stream int8 // 1 streamed, 0 in one piece, -1 unknown
	kind   int32

	start                              int64 // where latencies of its side begin
	enter                              int64 // start, else the first of send, receipt, dispatch and queueing that is recorded
	scheduled, wait                    int64
	event, token, answer, last, finish int64
	decode                             int64             // first to last token as the engine measured it
	n                                  int64             // output tokens
	source                             trace.TokenSource // of n
	requested                          bool              // n is the requested length: not a count
	most, client, reasoning, chunk     int64             // requested length, client's count, reasoning tokens, tokens of the first chunk
	prompt, cached                     int64
	special                            special

	beam     bool   // it, or its run, used beam search
	producer string // the definition set of the tool that took the stamps, or ""

	joint   *joint    // the request that the row is a sequence of, one of several; nil: the row is the request
	sibling bool      // the request is counted with another row of its side
	role    join.Role // what the row is to its request, where rows are linked
}

// TokenKind codes.
const (
	kindUnknown   = -1
	kindContent   = 0
	kindReasoning = 1
)

// rows reads the rows of one batch.
type rows struct {
	run   *trace.RunMeta
	group []int32

	beam                              bool // the run used beam search
	beams                             trace.Bools
	status, side, clock, source, kind trace.Dicts
	stream                            trace.Bools
	starts                            [4]trace.Ints // sent, received, dispatched, queued
	scheduled, wait                   trace.Ints
	event, token, answer              trace.Ints
	last, finish, decode              trace.Ints
	n, most, client, reasoning, chunk trace.Ints
	prompt, cached                    trace.Ints
	specials                          specials
	unplaced                          []bool // by clock code: a clock of single requests
	placed                            bool   // of rows without a clock of their own
	choices                           *Choices
	identities                        identities // where there are choices
	links                             *join.Links
	first                             int32 // number of the first row in links
}

// rowsOf returns the rows of v. The view must not change while they are used.
func rowsOf(v *View) rows {
	r := rows{
		run: v.Run, group: v.Group,
		status: v.Dicts(trace.StatusCol), side: v.Dicts(trace.SideCol), clock: v.Dicts(trace.ClockCol),
		source: v.Dicts(trace.OutputTokensSource), kind: v.Dicts(trace.TokenKind), stream: v.Bools(trace.Stream), beams: v.Bools(trace.BeamSearch),
		starts:    startsOf(v.Batch),
		scheduled: v.Ints(trace.ScheduledSend), wait: v.Ints(trace.DClientWait),
		event: v.Ints(trace.FirstEvent), token: v.Ints(trace.FirstToken), answer: v.Ints(trace.FirstAnswerToken),
		last: v.Ints(trace.LastToken), finish: v.Ints(trace.Finished), decode: v.Ints(trace.DDecode),
		n: v.Ints(trace.OutputTokens), most: v.Ints(trace.MaxTokens), client: v.Ints(trace.ClientTokens),
		reasoning: v.Ints(trace.ReasoningTokens), chunk: v.Ints(trace.FirstChunkTokens),
		prompt: v.Ints(trace.PromptTokens), cached: v.Ints(trace.CachedTokens),
		placed:   v.Run.Clock.Kind != trace.RequestClock,
		specials: specialsOf(v),
	}
	r.links, r.first, r.beam = v.Links, v.Base, v.Run.BeamSearch()
	if r.choices = v.Choices; r.choices != nil {
		r.identities = identitiesOf(v)
	}
	for _, name := range r.clock.Values {
		c, ok := trace.ParseClock(name)
		r.unplaced = append(r.unplaced, !ok || c.Kind == trace.RequestClock)
	}
	return r
}

// mostShared is how many rows are kept for the kernels of a view: as many as a
// resident batch has.
const mostShared = 1 << 13

// share reads the rows of v, unless that is done, for all kernels.
func (v *View) share() {
	if v.rows != nil {
		return
	}
	m := v.Memory
	if m == nil {
		m = new(Memory)
	}
	m.rows = rowsOf(v)
	v.rows, v.summaries = &m.rows, m.summaries[:0]
	if v.Rows > mostShared {
		return
	}
	if cap(m.read) < v.Rows {
		m.read = make([]row, v.Rows+v.Rows/4)
	}
	v.read = m.read[:v.Rows]
	for i := range v.read {
		v.read[i] = m.rows.at(i)
	}
}

// at returns row i.
func (r *rows) at(i int) row {
	w := row{
		side: r.run.Side, placed: r.placed, stream: -1, kind: kindUnknown,
		scheduled: get(r.scheduled, i), wait: get(r.wait, i),
		event: get(r.event, i), token: get(r.token, i), answer: get(r.answer, i), last: get(r.last, i), finish: get(r.finish, i), decode: get(r.decode, i),
		n: get(r.n, i), most: get(r.most, i), client: get(r.client, i), reasoning: get(r.reasoning, i), chunk: get(r.chunk, i),
		prompt: get(r.prompt, i), cached: get(r.cached, i),
		beam: r.beam, producer: r.run.DefaultDefinition,
	}
	w.special = r.specials.at(i)
	if c, ok := r.side.At(i); ok {
		w.side = trace.Side(c)
	}
	if r.links != nil {
		w.side, w.role = r.links.Side(r.first+int32(i)), r.links.Role(r.first+int32(i))
	}
	if c, ok := r.status.At(i); ok {
		w.status = trace.Status(c)
	}
	if c, ok := r.clock.At(i); ok {
		w.placed = !r.unplaced[c]
	}
	if v, ok := r.stream.At(i); ok {
		w.stream = 0
		if v {
			w.stream = 1
		}
	}
	if v, ok := r.beams.At(i); ok && v || r.links.BeamSearch(r.first+int32(i)) {
		w.beam = true
	}
	if c, ok := r.kind.At(i); ok {
		w.kind = c
	}
	if c, ok := r.source.At(i); ok {
		w.source = trace.TokenSource(c)
		w.requested = w.source == trace.FromRequested
	}
	w.start, w.enter = entry(&r.starts, w.side, i)
	if r.choices != nil && w.role != join.Repeats {
		r.choices.set(&r.identities, i, &w)
	}
	return w
}

// slot is where figures of the row's side are kept: apart from the others where
// the run's requests are counted at a side that has no part in this one.
func (w *row) slot() int32 {
	if w.role == join.Apart {
		return int32(sides) + int32(w.side)
	}
	return int32(w.side)
}

// startColumn is where a side's latencies begin, as an index of rows.starts.
var startColumn = [...]int{
	trace.Client: 0, trace.Proxy: 1, trace.Server: 1, trace.Engine: 3, trace.Prefill: 3, trace.Decode: 3,
}

// clockAt returns the clock of row i.
func (r *rows) clockAt(i int) trace.Clock {
	if c, ok := r.clock.At(i); ok {
		if clock, ok := trace.ParseClock(r.clock.Values[c]); ok {
			return clock
		}
	}
	return r.run.Clock
}

// get returns value i of an optional column, or none.
func get(c trace.Ints, i int) int64 {
	if v, ok := c.At(i); ok {
		return v
	}
	return none
}

// or returns the first of a and b that is known.
func or(a, b int64) int64 {
	if a != none {
		return a
	}
	return b
}

// first returns where TTFT ends under def, or none. What a tool wrote down
// itself is what it saw.
func (w *row) first(def *metric.Definition) int64 {
	switch def.First {
	case metric.FirstEvent:
		if w.event == none && w.producer == def.Name {
			return w.token
		}
		return w.event
	case metric.FirstAnswer:
		if w.answer == none && w.kind == kindReasoning {
			return none
		}
		return or(w.answer, or(w.token, w.event))
	}
	return or(w.token, w.event)
}

// eventOnly reports whether the row records the first event and not, beside
// it, the first token: both stamps are the same or one is missing, and nobody
// counted tokens in the first chunk.
func (w *row) eventOnly() bool {
	return w.event != none && (w.token == none || w.token == w.event) && w.chunk <= 0
}

// end returns where E2E ends under def, or none.
func (w *row) end(def *metric.Definition) int64 {
	if def.ToFinish {
		return or(w.finish, w.last)
	}
	return or(w.last, w.finish)
}

// arrival returns the stamp by which the row belongs to a window of time.
func (w *row) arrival() int64 {
	return or(w.enter, or(w.event, or(w.token, or(w.last, w.finish))))
}

// leaving returns the stamp by which the row's end belongs to a window.
func (w *row) leaving() int64 {
	return or(w.finish, or(w.last, w.arrival()))
}

// decoded returns when the last token came, or none. Where it is not stamped the
// time that the engine measured between first and last token counts from the
// first: what is asked of it here are batches and rates, where the way out of the
// engine is the same for both.
func (w *row) decoded() int64 {
	if begin := or(w.token, w.event); w.last == none && w.decode >= 0 && w.decode <= day && begin != none {
		return begin + w.decode
	}
	return w.last
}

// lastSeen returns the latest time at which the row is known to have emitted a
// token, or none. A response in one piece, or without a known last token, comes
// at its end.
func (w *row) lastSeen() int64 {
	if last := w.decoded(); last != none {
		return last
	}
	t := or(w.token, none)
	if w.status == trace.OK && w.finish != none && w.finish > t {
		return w.finish
	}
	return t
}

// emitted reports whether the row is known to have emitted a token, be their
// number known or not.
func (w *row) emitted() bool {
	return w.status == trace.OK || w.status != trace.Empty && (w.token != none || w.last != none)
}

// tokens returns N under def, or none. What a tool counted itself is its N, unless
// it tells the client's count beside the server's, and but for a token that begins
// a text: a row holds the tokens that were generated.
func (w *row) tokens(def *metric.Definition) int64 {
	if w.status == trace.Empty && def.Silent && w.n == none {
		return 0
	}
	if w.producer == def.Name && w.n != none && w.client == none && def.Counts[0] != metric.BOSCount {
		return w.n
	}
	for _, c := range def.Counts {
		if n := w.count(c); n != none {
			return n
		}
	}
	return none
}

// count returns the output tokens as c counts them, or none.
func (w *row) count(c metric.Count) int64 {
	reasons := w.kind == kindReasoning || w.reasoning > 0
	switch c {
	case metric.ServerCount:
		if w.source == trace.FromServer {
			return w.n
		}
	case metric.ChunkCount:
		if w.source == trace.FromChunks {
			return w.n
		}
	case metric.ClientCount:
		switch {
		case w.source == trace.FromClient && w.n != none:
			return w.n
		case !reasons:
			return w.client
		}
		return plus(w.client, w.reasoning)
	case metric.AnswerCount, metric.BOSCount:
		n := w.client
		if n == none && w.source == trace.FromClient {
			if n = w.n; reasons {
				n = minus(n, w.reasoning)
			}
		}
		if c == metric.BOSCount && n != none {
			n++
		}
		return n
	case metric.RequestedCount:
		if w.requested {
			return or(w.n, w.most)
		}
		return w.most
	}
	return none
}

// answered returns the first answer token, and why there is none.
func (w *row) answered() (int64, metric.Reason) {
	switch {
	case w.answer != none:
		return w.answer, metric.None
	case w.kind == kindReasoning:
		return none, metric.NoAnswerToken
	case w.token != none && (w.kind != kindUnknown || w.reasoning == 0):
		return w.token, metric.None
	}
	return none, metric.NotRecorded
}

// cohort tells why a request takes no part in latencies under def.
func (w *row) cohort(def *metric.Definition) metric.Reason {
	switch w.status {
	case trace.Failed:
		return metric.Failed
	case trace.Aborted:
		return metric.Aborted
	case trace.Open:
		return metric.Open
	case trace.HeadMissing:
		return metric.HeadMissing
	case trace.Empty:
		if !def.Silent {
			return metric.NoToken
		}
	}
	return metric.None
}

// day is the longest duration believed: stamps further apart are of different
// clocks.
const day = 86400e9

// between returns the duration from start to end, or why there is none.
func between(start, end int64) (int64, metric.Reason) {
	switch {
	case start == none || end == none:
		return 0, metric.NotRecorded
	case end < start:
		return 0, metric.Order
	case uint64(end)-uint64(start) > day:
		return 0, metric.Clock
	}
	return end - start, metric.None
}
