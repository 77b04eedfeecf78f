package otlplogs

import (
	"bytes"
	"fmt"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/numx"
	"servescope/formats/internal/records"
)

// maxOpen is how many calls may have begun and not ended at a time.
const maxOpen = 1 << 12

// call is one that began.
type call struct {
	sent, at int64
	answered bool
}

// fold makes rows of events.
type fold struct {
	*records.Writer
	record, pair *records.Fields
	open         map[string]*call // by span
	begun        []string         // spans in the order in which they began
	whole, parts bool             // there are events of either kind
}

func newFold(w *records.Writer) records.Fold {
	return &fold{Writer: w, record: records.NewFields(members), pair: records.NewFields(pairs), open: make(map[string]*call)}
}

// Line implements records.Fold.
func (f *fold) Line(_ []byte, at int64) { f.Skip(notJSON, at) }

// Object implements records.Fold: it takes the records of a document.
func (f *fold) Object(_ *records.Fields, text []byte, at int64) {
	records := 0
	within(text, 0, [...][2]string{{"resourceLogs", "resource_logs"}, {"scopeLogs", "scope_logs"}, {"logRecords", "log_records"}}, func(record []byte, i int) {
		records++
		f.take(record, at+int64(i))
	})
	if records == 0 {
		f.Noise()
	}
}

// within calls visit for each element of lists in lists.
func within(text []byte, at int, names [3][2]string, visit func(element []byte, at int)) {
	name := names[0][0]
	if !bytes.Contains(text, []byte(`"`+name+`"`)) {
		name = names[0][1]
	}
	records.Elements(text, name, func(element []byte, i int) {
		if names[1][0] == "" {
			visit(element, at+i)
			return
		}
		within(element, at+i, [3][2]string{names[1], names[2]}, visit)
	})
}

// take takes a record.
func (f *fold) take(text []byte, at int64) {
	v := f.record
	if !v.Read(text) {
		f.Skip(notARecord, at)
		return
	}
	kind := kindOf(v.Text(eventName))
	body := func(element []byte, _ int) { f.attribute(element) }
	records.Elements(text, "attributes", body)
	if kind == 0 {
		kind = kindOf(v.Text(eventName))
	}
	if kind == choice {
		records.Elements(text, "values", body) // of the body
	}
	if kind == 0 {
		f.Noise()
		return
	}
	t, ok := f.time(at)
	if !ok {
		f.Skip(noTime, at)
		return
	}
	switch kind {
	case input:
		f.begin(t, at)
	case details:
		f.whole = true
		f.row(t, 0, at)
		f.Parsed("call")
	default:
		f.end(kind, t, at)
	}
}

// attribute keeps an attribute if it is wanted.
func (f *fold) attribute(text []byte) {
	if !f.pair.Read(text) || !f.pair.Has(key, value) {
		return
	}
	if slot, ok := attributes[string(f.pair.Text(key))]; ok && !f.record.Has(slot) {
		f.record.Set(slot, f.pair.Text(value), formats.String)
	}
}

// time returns when an event happened; one that does not say was observed then.
func (f *fold) time(at int64) (int64, bool) {
	for _, slot := range [...]int{timestamp, observed} {
		if t, ok := f.record.Count(slot); ok && t > 0 {
			if slot == observed {
				f.Note(onlyObserved, at)
			}
			return t, true
		}
	}
	return 0, false
}

// span returns what names the call of an event, or "".
func (f *fold) span() string {
	id := f.record.Text(spanID)
	if len(bytes.Trim(id, "0")) == 0 {
		return ""
	}
	return string(f.record.Text(traceID)) + "/" + string(id)
}

// begin notes a message of the input of a call, the last of which is its beginning.
func (f *fold) begin(t, at int64) {
	f.parts = true
	span := f.span()
	if span == "" {
		f.Skip(noSpan, at)
		return
	}
	f.Parsed("input")
	c := f.open[span]
	if c == nil {
		c = &call{at: at}
		f.open[span] = c
		f.begun = append(f.begun, span)
	}
	if !c.answered {
		c.sent = max(c.sent, t)
	}
	for len(f.open) > maxOpen || len(f.begun) > 2*maxOpen {
		f.expire()
	}
}

// expire gives up the call that began first.
func (f *fold) expire() {
	span := f.begun[0]
	f.begun = f.begun[1:]
	if c := f.open[span]; c != nil {
		f.unanswered(c)
		delete(f.open, span)
	}
}

// unanswered makes a row of a call that has no choice: it failed, or the log ends.
func (f *fold) unanswered(c *call) {
	if c.answered {
		return
	}
	f.Note(noChoice, c.at)
	f.Builder.Int(trace.Sent, c.sent)
	f.Builder.Code(trace.StatusCol, int32(trace.Open))
	f.EndRow(c.at)
}

// end takes a choice, or the error of a call.
func (f *fold) end(kind kind, t, at int64) {
	f.parts = true
	c, sent := f.open[f.span()], int64(0)
	if c != nil {
		if sent, c.answered = c.sent, true; kind == exception {
			delete(f.open, f.span())
		}
	} else {
		f.Note(noInput, at)
	}
	if kind == exception && !f.record.Has(errorType) {
		f.record.Set(errorType, []byte("exception"), formats.String)
	}
	f.row(t, sent, at)
	f.Parsed("choice")
}

// row makes a row of a call that ended. sent is 0 where it is not known.
func (f *fold) row(t, sent, at int64) {
	b, v := f.Builder, f.record
	if sent > t {
		f.Note(order, at)
		sent = 0
	}
	if sent > 0 {
		b.Int(trace.Sent, sent)
	}
	b.Int(trace.Finished, t)
	for _, slot := range [...]int{responseID, spanID} {
		if id := v.Text(slot); len(id) > 0 {
			b.Text(trace.RequestID, id)
			break
		}
	}
	for _, c := range [...]struct {
		slot int
		col  trace.Col
	}{{requestModel, trace.Model}, {model, trace.Model}, {finish, trace.FinishReason}, {errorType, trace.ErrorClass}} {
		if text := v.Text(c.slot); len(text) > 0 {
			b.Dict(c.col, text)
		}
	}
	n, counted := v.Count(outputTokens)
	switch {
	case v.Has(errorType):
		b.Code(trace.StatusCol, int32(trace.Failed))
	case counted && n == 0:
		b.Code(trace.StatusCol, int32(trace.Empty))
	default:
		b.Code(trace.StatusCol, int32(trace.OK))
	}
	for _, c := range [...]struct {
		slot int
		col  trace.Col
	}{{outputTokens, trace.OutputTokens}, {inputTokens, trace.PromptTokens}, {cacheRead, trace.CachedTokens}, {reasoning, trace.ReasoningTokens}, {maxTokens, trace.MaxTokens}, {choices, trace.NChoices}, {choiceIndex, trace.Choice}} {
		if n, ok := v.Count(c.slot); ok {
			b.Int(c.col, n)
		}
	}
	if counted {
		b.Code(trace.OutputTokensSource, int32(trace.FromServer))
	}
	if v.Is(stream, "true") || v.Is(stream, "false") {
		b.Bool(trace.Stream, v.Is(stream, "true"))
	}
	if ns, ok := v.Span(firstChunk, numx.Second); ok && ns > 0 {
		f.Claim("gen_ai.response.time_to_first_chunk", "", unit.Nanosecond, float64(ns), 0)
	}
	f.EndRow(at)
}

// End implements records.Fold.
func (f *fold) End() {
	for len(f.begun) > 0 {
		f.expire()
	}
	note := func(when bool, format string, args ...any) {
		if when {
			f.Run.Notes = append(f.Run.Notes, fmt.Sprintf(format, args...))
		}
	}
	note(f.whole, "end_only: an event with the details of a call is emitted when it ends, and does not tell when it began: there is neither TTFT nor E2E; the spans of the same program have both")
	note(f.parts, "message_events: sent is when the last message of the input was logged, just before the call, and finished when the choice was; tokens have no stamps and are not counted")
}

var (
	notJSON = &assemble.Problem{Code: "bad_json", Severity: diag.DataLoss,
		Msg: "a line is not a JSON object and was skipped"}
	notARecord = &assemble.Problem{Code: "bad_record", Severity: diag.DataLoss,
		Msg: "an element of a list of log records is not an object and was skipped"}
	noTime = &assemble.Problem{Code: "no_time", Severity: diag.DataLoss,
		Msg: "an event does not say when it happened and was skipped"}
	onlyObserved = &assemble.Problem{Code: "observed_time", Severity: diag.Notice,
		Msg: "events do not say when they happened: the time at which they were observed is taken, which may be later"}
	noSpan = &assemble.Problem{Code: "no_span", Severity: diag.DataLoss,
		Msg: "a message names no span, so its call is unknown: it was skipped", Fix: "trace the program as well: events carry the span that is current"}
	noInput = &assemble.Problem{Code: "no_input", Severity: diag.Notice,
		Msg: "a choice or an error belongs to a call whose messages are not in the file: its send time is unknown"}
	noChoice = &assemble.Problem{Code: "no_choice", Severity: diag.Notice,
		Msg: "a call has messages and no choice: it failed, or the file ends before it does; it counts as open"}
	order = &assemble.Problem{Code: "stamp_order", Severity: diag.Notice,
		Msg: "a choice comes before the messages of its call: when that was sent counts as unknown"}
)
