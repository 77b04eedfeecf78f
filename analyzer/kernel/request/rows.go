package request

import (
	"servescope/analyzer/join"
	"servescope/analyzer/trace"
)

// Rows reads the rows of one batch.
type Rows struct {
	run   *trace.RunMeta
	Group []int32

	beam                              bool // the run used beam search
	beams                             trace.Bools
	status, side, Clock, source, kind trace.Dicts
	stream                            trace.Bools
	starts                            [4]trace.Ints // sent, received, dispatched, queued
	scheduled, wait                   trace.Ints
	event, token, answer              trace.Ints
	last, finish, decode              trace.Ints
	n, most, client, reasoning, chunk trace.Ints
	prompt, cached                    trace.Ints
	spec                              specColumns
	unplaced                          []bool // by clock code: a clock of single requests
	placed                            bool   // of rows without a clock of their own
	choices                           *Choices
	identities                        identities // where there are choices
	Links                             *join.Links
	First                             int32 // number of the first row in links
}

// rowsOf returns the rows of v. The view must not change while they are used.
func rowsOf(v *View) Rows {
	r := Rows{
		run: v.Run, Group: v.Group,
		status: v.Dicts(trace.StatusCol), side: v.Dicts(trace.SideCol), Clock: v.Dicts(trace.ClockCol),
		source: v.Dicts(trace.OutputTokensSource), kind: v.Dicts(trace.TokenKind), stream: v.Bools(trace.Stream), beams: v.Bools(trace.BeamSearch),
		starts:    startsOf(v.Batch),
		scheduled: v.Ints(trace.ScheduledSend), wait: v.Ints(trace.DClientWait),
		event: v.Ints(trace.FirstEvent), token: v.Ints(trace.FirstToken), answer: v.Ints(trace.FirstAnswerToken),
		last: v.Ints(trace.LastToken), finish: v.Ints(trace.Finished), decode: v.Ints(trace.DDecode),
		n: v.Ints(trace.OutputTokens), most: v.Ints(trace.MaxTokens), client: v.Ints(trace.ClientTokens),
		reasoning: v.Ints(trace.ReasoningTokens), chunk: v.Ints(trace.FirstChunkTokens),
		prompt: v.Ints(trace.PromptTokens), cached: v.Ints(trace.CachedTokens),
		placed: v.Run.Clock.Kind != trace.RequestClock,
		spec:   specColumnsOf(v),
	}
	r.Links, r.First, r.beam = v.Links, v.Base, v.Run.BeamSearch()
	if r.choices = v.Choices; r.choices != nil {
		r.identities = identitiesOf(v)
	}
	for _, name := range r.Clock.Values {
		c, ok := trace.ParseClock(name)
		r.unplaced = append(r.unplaced, !ok || c.Kind == trace.RequestClock)
	}
	return r
}

// At returns row i.
func (r *Rows) At(i int) Row {
	w := Row{
		Side: r.run.Side, Placed: r.placed, Stream: -1, kind: kindUnknown,
		scheduled: Get(r.scheduled, i), clientWait: Get(r.wait, i),
		FirstEvent: Get(r.event, i), FirstToken: Get(r.token, i), firstAnswer: Get(r.answer, i), LastToken: Get(r.last, i), Finished: Get(r.finish, i), Decode: Get(r.decode, i),
		N: Get(r.n, i), maxTokens: Get(r.most, i), ClientTokens: Get(r.client, i), reasoningTokens: Get(r.reasoning, i), firstChunk: Get(r.chunk, i),
		PromptTokens: Get(r.prompt, i), CachedTokens: Get(r.cached, i),
		Beam: r.beam, producer: r.run.DefaultDefinition,
	}
	w.spec = r.spec.at(i)
	if c, ok := r.side.At(i); ok {
		w.Side = trace.Side(c)
	}
	if r.Links != nil {
		w.Side, w.Role = r.Links.Side(r.First+int32(i)), r.Links.Role(r.First+int32(i))
	}
	if c, ok := r.status.At(i); ok {
		w.Status = trace.Status(c)
	}
	if c, ok := r.Clock.At(i); ok {
		w.Placed = !r.unplaced[c]
	}
	if v, ok := r.stream.At(i); ok {
		w.Stream = 0
		if v {
			w.Stream = 1
		}
	}
	if v, ok := r.beams.At(i); ok && v || r.Links.BeamSearch(r.First+int32(i)) {
		w.Beam = true
	}
	if c, ok := r.kind.At(i); ok {
		w.kind = c
	}
	if c, ok := r.source.At(i); ok {
		w.source = trace.TokenSource(c)
		w.Requested = w.source == trace.FromRequested
	}
	w.Start, w.Enter = entry(&r.starts, w.Side, i)
	if r.choices != nil && w.Role != join.Repeats {
		r.choices.set(&r.identities, i, &w)
	}
	return w
}

// ClockAt returns the clock of row i.
func (r *Rows) ClockAt(i int) trace.Clock {
	if c, ok := r.Clock.At(i); ok {
		if clock, ok := trace.ParseClock(r.Clock.Values[c]); ok {
			return clock
		}
	}
	return r.run.Clock
}

// ClockOf returns the clock of row i of b.
func ClockOf(b *trace.Batch, i int) trace.Clock {
	c := b.Dicts(trace.ClockCol)
	if code, ok := c.At(i); ok {
		if clock, ok := trace.ParseClock(c.Values[code]); ok {
			return clock
		}
	}
	return b.Run.Clock
}

// startColumn is where a side's latencies begin, as an index of rows.starts.
var startColumn = [...]int{
	trace.Client: 0, trace.Proxy: 1, trace.Server: 1, trace.Engine: 3, trace.Prefill: 3, trace.Decode: 3,
}

func startsOf(b *trace.Batch) [4]trace.Ints {
	return [4]trace.Ints{b.Ints(trace.Sent), b.Ints(trace.Received), b.Ints(trace.Dispatched), b.Ints(trace.Queued)}
}

// entry returns where latencies of a side begin, or none, and the stamp by which
// row i arrives, or none.
func entry(starts *[4]trace.Ints, side trace.Side, i int) (start, enter int64) {
	start = Get(starts[startColumn[side]], i)
	enter = start
	for k := 0; k < len(starts) && enter == None; k++ {
		enter = Get(starts[k], i)
	}
	return start, enter
}

// specColumns reads them. Most batches have none.
type specColumns struct {
	any                                    bool
	preempted, drafted, accepted, verified trace.Ints
}

func specColumnsOf(v *View) specColumns {
	s := specColumns{
		preempted: v.Ints(trace.Preemptions), drafted: v.Ints(trace.SpecDrafted),
		accepted: v.Ints(trace.SpecAccepted), verified: v.Ints(trace.VerifySteps),
	}
	s.any = len(s.preempted.Values)+len(s.drafted.Values)+len(s.accepted.Values)+len(s.verified.Values) > 0
	return s
}

func (s *specColumns) at(i int) specCounts {
	if !s.any {
		return noSpecCounts
	}
	return specCounts{Get(s.preempted, i), Get(s.drafted, i), Get(s.accepted, i), Get(s.verified, i)}
}
