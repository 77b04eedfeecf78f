// Package llamacpp reads what llama.cpp's server measures of requests: the object
// "timings" of its responses, saved as JSON lines or as the events of a stream, and
// the lines of its log, of 2023 to 2026:
//
//	slot print_timing: id  0 | task 568 | prompt eval time = 40.00 ms / 7 tokens (…)
//	print_timings:        eval time = 60.00 ms / 5 runs (…)
//	prompt eval time = …                         three lines behind the one of a slot
//	{"msg":"generation eval time = …","t_token_generation":60.0,"n_decoded":5,…}
//
// All are durations of the slot: rows of the engine, on the clock of the request,
// whose zero is its admission to the slot.
//
//	prompt_ms     from there until the first token is sampled, cached tokens not
//	              computed: admitted to first_token
//	predicted_ms  from the first token to the last: to last_token
//	predicted_n   all tokens, the first included
//	cache_n       tokens of the prompt from the cache; prompt_n are the others
//
// The wait for a slot is not measured, so there is no time to first token. With
// --log-timestamps lines are placed on the clock of the process; a request that
// took a slot and has no times is open, or was cancelled.
package llamacpp

import (
	"bytes"
	"context"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/records"
)

// Format is the format's entry in formats/all.
var Format = formats.Format{
	Name:     "llamacpp",
	Title:    "llama.cpp server: timings of responses (JSON), and its log",
	Priority: 93,
	Shape:    formats.Ordered,
	Sniff:    sniff,
	Open: func(ctx context.Context, src formats.Source, _ formats.Range, opt formats.Options) (formats.Reader, error) {
		return records.Open(ctx, src, opt, &dialect)
	},
}

func sniff(h *formats.Head) (formats.Score, string) {
	for _, part := range append([][]byte{h.Start}, h.Samples...) {
		for line := range bytes.Lines(part) {
			switch {
			case bytes.Contains(line, []byte(`"predicted_ms"`)) && bytes.Contains(line, []byte(`"prompt_ms"`)):
				return formats.Sure, "an object with timings of prompt_ms and predicted_ms"
			case bytes.Contains(line, []byte("eval time")) && parseTiming(line).what != other:
				return formats.Sure, "a line of print_timings"
			}
		}
		if bytes.Contains(part, []byte(`"predicted_ms"`)) && bytes.Contains(part, []byte(`"prompt_ms"`)) && bytes.Contains(part, []byte(`"timings"`)) {
			return formats.Sure, "an object with timings of prompt_ms and predicted_ms"
		}
	}
	return formats.No, "no timings with prompt_ms and predicted_ms, and no line of print_timings"
}

const (
	id = iota
	model
	reason
	stop
	stopType
	choices
	object
	failure
	cacheN
	promptN
	promptMS
	predictedN
	predictedMS
	perToken
	draftN
	draftAccepted
	usagePrompt
	evaluated
	message // of a line of the JSON log
	slotID
	taskID
	stampS
	logPrompt
	logGeneration
	logPromptN
	logDecoded
)

var dialect = records.Dialect{
	Name: "llamacpp",
	Run:  trace.RunMeta{Engine: "llama.cpp", Side: trace.Engine, Clock: trace.Clock{Kind: trace.RequestClock}, DefaultDefinition: "llamacpp"},
	Fields: map[string]int{
		"id": id, "model": model, "choices[].finish_reason": reason, "stop": stop, "stop_type": stopType, "choices": choices, "object": object, "error.type": failure, "error.message": failure,
		"timings.cache_n": cacheN, "timings.prompt_n": promptN, "timings.prompt_ms": promptMS,
		"timings.predicted_n": predictedN, "timings.predicted_ms": predictedMS, "timings.predicted_per_token_ms": perToken,
		"timings.draft_n": draftN, "timings.draft_n_accepted": draftAccepted,
		"usage.prompt_tokens": usagePrompt, "tokens_evaluated": evaluated,
		"msg": message, "id_slot": slotID, "slot_id": slotID, "id_task": taskID, "task_id": taskID, "timestamp": stampS,
		"t_prompt_processing": logPrompt, "t_token_generation": logGeneration, "n_prompt_tokens_processed": logPromptN, "num_prompt_tokens_processed": logPromptN, "n_decoded": logDecoded,
	},
	New:   func(w *records.Writer) records.Fold { return &fold{Writer: w, slots: make(map[int64]*slot)} },
	HowTo: "save the responses of the server, whose last objects have timings, or its log",
}
