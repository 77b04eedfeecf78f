package otlp

import "servescope/formats/internal/json"

import "servescope/analyzer/trace"

// resolution is the step of stamps that were float64 seconds since the epoch.
const resolution = 256

// second is how much longer than its span a duration may be before it is
// disbelieved.
const second = 1_000_000_000

// limit returns how long durations of the request of a span can be.
func limit(s *span) int64 {
	most := int64(0)
	if s.end > s.start {
		most = s.end - s.start
	}
	if v, ok := s.number(e2e); ok && v < day {
		most = max(most, v)
	}
	if most == 0 {
		return day
	}
	return most + second
}

const day = 86400 * second

// duration returns a duration of a request, unless it cannot be one: engines
// subtract points in time of which one may be 0 (then it is the host's uptime or
// negative), and some write -1 for unknown.
func (f *fold) duration(s *span, k slot) (int64, bool) {
	v, ok := s.number(k)
	if ok && (v < 0 || v > limit(s)) {
		f.note(&probMilestone, s.offset)
		return 0, false
	}
	return v, ok
}

// vllm makes a row of a span llm_request.
func (f *fold) vllm(p *part, s *span, from *place, scope string) (kind string, used outcome) {
	v1 := s.attribute(inPrefill) || s.attribute(inDecode) || s.attribute(inInference)
	if kind = "vllm request (V0)"; v1 {
		kind = "vllm request (V1)"
	}
	if s.start == 0 {
		f.note(&probNoTime, s.offset)
		return kind, diagnosed
	}
	choice, again := f.repeats(p, s, from)
	if again {
		f.note(&probDuplicate, s.offset)
		return kind, diagnosed
	}
	r := f.run("vllm", from, scope, s)
	engine := &r.engines[0]
	if v1 {
		engine = &r.engines[1]
	}
	engine.see(s, scope)
	b := r.rows
	if n, ok := s.number(nChoices); ok && n > 1 {
		b.Int(trace.Choice, choice)
	}
	first, known := f.request(r, p, s, from)
	if v1 {
		f.splitV1(b, s, first, known)
	} else {
		f.splitV0(b, s, first, known)
		for _, k := range []slot{inScheduler, inForward, inExecute} {
			r.claim(k, s)
		}
	}
	r.end()
	return kind, parsed
}

// end ends a row.
func (r *run) end() {
	r.rows.EndRow()
	r.any = true
}

// request sets what spans of requests have in common, and returns the time to
// first token.
func (f *fold) request(r *run, p *part, s *span, from *place) (first int64, known bool) {
	b := r.rows
	b.Int(trace.Offset, s.offset)
	step := int64(resolution)
	if s.flags&coarse != 0 {
		step = 1000
	}
	b.Int(trace.Resolution, step)
	if id := p.raw(s.text[requestID-textSlots]); len(id) > 0 {
		b.Text(trace.RequestID, json.Text(id))
	}
	if m := p.raw(s.text[model-textSlots]); len(m) > 0 {
		m = json.Text(m)
		b.Dict(trace.Model, m)
		if r.meta.Model == "" {
			r.meta.Model = string(m)
		}
	}
	if from.resource != nil && from.resource.instance != "" {
		b.Dict(trace.Replica, []byte(from.resource.instance))
	}
	b.Int(trace.Received, s.start)
	first, known = f.duration(s, ttft)
	if n, ok := s.number(completion); known && first == 0 && !(ok && n == 0) {
		f.note(&probZero, s.offset)
		known = false
	}
	if known {
		b.Int(trace.FirstToken, s.start+first)
	}
	f.finished(r, s)
	f.counts(b, s)
	return first, known
}

// finished sets the end of the request: its latency if that is known, else the
// end of its span.
func (f *fold) finished(r *run, s *span) {
	whole, ok := f.duration(s, e2e)
	switch {
	case ok:
		r.rows.Int(trace.Finished, s.start+whole)
		if s.end > s.start {
			r.lag += s.end - s.start - whole
			r.lags++
		}
	case s.end >= s.start:
		r.rows.Int(trace.Finished, s.end)
		if r.meta.Engine != "sglang" { // a span of SGLang ends with the request
			f.note(&probNoE2E, s.offset)
		}
	}
}

// counts sets numbers of tokens, and the status, which follows from them.
func (f *fold) counts(b *trace.Builder, s *span) {
	for _, c := range [...]struct {
		slot slot
		col  trace.Col
	}{{prompt, trace.PromptTokens}, {cached, trace.CachedTokens}, {maxTokens, trace.MaxTokens}, {nChoices, trace.NChoices}} {
		if v, ok := s.number(c.slot); ok && v >= 0 {
			b.Int(c.col, v)
		}
	}
	n, counted := s.number(completion)
	if counted = counted && n >= 0; counted {
		b.Int(trace.OutputTokens, n)
		b.Code(trace.OutputTokensSource, int32(trace.FromServer))
	}
	status := trace.OK
	switch {
	case s.flags&failed != 0:
		status = trace.Failed
	case counted && n == 0:
		status = trace.Empty
	}
	b.Code(trace.StatusCol, int32(status))
}

// splitV1 sets the parts of TTFT as the V1 engine measures them: queue from the
// scheduler's queue to the first admission, prefill from there to the first
// token, both on the engine's clock. The rest of TTFT, on the frontend's clock,
// lies before and after them.
func (f *fold) splitV1(b *trace.Builder, s *span, first int64, known bool) {
	rest, left := first, input|ingress|queue|prefill|egress
	for _, part := range [...]struct {
		slot slot
		leaf leaves
	}{{inQueue, queue}, {inPrefill, prefill}} {
		if v, ok := f.duration(s, part.slot); ok {
			setEntry(b, part.leaf, v)
			rest -= v
			left &^= part.leaf
		}
	}
	if known {
		setEntry(b, left, rest)
	}
	decode, ok := f.duration(s, inDecode)
	if whole, have := f.duration(s, inInference); !ok && have {
		if v, have := s.number(inPrefill); have && v >= 0 && v <= whole {
			decode, ok = whole-v, true
		}
	}
	if ok {
		b.Int(trace.DDecode, decode)
	}
}

// splitV0 sets the parts of TTFT as the V0 engine measures them: time_in_queue
// runs from the arrival to the first admission, so it holds the way to the queue
// too, and the rest holds the way back. Both are on the wall clock, so the
// admission has a stamp.
func (f *fold) splitV0(b *trace.Builder, s *span, first int64, known bool) {
	waited, ok := f.duration(s, inQueue)
	switch {
	case ok:
		b.Int(trace.Admitted, s.start+waited)
		setEntry(b, ingress|queue, waited)
		if known {
			setOther(b, prefill|egress, first-waited)
		}
	case known:
		setEntry(b, ingress|queue|prefill|egress, first)
	}
}
