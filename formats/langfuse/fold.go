package langfuse

import (
	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/json"
	"servescope/formats/internal/numx"
	"servescope/formats/internal/records"
)

// step is that of all stamps in ns.
const step = 1e6

// fold makes rows of observations. It has no state but memory.
type fold struct {
	*records.Writer
	inner *records.Fields
}

// Line implements records.Fold.
func (f *fold) Line(_ []byte, at int64) { f.Skip(notJSON, at) }

// End implements records.Fold.
func (f *fold) End() {}

// Object implements records.Fold. An object that is no observation may hold some:
// a trace, a page of the API.
func (f *fold) Object(v *records.Fields, text []byte, at int64) {
	if v.Has(kind, start) {
		f.observation(v, at)
		return
	}
	if f.inner = records.NewFields(dialect.Fields); !f.within(text, at, 0) {
		f.Skip(notOne, at)
	}
}

// Torn implements records.Torn: a page or a trace up to where it is torn.
func (f *fold) Torn(text []byte, at int64) int {
	f.inner = records.NewFields(dialect.Fields)
	n, _ := f.list(text, at, 0)
	return n
}

// within takes the observations in an object, and reports whether there is a list
// of them.
func (f *fold) within(text []byte, at int64, depth int) bool {
	if _, found := f.list(text, at, depth); found || depth > 0 {
		return found
	}
	found := false
	for _, name := range lists { // deeper, in what the page of a trace was loaded with
		records.Elements(text, name, func(element []byte, i int) {
			found = true
			f.element(element, at+int64(i), depth)
		})
		if found {
			break
		}
	}
	return found
}

// lists are the members that hold observations, or traces with them.
var lists = [...]string{"observations", "data"}

// list takes the observations in the list of an object, and those in a trace that is
// torn. It returns where the last of them ends, or the first would begin.
func (f *fold) list(text []byte, at int64, depth int) (n int, found bool) {
	for _, name := range lists {
		i := json.List(text, name)
		if i < 0 {
			continue
		}
		n = i
		rest := records.Each(text, i, func(element []byte, i int) {
			f.element(element, at+int64(i), depth)
			n = i + len(element)
		})
		if depth == 0 && rest < len(text) && text[rest] == '{' {
			if k, _ := f.list(text[rest:], at+int64(rest), depth+1); k > 0 {
				n = rest + k
			}
		}
		return n, true
	}
	return 0, false
}

// element takes an element of a list: an observation, or a trace.
func (f *fold) element(text []byte, at int64, depth int) {
	switch {
	case f.inner.Read(text) && f.inner.Has(kind, start):
		f.observation(f.inner, at)
	case depth > 0 || !f.within(text, at, depth+1):
		f.Skip(notOne, at)
	}
}

// observation makes the row of a generation.
func (f *fold) observation(v *records.Fields, at int64) {
	if !v.Is(kind, "GENERATION") {
		f.Noise()
		return
	}
	from, ok := f.time(v, start)
	if !ok {
		f.Skip(noStart, at)
		return
	}
	b := f.Builder
	b.Int(trace.Sent, from)
	b.Int(trace.Resolution, step)
	for _, c := range [...]struct {
		slot int
		col  trace.Col
	}{{id, trace.RequestID}, {traceID, trace.ParentID}} {
		if text := v.Text(c.slot); len(text) > 0 {
			b.Text(c.col, text)
		}
	}
	for _, c := range [...]struct {
		slot int
		col  trace.Col
	}{{model, trace.Model}, {user, trace.Tenant}} {
		if text := v.Text(c.slot); len(text) > 0 {
			b.Dict(c.col, text)
		}
	}
	if n, ok := v.Count(maxTokens); ok {
		b.Int(trace.MaxTokens, n)
	}
	n, counted := f.usage(v, at)
	till, ended := f.time(v, end)
	if ended && till < from {
		f.Note(order, at)
		ended = false
	}
	if ended {
		b.Int(trace.Finished, till)
	}
	done := f.status(v, n, counted, ended) == trace.OK
	f.first(v, from, till, ended, done, n, at)
	f.EndRow(at)
	f.Parsed("generation")
}

// time reads a stamp. Exports state no zone: they are in UTC.
func (f *fold) time(v *records.Fields, slot int) (int64, bool) {
	s, ok := v.Time(slot)
	return s.T, ok
}

// status sets how the generation ended. One without an end is still open.
func (f *fold) status(v *records.Fields, n int64, counted, ended bool) trace.Status {
	s := trace.OK
	switch {
	case v.Is(level, "ERROR"):
		s = trace.Failed
		f.Builder.Dict(trace.ErrorClass, []byte(records.ErrorClass(v.Text(message))))
	case !ended:
		s = trace.Open
	case counted && n == 0:
		s = trace.Empty
	}
	f.Builder.Code(trace.StatusCol, int32(s))
	return s
}

// first sets when the completion began, and takes what Langfuse makes of it where
// the generation is done.
func (f *fold) first(v *records.Fields, from, till int64, ended, done bool, n, at int64) {
	b := f.Builder
	t, known := f.time(v, first)
	switch {
	case !known:
	case t <= from || ended && t > till:
		f.Note(badFirst, at)
		known = false
	case ended && t == till && n > 1:
		f.Note(atEnd, at)
		known = false
	default:
		b.Int(trace.FirstToken, t)
		b.Bool(trace.Stream, true)
	}
	if ended && done {
		f.claim(v, latency, "latency", "e2e_stream_end", till-from, at)
	}
	if known && done {
		f.claim(v, ttft, "timeToFirstToken", "ttft", t-from, at)
	}
}

// claim takes a time of Langfuse's in the unit in which it is what the stamps give.
func (f *fold) claim(v *records.Fields, slot int, key, metric string, want, at int64) {
	if !v.Has(slot) {
		return
	}
	for _, scale := range [...]int{numx.Second, numx.Millisecond} {
		if ns, ok := v.Span(slot, scale); ok && max(ns-want, want-ns) <= step {
			f.Claim(key, metric, unit.Nanosecond, float64(ns), step)
			return
		}
	}
	f.Note(otherUnit, at)
}

// usage sets the counts. Where the total is more than what was put in and came
// out, cached and reasoning tokens are counted apart from these.
func (f *fold) usage(v *records.Fields, at int64) (n int64, counted bool) {
	b := f.Builder
	in, asked := v.Count(input)
	n, counted = v.Count(output)
	hit, fromCache := v.Count(cached)
	thought, reasons := v.Count(reasoning)
	if all, ok := v.Count(total); ok && asked && counted && in+n != all {
		if in+n+hit+thought == all {
			in, n = in+hit, n+thought
		} else {
			f.Note(sum, at)
		}
	}
	for _, c := range [...]struct {
		n   int64
		ok  bool
		col trace.Col
	}{{in, asked, trace.PromptTokens}, {n, counted, trace.OutputTokens}, {hit, fromCache, trace.CachedTokens}, {thought, reasons, trace.ReasoningTokens}} {
		if c.ok {
			b.Int(c.col, c.n)
		}
	}
	if counted {
		b.Code(trace.OutputTokensSource, int32(trace.FromServer))
	}
	return n, counted
}

var (
	notJSON = &assemble.Problem{Code: "bad_json", Severity: diag.DataLoss,
		Msg: "a line is not a JSON object and was skipped"}
	notOne = &assemble.Problem{Code: "not_an_observation", Severity: diag.DataLoss,
		Msg: "an object is not an observation with type and startTime, and contains none: it was skipped", Fix: "export observations, or traces with them"}
	noStart = &assemble.Problem{Code: "no_start", Severity: diag.DataLoss,
		Msg: "startTime of a generation is not a point in time: it was skipped"}
	order = &assemble.Problem{Code: "stamp_order", Severity: diag.Notice,
		Msg: "endTime comes before startTime: it counts as unknown"}
	badFirst = &assemble.Problem{Code: "impossible_first_token", Severity: diag.Notice,
		Msg: "completionStartTime is not between startTime and endTime: it counts as unknown"}
	atEnd = &assemble.Problem{Code: "first_chunk_missed", Severity: diag.Notice,
		Msg: "completionStartTime is endTime, though there are several tokens, as integrations write that missed the first chunk: the first token is unknown"}
	otherUnit = &assemble.Problem{Code: "latency_unit", Severity: diag.Notice,
		Msg: "latency or timeToFirstToken contradicts the stamps, both in seconds and in milliseconds: it is not reported"}
	sum = &assemble.Problem{Code: "usage_sum", Severity: diag.Notice,
		Msg: "the total of tokens is not the sum of its parts: input and output are taken as they are"}
)
