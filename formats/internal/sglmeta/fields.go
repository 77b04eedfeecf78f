package sglmeta

// The values that are kept of a request.
const (
	id = iota
	reason
	reasonStatus
	reasonError
	reasonMessage
	promptTokens
	completionTokens
	cachedTokens
	cachedDevice
	cachedHost
	cachedStorage
	cachedDetails
	reasoningTokens
	retractions
	verifySteps
	specAccepted
	specDrafted
	dpRank
	e2eLatency
	queueTime
	inferenceTime
	launchLatency
	received
	scheduled
	sentToScheduler
	dispatched
	forwardEntry
	prefillFinished
	prefillFinishedTS
	responseSent
	responseSentTS
	finished
	rid
	stream
	maxTokens
	choices
	lora
	room
	receivedTime
	delays   // values that no column holds, of the releases before v0.5.5.post2
	launches // and since
	slots
)

// kind is how a value is read.
type kind uint8

const (
	count   kind = iota // an integer, not negative; a bool is 1 or 0
	seconds             // a duration in s
	epoch               // a stamp in s
	text
	present // that the key is there at all, null included
)

// field is one key and the versions of SGLang that write it; the second is the
// last that does, or "" for those to come. Timing fields other than e2e_latency
// need --enable-metrics.
type field struct {
	key          string
	slot         int
	kind         kind
	since, until string
}

// metaFields are the keys of meta_info, in their usual order.
var metaFields = []field{
	{"id", id, text, "v0.3.0", ""},
	{"finish_reason", reason, text, "v0.3.0", ""}, // text until v0.3, a dictionary since
	{"finish_reason.type", reason, text, "v0.3.x", ""},
	{"finish_reason.message", reasonMessage, text, "v0.4.x", ""},
	{"finish_reason.status_code", reasonStatus, text, "v0.4.x", ""},
	{"finish_reason.err_type", reasonError, text, "v0.4.x", ""},
	{"prompt_tokens", promptTokens, count, "v0.3.0", ""},
	{"total_retractions", retractions, count, "v0.5.4.post2", "v0.5.11"},
	{"num_retractions", retractions, count, "v0.5.12", ""},
	{"request_scheduled_ts", scheduled, epoch, "v0.5.5", "v0.5.5.post1"},
	{"response_sent_ts", responseSentTS, epoch, "v0.5.5", "v0.5.5.post1"},
	{"request_sent_to_scheduler_ts", sentToScheduler, epoch, "v0.5.5.post2", "v0.5.9"},
	{"forward_entry_time", forwardEntry, epoch, "v0.5.10", ""},
	{"prefill_finished_time", prefillFinished, epoch, "v0.5.10", ""},
	{"prefill_finished_ts", prefillFinishedTS, epoch, "v0.5.5", "v0.5.9"},
	{"prefill_delay", delays, text, "v0.5.5", "v0.5.5.post1"},
	{"prefill_latency", delays, text, "v0.5.5", "v0.5.5.post1"},
	{"forward_time", delays, text, "v0.5.5", "v0.5.5.post1"},
	{"time_per_token", delays, text, "v0.5.5", "v0.5.5.post1"},
	{"prefill_launch_delay", launches, text, "v0.5.5.post2", "v0.5.9"},
	{"prefill_waiting_latency", launches, text, "v0.5.10", "v0.5.11"},
	{"queue_time", queueTime, seconds, "v0.5.5", ""},
	{"prefill_launch_latency", launchLatency, present, "v0.5.5.post2", "v0.5.11"},
	{"reasoning_tokens", reasoningTokens, count, "v0.5.10", ""},
	{"completion_tokens", completionTokens, count, "v0.3.0", ""},
	{"cached_tokens", cachedTokens, count, "v0.4.0.post2", ""},
	{"cached_tokens_details", cachedDetails, present, "v0.5.9", ""},
	{"cached_tokens_details.device", cachedDevice, count, "v0.5.9", ""},
	{"cached_tokens_details.host", cachedHost, count, "v0.5.9", ""},
	{"cached_tokens_details.storage", cachedStorage, count, "v0.5.9", ""},
	{"dp_rank", dpRank, count, "v0.5.10", ""},
	{"e2e_latency", e2eLatency, seconds, "v0.4.3.post3", ""},
	{"request_received_ts", received, epoch, "v0.5.5", ""},
	{"api_server_dispatch_finish_ts", dispatched, epoch, "v0.5.10", ""},
	{"response_sent_to_client_ts", responseSent, epoch, "v0.5.5.post2", ""},
	{"decode_finished_ts", finished, epoch, "v0.5.5", "v0.5.9"},
	{"request_finished_ts", finished, epoch, "v0.5.10", ""},
	{"inference_time", inferenceTime, seconds, "v0.5.5.post2", "v0.5.11"},
	{"spec_verify_ct", verifySteps, count, "v0.4.2", ""},
	{"spec_accept_token_num", specAccepted, count, "v0.5.5.post3", "v0.5.9"},
	{"spec_draft_token_num", specDrafted, count, "v0.5.5.post3", "v0.5.9"},
	{"spec_num_correct_drafts", specAccepted, count, "v0.5.10", ""},
	{"spec_num_proposed_drafts", specDrafted, count, "v0.5.10", ""},
}

// paramFields are the parameters of a request.
var paramFields = []field{
	{"rid", rid, text, "v0.3.0", ""},
	{"sampling_params.max_new_tokens", maxTokens, count, "v0.3.0", ""},
	{"sampling_params.n", choices, count, "v0.3.0", ""},
	{"stream", stream, count, "v0.3.0", ""},
	{"lora_path", lora, text, "v0.3.0", ""},
	{"lora_id", lora, text, "v0.4.9", ""},
	{"bootstrap_room", room, text, "v0.4.8", ""},
	{"received_time", receivedTime, epoch, "v0.5.5", ""},
}
