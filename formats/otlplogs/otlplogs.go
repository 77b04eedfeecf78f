// Package otlplogs reads log records of OpenTelemetry as JSON (resourceLogs, a line of
// the file exporter of the collector, or any other layout) that are events of the
// conventions for calls of models. All stamps are of the clock of the process that
// calls.
//
//	gen_ai.client.inference.operation.details   one event per call, emitted at its
//	      end: finished, with its counts; when it began is not in it. Its attribute
//	      gen_ai.response.time_to_first_chunk is a duration from that, so it is only
//	      reported.
//	gen_ai.user.message, …system.message, …assistant.message, …tool.message
//	      up to v1.36 of the conventions: emitted for each message of the input just
//	      before the call: the last of them is sent
//	gen_ai.choice    emitted for each choice when the response is complete, that of a
//	      stream at its end: finished. Both carry the span of the call, which is what
//	      joins them; a call that failed has no choice.
//
// No event tells when the first or the last token came, so there is no TTFT and no
// TPOT; those are in the spans, if in anything.
package otlplogs

import (
	"bytes"
	"context"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/records"
)

// Format is the format's entry in formats/all.
var Format = formats.Format{
	Name:     "otlplogs",
	Title:    "OpenTelemetry log events of model calls (OTLP/JSON: gen_ai.choice, …inference.operation.details)",
	Priority: 97,
	Shape:    formats.Document,
	Sniff:    sniff,
	Open: func(ctx context.Context, src formats.Source, _ formats.Range, opt formats.Options) (formats.Reader, error) {
		return records.Open(ctx, src, opt, &dialect)
	},
}

// sniff looks for a document of log records with an event of the conventions.
func sniff(h *formats.Head) (formats.Score, string) {
	const no = "no resourceLogs with events of gen_ai"
	found := false
	look := func(keys []formats.Key) {
		for _, k := range keys {
			found = found || k.Kind == formats.Array && (k.Name == "resourceLogs" || k.Name == "resource_logs")
		}
	}
	look(h.Keys())
	for _, line := range h.Lines() {
		if found {
			break
		}
		look(formats.Keys(line))
	}
	if !found {
		return formats.No, no
	}
	for _, text := range append([][]byte{h.Start}, h.Samples...) {
		for _, e := range events {
			if bytes.Contains(text, []byte(`"`+e.name+`"`)) {
				return formats.Sure, "has log records that are events named " + e.name
			}
		}
	}
	return formats.No, no
}

// kind is what an event tells.
type kind uint8

const (
	input kind = iota + 1
	choice
	details
	exception
)

// events are those that are read.
var events = []struct {
	name string
	kind kind
}{
	{"gen_ai.client.inference.operation.details", details},
	{"gen_ai.choice", choice},
	{"gen_ai.user.message", input},
	{"gen_ai.system.message", input},
	{"gen_ai.assistant.message", input},
	{"gen_ai.tool.message", input},
	{"gen_ai.client.operation.exception", exception},
}

func kindOf(name []byte) kind {
	for _, e := range events {
		if e.name == string(name) {
			return e.kind
		}
	}
	return 0
}

// The slots of what a log record states: those of its own, of its attributes, and of
// the body of a choice.
const (
	eventName = iota
	timestamp
	observed
	traceID
	spanID
	responseID
	operation
	model
	requestModel
	inputTokens
	outputTokens
	cacheRead
	reasoning
	maxTokens
	choices
	stream
	firstChunk
	finish
	errorType
	choiceIndex
	key // of an attribute
	value
)

// members are those of a log record.
var members = map[string]int{
	"eventName": eventName, "event_name": eventName, "timeUnixNano": timestamp, "time_unix_nano": timestamp,
	"observedTimeUnixNano": observed, "observed_time_unix_nano": observed,
	"traceId": traceID, "trace_id": traceID, "spanId": spanID, "span_id": spanID,
}

// pairs are the members of an attribute. Of a list the last element counts.
var pairs = map[string]int{
	"key": key, "value.stringValue": value, "value.intValue": value, "value.doubleValue": value, "value.boolValue": value, "value.arrayValue.values[].stringValue": value,
	"value.string_value": value, "value.int_value": value, "value.double_value": value, "value.bool_value": value, "value.array_value.values[].string_value": value,
}

// attributes are those that are read, of a record or in the body of a choice.
var attributes = map[string]int{
	"event.name": eventName, "gen_ai.response.id": responseID, "gen_ai.operation.name": operation,
	"gen_ai.response.model": model, "gen_ai.request.model": requestModel,
	"gen_ai.usage.input_tokens": inputTokens, "gen_ai.usage.output_tokens": outputTokens,
	"gen_ai.usage.cache_read.input_tokens": cacheRead, "gen_ai.usage.reasoning.output_tokens": reasoning,
	"gen_ai.request.max_tokens": maxTokens, "gen_ai.request.choice.count": choices,
	"gen_ai.request.stream": stream, "gen_ai.response.time_to_first_chunk": firstChunk,
	"gen_ai.response.finish_reasons": finish, "error.type": errorType, "exception.type": errorType,
	"index": choiceIndex, "finish_reason": finish,
}

var dialect = records.Dialect{
	Name:  "otlplogs",
	Run:   trace.RunMeta{Side: trace.Client, Clock: trace.Clock{Kind: trace.Wall}},
	New:   newFold,
	HowTo: "events of calls are gen_ai.client.inference.operation.details, or gen_ai.user.message and gen_ai.choice",
}
