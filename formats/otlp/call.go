package otlp

import "servescope/formats/internal/json"

import "servescope/analyzer/trace"

// calls reports whether a span is a call of a model that generates tokens. Spans of
// agents, tools, embeddings and the chains of frameworks are not calls, though they
// may repeat the usage of the calls inside them.
func (s *span) calls(p *part, scope, service string) bool {
	switch string(p.raw(s.text[operation-textSlots])) {
	case "chat", "text_completion", "generate_content", "completion", "LLM":
		return true
	case "":
		return s.attribute(prompt) && s.attribute(completion) && !isSGLang(scope, service) && !isVLLM(scope, service)
	}
	return false
}

// call makes a row of a call. One that holds another call of the same program, as
// where a framework and the library that it uses are both traced, is left to that:
// the inner one ends, and is exported, before it.
func (f *fold) call(p *part, s *span, from *place, scope string) (kind string, used outcome) {
	kind = "model call"
	if s.start == 0 {
		f.note(&probNoTime, s.offset)
		return kind, diagnosed
	}
	if s.id != 0 && f.seen.add(mix(s.trace, s.id)) > 0 {
		f.note(&probDuplicate, s.offset)
		return kind, diagnosed
	}
	if s.id != 0 && f.within.has(mix(s.trace, s.id)) {
		f.note(&probNested, s.offset)
		return kind, noise
	}
	if s.parent != 0 && s.flags&serves == 0 {
		f.within.add(mix(s.trace, s.parent))
	}
	side, start := trace.Client, trace.Sent
	if s.flags&serves != 0 {
		side, start = trace.Server, trace.Received
	}
	r := f.runOf(runKey{side: side}, from, scope, s)
	r.calls = true
	b := r.rows
	f.identity(r, p, s, from)
	if early := s.chunks.to > s.chunks.from && p.chunks[s.chunks.from] < s.start; early {
		f.note(&probEarly, s.offset)
	} else {
		b.Int(start, s.start)
		f.firstOf(p, s, b)
		if s.end >= s.start {
			b.Int(trace.Finished, s.end)
		}
	}
	f.counts(b, s)
	if why := p.raw(s.text[errorType-textSlots]); len(why) > 0 {
		b.Code(trace.StatusCol, int32(trace.Failed))
		b.Dict(trace.ErrorClass, json.Text(why))
	}
	for _, c := range [...]struct {
		slot slot
		col  trace.Col
	}{{cacheRead, trace.CachedTokens}, {reasoning, trace.ReasoningTokens}} {
		if v, ok := s.number(c.slot); ok && v >= 0 {
			b.Int(c.col, v)
		}
	}
	r.claim(perToken, s)
	r.end()
	return kind, parsed
}

// firstOf sets when a response began, and the gaps between its chunks.
func (f *fold) firstOf(p *part, s *span, b *trace.Builder) {
	chunks := p.chunks[s.chunks.from:s.chunks.to]
	event, known := f.begins(s, firstChunk)
	token, timed := f.begins(s, firstToken)
	switch {
	case timed && s.flags&serves != 0:
		b.Int(trace.FirstToken, token)
	case timed && !known:
		event, known = token, true
	}
	if len(chunks) > 0 {
		event, known = chunks[0], true
	}
	if known {
		b.Int(trace.FirstEvent, event)
	}
	if known || timed || s.flags&streamed != 0 {
		b.Bool(trace.Stream, true)
	}
	if len(chunks) == 0 || !f.lists {
		return
	}
	f.gaps = f.gaps[:0]
	for i, at := range chunks[1:] {
		f.gaps = append(f.gaps, at-chunks[i])
	}
	b.List(trace.ChunkGaps, f.gaps)
}

// begins returns the point in time that is a duration behind the start of a span.
func (f *fold) begins(s *span, k slot) (at int64, ok bool) {
	d, ok := f.duration(s, k)
	if ok && d == 0 {
		f.note(&probZero, s.offset)
		return 0, false
	}
	return s.start + d, ok
}

// identity sets the columns that identify the request of a span.
func (f *fold) identity(r *run, p *part, s *span, from *place) {
	b := r.rows
	b.Int(trace.Offset, s.offset)
	if s.flags&coarse != 0 {
		b.Int(trace.Resolution, 1000)
	}
	if id := p.raw(s.text[requestID-textSlots]); len(id) > 0 {
		b.Text(trace.RequestID, json.Text(id))
	}
	name := p.raw(s.text[model-textSlots])
	if len(name) == 0 {
		name = p.raw(s.text[requestModel-textSlots])
	}
	if len(name) > 0 {
		b.Dict(trace.Model, json.Text(name))
		if r.meta.Model == "" {
			r.meta.Model = string(json.Text(name))
		}
	}
	if from.resource != nil && from.resource.instance != "" {
		b.Dict(trace.Replica, []byte(from.resource.instance))
	}
	if why := finishReason(p.string(s, finish)); why != "" {
		b.Dict(trace.FinishReason, []byte(why))
	}
}
