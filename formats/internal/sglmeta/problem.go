package sglmeta

import (
	"servescope/analyzer/diag"
	"servescope/formats/internal/assemble"
)

// Problem is a kind of diagnostic.
type Problem = assemble.Problem

// The problems of records.
var (
	noID = &Problem{Code: "no_request_id", Severity: diag.Notice,
		Msg: "a record names no request: its row has no id and cannot be joined"}
	perfCounter = &Problem{Code: "perf_counter_stamp", Severity: diag.Notice,
		Msg: "stamps that should be epochs count seconds since the host's boot: they are not put on the wall clock"}
	garbage = &Problem{Code: "inference_time_rejected", Severity: diag.Notice,
		Msg: "inference_time exceeds e2e_latency: the scheduler never stamped the first forward pass, so its queue time is unknown too"}
	negativeQueue = &Problem{Code: "negative_queue_time", Severity: diag.Notice,
		Msg: "queue_time is negative: SGLang up to v0.5.18 stamps a retracted request's queue entry anew; only the time from dispatch to the first forward pass is meaningful"}
	unusedDelays = &Problem{Code: "unused_values", Severity: diag.Info,
		Msg: "prefill_delay, prefill_latency, forward_time and time_per_token, which SGLang v0.5.5 alone writes, have no column: the stamps beside them are used"}
	unusedLaunches = &Problem{Code: "unused_values", Severity: diag.Info,
		Msg: "prefill_launch_delay (prefill_waiting_latency) and prefill_launch_latency, host times of the first forward pass, have no column: the stamps beside them are used"}
	streamUnknown = &Problem{Code: "stream_unknown", Severity: diag.Info,
		Msg: "a record does not tell whether the answer was streamed: its first chunk is first_event, since it need not hold the first token alone"}
	notStreamed = &Problem{Code: "not_streamed", Severity: diag.Info,
		Msg: "requests that were not streamed have no first token: their first chunk comes at the end, or after 50 tokens"}
	coarse = &Problem{Code: "coarse_finish", Severity: diag.Info,
		Msg: "records have no stamps but the time of their line: the request is placed by it, its length is e2e_latency", Fix: "start the server with --enable-metrics"}
)
