// Package ollama reads what Ollama answers, as clients save it: the final objects
// of /api/generate and /api/chat, with the chunks of a stream before them; and
// the access lines of its server log.
//
// Durations are in ns, of the server's monotonic clock; created_at of each object
// is of its wall clock, at the end of the final one.
//
//	total_duration        the request from its receipt to the end
//	load_duration         from the receipt until the model is loaded and a runner
//	                      is free: much of it may be queueing. Reported only
//	prompt_eval_duration  the prefill up to the first token: d_prefill
//	eval_duration         from the first token to the last: d_decode
//	                      (since v0.13 less the time of sampling)
//	eval_count            all tokens, the first included
//
// So received = created_at - total_duration, and where the chunks are there the
// first and the last of them stamp the tokens; then the rest of TTFT is
// {input, ingress, queue, egress}, load_duration within. A final object alone has
// no TTFT: total - load - prompt_eval - eval is before and behind the first token.
//
// Chunks name no request. Those of requests that were written into one file at the
// same time cannot be told apart: they give no stamps. Answers of the
// OpenAI-compatible API are of the format apilog; they have no durations.
package ollama

import (
	"bytes"
	"context"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/records"
)

// Format is the format's entry in formats/all.
var Format = formats.Format{
	Name:     "ollama",
	Title:    "Ollama: responses of /api/generate and /api/chat (JSON lines), access lines of its log",
	Priority: 92,
	Shape:    formats.Ordered,
	Sniff:    sniff,
	Open: func(ctx context.Context, src formats.Source, _ formats.Range, opt formats.Options) (formats.Reader, error) {
		return records.Open(ctx, src, opt, &dialect)
	},
}

func sniff(h *formats.Head) (formats.Score, string) {
	score, why := records.Sniff(h, func(keys records.Keys) (formats.Score, string) {
		if keys.Has("model", "created_at", "done") && keys.Count("response", "message", "total_duration") > 0 {
			return formats.Sure, "an object with model, created_at and done"
		}
		return formats.No, "no object with model, created_at and done"
	})
	if score != formats.No {
		return score, why
	}
	for line := range bytes.Lines(h.Start) {
		if _, ok := parseAccess(line); ok {
			return formats.Sure, "access lines of Gin for the API of Ollama"
		}
	}
	return formats.No, why + ", and no access line for its API"
}

const (
	model = iota
	created
	done
	reason
	total
	load
	promptCount
	promptCached
	promptDuration
	evalCount
	evalDuration
	response
	content
	thinking
	tools
	failure
)

var dialect = records.Dialect{
	Name: "ollama",
	Run:  trace.RunMeta{Engine: "ollama", Side: trace.Server, Clock: trace.Clock{Kind: trace.Wall}, DefaultDefinition: "llamacpp"},
	Fields: map[string]int{
		"model": model, "created_at": created, "done": done, "done_reason": reason,
		"total_duration": total, "load_duration": load,
		"prompt_eval_count": promptCount, "prompt_eval_cached_count": promptCached, "prompt_eval_duration": promptDuration,
		"eval_count": evalCount, "eval_duration": evalDuration,
		"response": response, "message.content": content, "thinking": thinking, "message.thinking": thinking,
		"message.tool_calls[].function.name": tools, "error": failure,
	},
	New:   func(w *records.Writer) records.Fold { return &fold{Writer: w} },
	HowTo: "save the responses of /api/generate or /api/chat with their final objects, which have \"done\":true",
}
