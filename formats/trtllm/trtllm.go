// Package trtllm reads the performance metrics of TensorRT-LLM's server (v0.20 to
// v1.x): the array that /perf_metrics gives, and the JSON lines of
// perf_metrics-*.jsonl; of disaggregated deployments, too; and time_events_rank*.jsonl,
// which has the steps of requests without their stamps.
//
// Stamps are seconds of the host's steady clock, which has no date; 0 or missing
// is unknown.
//
//	server_arrival_time      the API server: received
//	arrival_time             the executor: queued
//	first_scheduled_time     admitted
//	first_token_time         at the executor: prefill_end; first_token of the engine
//	server_first_token_time  at the API server: first_token
//	last_token_time          at the executor: last_token of the engine
//
// A request is two rows that share their join_group, of the server and of the
// engine, since the last token is stamped by the engine alone. A worker that does
// not stream stamps server_first_token_time at the end of the response: then that
// is finished, and there is no TTFT of the server.
//
// Where the steps of a request are there (time_breakdown_metrics), they count its
// tokens, one each behind the first, unless it speculates: step_metrics are those
// of decoding, the first token is of the last of ctx_chunk_metrics. The times
// between them are the engine's chunk gaps; their clock may have another zero. gpu_forward_time and others of GPU events (ms)
// are reported only.
// The steps themselves, each told of by all requests of its batch, are rows of the
// steps table: from the start of the forward pass to the end of sampling.
//
// A record of a disaggregated deployment has three rows, of the proxy, the prefill
// node and the decode node, each on a clock of its own.
package trtllm

import (
	"context"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/records"
)

// Format is the format's entry in formats/all.
var Format = formats.Format{
	Name:     "trtllm",
	Title:    "TensorRT-LLM performance metrics (/perf_metrics, perf_metrics-*.jsonl, time_events_rank*.jsonl)",
	Priority: 95,
	Shape:    formats.Ordered,
	Sniff:    sniff,
	Open: func(ctx context.Context, src formats.Source, _ formats.Range, opt formats.Options) (formats.Reader, error) {
		return records.Open(ctx, src, opt, &dialect)
	},
}

func sniff(h *formats.Head) (formats.Score, string) {
	return records.Sniff(h, func(keys records.Keys) (formats.Score, string) {
		switch {
		case keys.Has("ctx_perf_metrics") || keys.Has("gen_perf_metrics"):
			return formats.Sure, "an object with ctx_perf_metrics or gen_perf_metrics"
		case keys.Has("request_id", "perf_metrics"):
			return formats.Sure, "an object with request_id and perf_metrics"
		case keys.Has("request_id", "rank", "time_breakdown_metrics"):
			return formats.Sure, "an object with request_id, rank and time_breakdown_metrics"
		}
		return formats.No, "no object with request_id and perf_metrics"
	})
}

// The values of one server's record, and the places of those of a context and a
// generation server behind them.
const (
	id = iota
	serverArrival
	arrival
	scheduled
	firstToken
	lastToken
	serverFirst
	kvStart
	kvEnd
	drafted
	accepted
	gpuForward
	gpuSample
	record // how many there are
)

// The values of a disaggregated record of its own.
const (
	diskey = 3*record + iota
	disArrival
	disDispatch
	disFirst
	status
	ranked
)

const (
	own       = 0
	prefiller = record
	decoder   = 2 * record
)

// members are those of one server's record.
var members = map[string]int{
	"request_id": id,
	"perf_metrics.timing_metrics.server_arrival_time":               serverArrival,
	"perf_metrics.timing_metrics.arrival_time":                      arrival,
	"perf_metrics.timing_metrics.first_scheduled_time":              scheduled,
	"perf_metrics.timing_metrics.first_token_time":                  firstToken,
	"perf_metrics.timing_metrics.last_token_time":                   lastToken,
	"perf_metrics.timing_metrics.server_first_token_time":           serverFirst,
	"perf_metrics.timing_metrics.kv_cache_transfer_start":           kvStart,
	"perf_metrics.timing_metrics.kv_cache_transfer_end":             kvEnd,
	"perf_metrics.speculative_decoding.total_draft_tokens":          drafted,
	"perf_metrics.speculative_decoding.total_accepted_draft_tokens": accepted,
	"time_breakdown_metrics.ctx_gpu_forward_time":                   gpuForward,
	"time_breakdown_metrics.ctx_gpu_sample_time":                    gpuSample,
}

var dialect = records.Dialect{
	Name:   "trtllm",
	Run:    trace.RunMeta{Engine: "trtllm", Side: trace.Server, Clock: trace.Clock{Kind: trace.Monotonic}},
	Fields: fields(),
	New: func(w *records.Writer) records.Fold {
		return &fold{Writer: w, step: records.NewFields(stepMembers)}
	},
	HowTo: "start trtllm-serve with return_perf_metrics: true, and read /perf_metrics",
}

func fields() map[string]int {
	out := map[string]int{
		"disagg_request_id": diskey, "disagg_server_arrival_time": disArrival, "disagg_ctx_dispatch_time": disDispatch, "disagg_server_first_token_time": disFirst,
		"status": status, "rank": ranked,
	}
	for path, slot := range members {
		out[path] = slot
		for prefix, base := range map[string]int{"ctx_perf_metrics.": prefiller, "gen_perf_metrics.": decoder} {
			out[prefix+path] = base + slot
			if rest, ok := cut(path); ok { // the metrics without the record around them
				out[prefix+rest] = base + slot
			}
		}
	}
	return out
}
