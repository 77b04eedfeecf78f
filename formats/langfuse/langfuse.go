// Package langfuse reads what Langfuse exports of its observations: the API's and
// the page's JSON (observations, or traces that hold them), the JSON, JSON lines
// and CSV of the batch and blob storage exports.
//
// Observations of the type GENERATION are requests, on the clock of the program
// that was traced; others are spans and events around them.
//
//	startTime            sent
//	completionStartTime  first_token; null where it was not streamed or not told
//	endTime              finished
//	latency, timeToFirstToken  differences of these; in s, in some exports in ms.
//	                     Reported beside ours, in the unit in which they fit
//
// Whatever the digits, stamps are in ms: there are no gaps between tokens, and no
// stamp of the last one, so no TPOT. usageDetails counts cached and reasoning
// tokens apart from or among the others; which of the two follows from the total.
package langfuse

import (
	"bytes"
	"context"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/records"
)

// Format is the format's entry in formats/all.
var Format = formats.Format{
	Name:     "langfuse",
	Title:    "Langfuse: observations and traces, exported as JSON or CSV",
	Priority: 91,
	Shape:    formats.Document,
	Sniff:    sniff,
	Open: func(ctx context.Context, src formats.Source, _ formats.Range, opt formats.Options) (formats.Reader, error) {
		return records.Open(ctx, src, opt, &dialect)
	},
}

func sniff(h *formats.Head) (formats.Score, string) {
	first, _, _ := bytes.Cut(bytes.TrimLeft(h.Start, "\r\n \t"), []byte("\n"))
	names := make(records.Keys, 0, 64)
	for name := range bytes.SplitSeq(first, []byte(",")) {
		names = append(names, formats.Key{Name: string(bytes.Trim(name, "\"\r "))})
	}
	if observation(names) {
		return formats.Sure, "its columns are those of observations of Langfuse"
	}
	return records.Sniff(h, func(keys records.Keys) (formats.Score, string) {
		switch {
		case observation(keys):
			return formats.Sure, "an object with type, a start and a trace's id: an observation of Langfuse"
		case keys.Count("observations", "data") > 0 && bytes.Contains(h.Start, []byte(`"GENERATION"`)) && bytes.Contains(h.Start, []byte(`"traceId"`)):
			return formats.Sure, "an object that holds observations of Langfuse"
		}
		return formats.No, "no observation of Langfuse"
	})
}

// observation tells whether keys are those of an observation.
func observation(keys records.Keys) bool {
	return keys.Has("id", "type") && keys.Count("startTime", "start_time") > 0 && keys.Count("traceId", "trace_id") > 0 && keys.Count("level", "completionStartTime", "completion_start_time", "usageDetails", "usage_details") > 0
}

const (
	id = iota
	traceID
	kind
	start
	first
	end
	model
	level
	message
	latency
	ttft
	input
	output
	total
	cached
	reasoning
	maxTokens
	user
)

var dialect = records.Dialect{
	Name: "langfuse",
	Run:  trace.RunMeta{Side: trace.Client, Clock: trace.Clock{Kind: trace.Wall}},
	Fields: map[string]int{
		"id": id, "traceId": traceID, "trace_id": traceID, "type": kind,
		"startTime": start, "start_time": start, "completionStartTime": first, "completion_start_time": first, "endTime": end, "end_time": end,
		"model": model, "provided_model_name": model, "providedModelName": model, "level": level, "statusMessage": message, "status_message": message,
		"latency": latency, "timeToFirstToken": ttft, "time_to_first_token": ttft, "userId": user, "user_id": user,
		"usage.input": input, "usage.output": output, "usage.total": total, "usage.promptTokens": input, "usage.completionTokens": output, "usage.totalTokens": total,
		"promptTokens": input, "completionTokens": output, "totalTokens": total, "inputUsage": input, "outputUsage": output, "totalUsage": total,
		"usageDetails.input": input, "usageDetails.output": output, "usageDetails.total": total,
		"usage_details.input": input, "usage_details.output": output, "usage_details.total": total,
		"usageDetails.input_cached_tokens": cached, "usageDetails.cache_read_input_tokens": cached, "usage_details.input_cached_tokens": cached, "usage_details.cache_read_input_tokens": cached,
		"usageDetails.output_reasoning_tokens": reasoning, "usageDetails.output_reasoning": reasoning, "usage_details.output_reasoning_tokens": reasoning, "usage_details.output_reasoning": reasoning,
		"modelParameters.max_tokens": maxTokens, "model_parameters.max_tokens": maxTokens,
	},
	Table: true,
	New: func(w *records.Writer) records.Fold {
		return &fold{Writer: w, inner: records.NewFields(nil)}
	},
	HowTo: "export observations of the type GENERATION, or traces with their observations",
}
