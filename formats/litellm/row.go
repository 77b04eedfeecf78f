package litellm

import (
	"bytes"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/numx"
	"servescope/formats/internal/records"
)

// Object implements records.Fold.
func (f *fold) Object(v *records.Fields, _ []byte, at int64) {
	from, began := f.time(v, start, at)
	if !began {
		f.Skip(notACall, at)
		return
	}
	if !generates(v.Text(callType)) {
		f.Note(otherCall, at)
		f.Noise()
		return
	}
	till, ended := f.time(v, end, at)
	if ended && till.T < from.T {
		f.Note(order, at)
		ended = false
	}
	b := f.Builder
	b.Int(trace.Received, from.T)
	if ended {
		b.Int(trace.Finished, till.T)
	}
	if step := max(from.Step, till.Step); step > 1 {
		b.Int(trace.Resolution, step)
	}
	f.identity(v)
	if v.Is(cacheHit, "true") {
		f.Note(fromCache, at)
	}
	if f.status(v) == trace.OK {
		if ended {
			f.first(v, from.T, till.T, at)
		}
		f.claims(v)
	}
	f.EndRow(at)
	f.Parsed("call")
}

// floatStep is the step in ns of the stamps of a payload, of which times are
// differences.
const floatStep = 238

// generates tells whether a call makes tokens one after the other.
func generates(call []byte) bool {
	for _, other := range [...]string{"embedding", "rerank", "moderation", "image", "speech", "transcription", "batch", "file", "search", "ocr"} {
		if bytes.Contains(call, []byte(other)) {
			return false
		}
	}
	return true
}

// time reads a stamp. One that states no zone is in UTC, as the database keeps it,
// unless the caller says otherwise.
func (f *fold) time(v *records.Fields, slot int, at int64) (records.Stamp, bool) {
	s, ok := v.Time(slot)
	if ok && !s.Zoned && f.Zone == nil {
		f.Note(zone, at)
	}
	return s.In(f.Zone), ok
}

// identity sets who the request is.
func (f *fold) identity(v *records.Fields) {
	b := f.Builder
	for _, slot := range [...]int{id, callID} {
		if name := v.Text(slot); len(name) > 0 {
			b.Text(trace.RequestID, name)
			break
		}
	}
	if name := v.Text(traceID); len(name) > 0 {
		b.Text(trace.ParentID, name)
	}
	for _, c := range [...]struct {
		slot int
		col  trace.Col
	}{{model, trace.Model}, {apiBase, trace.Replica}, {user, trace.Tenant}, {team, trace.Tenant}, {finish, trace.FinishReason}} {
		if text := v.Text(c.slot); len(text) > 0 {
			b.Dict(c.col, text)
		}
	}
	if n, ok := v.Count(maxTokens); ok {
		b.Int(trace.MaxTokens, n)
	}
}

// status sets how the call ended, and its counts: those of a call that failed are
// 0 whatever it did.
func (f *fold) status(v *records.Fields) trace.Status {
	b := f.Builder
	s := trace.OK
	n, counted := v.Count(outputTokens)
	switch {
	case v.Is(status, "failure") || v.Has(errorClass) && len(v.Text(errorClass)) > 0:
		s = trace.Failed
		if code, ok := v.Count(errorCode); ok && code >= 100 && code < 600 {
			if code == 499 { // the client has gone
				s = trace.Aborted
			}
			b.Dict(trace.ErrorClass, append([]byte("HTTP "), v.Text(errorCode)...))
		} else if text := v.Text(errorClass); len(text) > 0 {
			b.Dict(trace.ErrorClass, []byte(records.ErrorClass(text)))
		}
	case counted && n == 0:
		s = trace.Empty
	}
	b.Code(trace.StatusCol, int32(s))
	if s == trace.Failed || s == trace.Aborted {
		return s
	}
	if counted {
		b.Int(trace.OutputTokens, n)
		b.Code(trace.OutputTokensSource, int32(trace.FromServer))
	}
	for _, c := range [...]struct {
		slot int
		col  trace.Col
	}{{promptTokens, trace.PromptTokens}, {cached, trace.CachedTokens}, {reasoning, trace.ReasoningTokens}} {
		if n, ok := v.Count(c.slot); ok {
			b.Int(c.col, n)
		}
	}
	return s
}

// first sets when the first chunk came, be it one with a role only. A payload says whether the call is
// streamed; a row of the table does not: there a first chunk before the end tells.
func (f *fold) first(v *records.Fields, from, till, at int64) {
	s, known := v.Time(first)
	t := s.In(f.Zone).T
	streamed := v.Is(stream, "true")
	payload := v.Kind(stream) != 0
	switch {
	case payload && !streamed:
		f.Builder.Bool(trace.Stream, false)
		return
	case streamed:
		f.Builder.Bool(trace.Stream, true)
	}
	switch {
	case !known:
		return
	case t == till:
		if streamed {
			f.Note(fellBack, at)
			f.Run.Doubt(trace.Doubt{Key: "completionStartTime", Metric: "ttft", Unit: unit.Nanosecond, Value: float64(t - from), Count: 1,
				Why: "it is that of the end, which LiteLLM writes where it missed the first chunk"})
		}
		return
	case t <= from || t > till:
		f.Note(badFirst, at)
		return
	}
	f.Builder.Bool(trace.Stream, true)
	f.Builder.Int(trace.FirstEvent, t)
	if ns, ok := v.Span(overhead, numx.Millisecond); ok && ns >= 0 && ns <= t-from {
		f.Builder.Int(trace.DProxy, ns)
	}
	if ns, ok := v.Span(responseTime, numx.Second); ok && ns >= 0 {
		f.Claim("response_time", "ttft", unit.Nanosecond, float64(ns), 2*floatStep)
	}
}

// claims takes what LiteLLM computed itself.
func (f *fold) claims(v *records.Fields) {
	if ns, ok := v.Span(durationMS, numx.Millisecond); ok && ns >= 0 {
		f.Claim("request_duration_ms", "e2e", unit.Nanosecond, float64(ns), 1e6)
	}
	if ns, ok := v.Span(overhead, numx.Millisecond); ok && ns >= 0 {
		f.Claim("litellm_overhead_time_ms", "", unit.Nanosecond, float64(ns), 0)
	}
}

var (
	notJSON = &assemble.Problem{Code: "bad_json", Severity: diag.DataLoss,
		Msg: "a line is not a JSON object and was skipped"}
	notACall = &assemble.Problem{Code: "not_a_call", Severity: diag.DataLoss,
		Msg: "an object has no startTime and was skipped"}
	otherCall = &assemble.Problem{Code: "other_call", Severity: diag.Info,
		Msg: "calls that generate no tokens, such as embeddings, are left out"}
	zone = &assemble.Problem{Code: "zone_assumed", Severity: diag.Notice,
		Msg: "dates state no zone: they are taken for UTC, as the database keeps them", Fix: "give --tz ZONE"}
	order = &assemble.Problem{Code: "stamp_order", Severity: diag.Notice,
		Msg: "endTime comes before startTime: it counts as unknown"}
	fromCache = &assemble.Problem{Code: "cache_hit", Severity: diag.Notice,
		Msg: "answers of LiteLLM's own cache are among the calls: they have the times of the cache, not of a model"}
	fellBack = &assemble.Problem{Code: "first_chunk_missed", Severity: diag.Notice,
		Msg: "completionStartTime of a stream is endTime, which LiteLLM writes where it missed the first chunk: the first token is unknown", Fix: "update LiteLLM; a client that stamps its own chunks knows better"}
	badFirst = &assemble.Problem{Code: "impossible_first_token", Severity: diag.Notice,
		Msg: "completionStartTime is not between startTime and endTime: it counts as unknown"}
)
