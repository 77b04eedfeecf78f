// Package litellm reads what LiteLLM logs of each call: the StandardLoggingPayload
// of its callbacks, and the rows of its spend logs (GET /spend/logs, the table
// LiteLLM_SpendLogs), as JSON lines or arrays.
//
// All stamps are of the gateway's wall clock: seconds since the epoch in payloads,
// dates in rows of the table.
//
//	startTime            the call begins: received
//	completionStartTime  the first chunk of a stream, one with a role only included:
//	                     first_event; of anything else the end.
//	                     Of a stream whose first chunk was missed it is the end,
//	                     too (BerriAI/litellm#31385): equal to endTime it is unknown
//	endTime              the response has ended: finished
//	response_time        TTFT of a stream, else the whole; of streams reported
//	litellm_overhead_time_ms  what the gateway adds to the time of the provider
//
// There is no stamp of the last token, so there is no TPOT: the end of the stream
// comes after it. Of TTFT only the gateway's own part is known, and that of
// streams alone; the rest is residual. Counts are those of the provider's usage,
// or LiteLLM's own where it sends none.
package litellm

import (
	"context"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/records"
)

// Format is the format's entry in formats/all.
var Format = formats.Format{
	Name:     "litellm",
	Title:    "LiteLLM: StandardLoggingPayload of callbacks, rows of its spend logs (JSON)",
	Priority: 90,
	Shape:    formats.Document,
	Sniff:    sniff,
	Open: func(ctx context.Context, src formats.Source, _ formats.Range, opt formats.Options) (formats.Reader, error) {
		return records.Open(ctx, src, opt, &dialect)
	},
}

func sniff(h *formats.Head) (formats.Score, string) {
	return records.Sniff(h, func(keys records.Keys) (formats.Score, string) {
		if keys.Has("startTime", "endTime", "call_type") && keys.Count("completionStartTime", "response_cost", "spend", "model_group", "litellm_call_id") >= 2 {
			return formats.Sure, "an object with startTime, endTime, call_type and others of LiteLLM"
		}
		return formats.No, "no object with startTime, endTime and call_type"
	})
}

const (
	id = iota
	callID
	traceID
	callType
	stream
	status
	start
	first
	end
	responseTime
	durationMS
	promptTokens
	outputTokens
	cached
	reasoning
	maxTokens
	model
	apiBase
	team
	user
	cacheHit
	errorCode
	errorClass
	overhead
	finish
)

var dialect = records.Dialect{
	Name: "litellm",
	Run:  trace.RunMeta{Side: trace.Proxy, Clock: trace.Clock{Kind: trace.Wall}, DefaultDefinition: "litellm"},
	Fields: map[string]int{
		"id": id, "request_id": id, "litellm_call_id": callID, "trace_id": traceID, "session_id": traceID,
		"call_type": callType, "stream": stream, "status": status,
		"startTime": start, "completionStartTime": first, "endTime": end, "response_time": responseTime, "request_duration_ms": durationMS,
		"prompt_tokens": promptTokens, "completion_tokens": outputTokens,
		"metadata.usage_object.prompt_tokens_details.cached_tokens":        cached,
		"response.usage.prompt_tokens_details.cached_tokens":               cached,
		"metadata.usage_object.completion_tokens_details.reasoning_tokens": reasoning,
		"response.usage.completion_tokens_details.reasoning_tokens":        reasoning,
		"model_parameters.max_tokens":                                      maxTokens, "model_parameters.max_completion_tokens": maxTokens,
		"model": model, "api_base": apiBase,
		"metadata.user_api_key_team_alias": team, "team_id": team, "end_user": user,
		"cache_hit": cacheHit, "error_information.error_code": errorCode, "error_information.error_class": errorClass,
		"hidden_params.litellm_overhead_time_ms": overhead, "response.choices[].finish_reason": finish,
	},
	New:   func(w *records.Writer) records.Fold { return &fold{w} },
	HowTo: "add a callback that writes kwargs[\"standard_logging_object\"], or export /spend/logs",
}

// fold makes rows of calls. It has no state.
type fold struct{ *records.Writer }

// Line implements records.Fold.
func (f *fold) Line(_ []byte, at int64) { f.Skip(notJSON, at) }

// End implements records.Fold.
func (f *fold) End() {}
