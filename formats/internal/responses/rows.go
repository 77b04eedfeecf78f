package responses

import (
	"bytes"
	"fmt"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/sglmeta"
)

const day = int64(86400e9)

// bridged tells of the one stamp that takes a duration from one clock to another.
var bridged = &assemble.Problem{Code: "bridged_last_token", Severity: diag.Info,
	Msg: "the server's last token is its first one plus the engine's time between the two: their ways out of the engine are taken to be equally long"}

// rows adds the rows of one object.
type rows struct {
	*Parser
	b      *trace.Builder
	offset int64
	note   func(*assemble.Problem)
}

// Rows implements records.Parser.
func (p *Parser) Rows(b *trace.Builder, offset int64, note func(*assemble.Problem)) (string, *assemble.Problem) {
	r := rows{p, b, offset, note}
	k := p.Kind()
	switch k {
	case Nothing:
		return "", NotOne
	case RequestStateStats:
		r.stateStats()
	case RequestMetrics:
		r.requestMetrics()
	case FinishedRequestStats:
		r.finished()
	case Answer:
		r.answer()
	case Failure:
		r.failure()
	case SGLang:
		return r.sglangAnswer(), nil
	}
	return k.String(), nil
}

// begin sets what all rows of the object share.
func (r *rows) begin(side trace.Side, clock trace.ClockKind) {
	b := r.b
	name := r.name()
	if len(name) > 0 {
		b.Text(trace.RequestID, name)
	}
	b.Code(trace.SideCol, int32(side))
	b.Dict(trace.ClockCol, []byte(clock.String()))
	if len(r.texts[model]) > 0 {
		b.Dict(trace.Model, r.texts[model])
	}
	if len(r.texts[reason]) > 0 {
		b.Dict(trace.FinishReason, r.texts[reason])
	}
	b.Code(trace.StatusCol, int32(r.status()))
	for _, c := range [...]struct {
		slot int
		col  trace.Col
	}{{promptLen, trace.PromptTokens}, {promptTokens, trace.PromptTokens}, {cachedTokens, trace.CachedTokens}, {reasoningTokens, trace.ReasoningTokens},
		{maxTokens, trace.MaxTokens}, {specSteps, trace.VerifySteps}, {specAccepted, trace.SpecAccepted}, {specDrafted, trace.SpecDrafted}} {
		if r.has(c.slot) {
			b.Int(c.col, r.values[c.slot])
		}
	}
	if n, ok := r.output(); ok {
		b.Int(trace.OutputTokens, n)
		b.Code(trace.OutputTokensSource, int32(trace.FromServer))
	}
	if r.outputs > 1 {
		b.Int(trace.NChoices, r.outputs)
	}
	b.Int(trace.Offset, r.offset)
}

func (r *rows) vllm() { r.b.Dict(trace.EngineCol, []byte("vllm")) }

// joined names the rows of several sides of one request.
func (r *rows) joined() {
	if name := r.name(); len(name) > 0 {
		r.b.Text(trace.JoinGroup, name)
	}
}

func (r *rows) name() []byte {
	if len(r.texts[requestID]) > 0 {
		return r.texts[requestID]
	}
	return r.texts[id]
}

func (r *rows) output() (int64, bool) {
	if r.outputs > 0 && !r.has(outputTokens) {
		return r.outputLen, true
	}
	return r.values[outputTokens], r.has(outputTokens)
}

func (r *rows) status() trace.Status {
	n, known := r.output()
	switch why := r.texts[reason]; {
	case r.failed, bytes.EqualFold(why, []byte("error")):
		return trace.Failed
	case bytes.EqualFold(why, []byte("abort")):
		return trace.Aborted
	case known && n == 0:
		return trace.Empty
	}
	return trace.OK
}

// span returns the time between two stamps of one clock. One that is negative or
// longer than a day is no time of a request: it is unknown, and both are named.
func (r *rows) span(from, to int, what string) (int64, bool) {
	if !r.stamped(from) || !r.stamped(to) {
		return 0, false
	}
	d := r.values[to] - r.values[from]
	if d < 0 || d > day {
		r.reject(fmt.Sprintf("%s would be from %s to %s", what, unit.FormatDuration(r.values[from]), unit.FormatDuration(r.values[to])))
		return 0, false
	}
	return d, true
}

// duration returns a value that is a duration itself.
func (r *rows) duration(slot int, what string) (int64, bool) {
	if !r.has(slot) {
		return 0, false
	}
	if d := r.values[slot]; d < 0 || d > day {
		r.reject(what + " would be " + unit.FormatDuration(d))
		return 0, false
	}
	return r.values[slot], true
}

func (r *rows) reject(msg string) {
	r.note(&assemble.Problem{Code: "impossible_duration", Severity: diag.Notice, Msg: msg + ": a time that is negative or longer than a day is taken as unknown"})
}

// stamped tells whether a stamp is known: 0.0 means that it never came to that.
func (r *rows) stamped(slot int) bool { return r.has(slot) && r.values[slot] > 0 }

func (r *rows) set(c trace.Col, slot int) {
	if r.stamped(slot) {
		r.b.Int(c, r.values[slot])
	}
}

// stateStats adds the rows of vLLM's RequestStateStats: arrival_time and
// first_token_latency are of the API server's wall clock, the stamps of the
// engine's monotonic one.
func (r *rows) stateStats() {
	ttft, timed := r.duration(firstLatency, "first_token_latency")
	queue, queued := r.span(queuedTS, scheduledTS, "the time in the queue")
	prefill, prefilled := r.span(scheduledTS, firstTS, "the prefill")
	generated := timed && r.stamped(firstLatency) && r.status() != trace.Empty
	if r.stamped(arrival) || generated {
		clock, start := trace.Wall, r.values[arrival]
		if !r.stamped(arrival) {
			clock, start = trace.RequestClock, 0
		}
		r.begin(trace.Server, clock)
		r.vllm()
		r.joined()
		r.b.Int(trace.Received, start)
		if generated {
			r.b.Int(trace.FirstToken, start+ttft)
			if d, ok := r.span(firstTS, lastTS, "the time from the first token to the last"); ok {
				r.b.Int(trace.LastToken, start+ttft+d)
				r.note(bridged)
			}
		}
		if queued {
			r.b.Int(trace.DQueue, queue)
		}
		if prefilled {
			r.b.Int(trace.DPrefill, prefill)
		}
		if rest := ttft - queue - prefill; generated && queued && prefilled && rest >= 0 {
			r.merged(trace.MergedLeaves, trace.DMerged, rest, "input", "ingress", "egress")
		}
		r.b.EndRow()
	}
	r.engine()
}

// engine adds the row of the engine's stamps.
func (r *rows) engine() {
	clock := trace.Monotonic
	if r.values[scheduledTS] >= 1e18 || r.values[firstTS] >= 1e18 {
		clock = trace.Wall
	}
	r.begin(trace.Engine, clock)
	r.vllm()
	r.joined()
	r.set(trace.Queued, queuedTS)
	r.set(trace.Admitted, scheduledTS)
	r.set(trace.FirstToken, firstTS)
	r.set(trace.LastToken, lastTS)
	r.b.EndRow()
}

func (r *rows) merged(name, d trace.Col, ns int64, leaves ...string) {
	r.b.Dict(name, []byte(trace.Merged(leaves...)))
	r.b.Int(d, ns)
}

// requestMetrics adds the row of V0's RequestMetrics, all of one wall clock.
func (r *rows) requestMetrics() {
	waited, waiting := r.span(arrival, firstScheduled, "the wait for the scheduler")
	ran, running := r.span(firstScheduled, firstTime, "the time from the first schedule to the first token")
	r.begin(trace.Server, trace.Wall)
	r.vllm()
	r.set(trace.Received, arrival)
	r.set(trace.Admitted, firstScheduled)
	r.set(trace.FirstToken, firstTime)
	if r.stamped(lastTime) && r.stamped(firstTime) && r.values[lastTime] >= r.values[firstTime] { // else it was never set
		r.set(trace.LastToken, lastTime)
	}
	r.set(trace.Finished, finishedTime)
	if waiting {
		r.merged(trace.MergedLeaves, trace.DMerged, waited, "ingress", "queue")
	}
	if running {
		r.merged(trace.MergedLeaves2, trace.DMerged2, ran, "prefill", "egress")
	}
	r.b.EndRow()
}

// finished adds the rows of FinishedRequestStats, durations alone: e2e_latency
// of the server, the others of the engine. What the engine decoded is the decode
// span of the request, whose TPOT it gives, as that of spans does.
func (r *rows) finished() {
	if whole, ok := r.duration(e2eLatency, "e2e_latency"); ok {
		r.begin(trace.Server, trace.RequestClock)
		r.vllm()
		r.joined()
		r.b.Int(trace.Received, 0)
		r.b.Int(trace.Finished, whole)
		if d, ok := r.duration(decodeTime, "the decode time"); ok {
			r.b.Int(trace.DDecode, d)
		}
		r.b.EndRow()
	}
	r.joined()
	r.stages(queuedTime, prefillTime, decodeTime)
}

// stages adds the row of an engine that gives the lengths of its stages, which
// follow one another.
func (r *rows) stages(queue, prefill, decode int) {
	r.begin(trace.Engine, trace.RequestClock)
	r.vllm()
	at, known := r.duration(queue, "the time in the queue")
	if known {
		r.b.Int(trace.Queued, 0)
		r.b.Int(trace.Admitted, at)
	}
	d, ok := r.duration(prefill, "the prefill")
	if ok && known && r.status() != trace.Empty {
		at += d
		r.b.Int(trace.FirstToken, at)
		if d, ok := r.duration(decode, "the decode time"); ok {
			r.b.Int(trace.LastToken, at+d)
		}
	}
	r.b.EndRow()
}

// answer adds the row of an API answer.
func (r *rows) answer() {
	if r.has(queueMS) || r.has(prefillMS) {
		r.stages(queueMS, prefillMS, decodeMS)
		return
	}
	r.begin(trace.Server, trace.RequestClock)
	r.b.EndRow()
}

// failure adds the row of an answer that is an error.
func (r *rows) failure() {
	r.begin(trace.Server, trace.RequestClock)
	if len(r.texts[errorType]) > 0 {
		r.b.Dict(trace.ErrorClass, r.texts[errorType])
	}
	r.b.EndRow()
}

// sglangAnswer adds the row of an answer with meta_info. In a stream each chunk
// has it; the last one has the reason of the finish.
func (r *rows) sglangAnswer() string {
	if !r.sglang.Ended() {
		return Chunk.String()
	}
	if sglmeta.HealthCheck(r.sglang.ID()) {
		return "health check"
	}
	r.b.Dict(trace.EngineCol, []byte("sglang"))
	r.sglang.Row(r.b, r.note)
	r.b.Int(trace.Offset, r.offset)
	r.b.EndRow()
	return SGLang.String()
}
