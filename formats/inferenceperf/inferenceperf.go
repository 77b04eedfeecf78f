// Package inferenceperf reads the reports of inference-perf (2025, 2026):
//
//	per_request_lifecycle_metrics.json   an array with an object per request
//	{summary,stage_N,adapter_…}_lifecycle_metrics.json   figures of requests
//	{summary,stage_N}_prometheus_metrics.json   figures of the server's metrics
//	{summary,stage_N}_session_lifecycle_metrics.json   figures of sessions
//
// Times are in seconds of the client's time.perf_counter, without a date. A
// request ends with its HTTP stream; output_token_times has a time per token by
// the client's tokenizer, those of one chunk being equal. Until 2026 a
// beginning-of-sequence token was counted with every chunk (kubernetes-sigs/inference-perf#564),
// which doubles the number of tokens where a chunk has one.
//
//	older  info {input_tokens, output_tokens, output_token_times}, scheduled_time, stage_id
//	2026   info {request_metrics, response_metrics {output_tokens, server_usage, output_token_times}}
//	2026   computed_metrics beside info, no scheduled_time
package inferenceperf

import (
	"bytes"
	"context"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/documents"
)

// Format is the format's entry in formats/all.
var Format = formats.Format{
	Name:     "inferenceperf",
	Title:    "inference-perf (per_request, summary, stage and Prometheus reports)",
	Priority: 115,
	Shape:    formats.Document,
	Sniff:    func(h *formats.Head) (formats.Score, string) { return dialect.Sniff(h) },
	Open: func(ctx context.Context, src formats.Source, _ formats.Range, opt formats.Options) (formats.Reader, error) {
		return documents.Open(ctx, src, opt, &dialect)
	},
}

const (
	errorType = iota
	clientTokens
	serverTokens
)

const tokenTimes = 0

var dialect = documents.Dialect{
	Name: "inferenceperf",
	Run:  trace.RunMeta{Side: trace.Client, Clock: trace.Clock{Kind: trace.Monotonic}, DefaultDefinition: "inference-perf"},
	Keys: []string{"load_summary successes failures", "num_sessions sessions_per_second", "start_time end_time info", "start_time end_time request", "scheduled_time start_time end_time request_data"},
	Table: `
[] ok
scheduled_time scheduled_send
start_time sent
end_time finished
info.input_tokens prompt_tokens
info.request_metrics.text.input_tokens prompt_tokens
computed_metrics.input_tokens prompt_tokens
info.response_metrics.server_usage.prompt_tokens prompt_tokens
info.response_metrics.server_usage.prompt_tokens_details.cached_tokens cached_tokens
info.response_metrics.server_usage.completion_tokens_details.reasoning_tokens reasoning_tokens
info.lora_adapter lora
error.error_type @0
info.output_tokens @1
info.response_metrics.output_tokens @1
computed_metrics.output_tokens @1
info.response_metrics.server_usage.completion_tokens @2
info.response_metrics.server_usage.output_tokens @2
info.output_token_times []0
info.response_metrics.output_token_times []0
load_summary.requested_rate = requested_rate
load_summary.concurrency = concurrency
benchmark_time_seconds - duration
load_summary.count requests.total req
load_summary.schedule_delay client_wait s
load_summary.send_duration - s
load_summary.achieved_rate - req/s
successes.count requests.ok req
failures.count requests.failed req
failures.request_latency - s
successes.latency.request_latency e2e s
successes.latency.normalized_time_per_output_token ntpot s
successes.latency.time_per_output_token tpot s
successes.latency.time_to_first_token ttft s
successes.latency.inter_token_latency chunk_gap s
successes.throughput.input_tokens_per_sec tps_prompt tok/s
successes.throughput.output_tokens_per_sec tps_ok tok/s
successes.throughput.total_tokens_per_sec tps_end_to_end tok/s
successes.throughput.requests_per_sec request_rate_ok req/s
successes.prompt_len prompt_tokens tok
successes.prompt_tokens prompt_tokens tok
successes.output_len output_tokens tok
successes.output_tokens output_tokens tok
successes.token_count_mismatches - req
successes.goodput_metrics.request_goodput goodput req/s
successes.goodput_metrics.token_goodput - tok/s
successes.goodput_metrics.goodput_percentage - %
successes.rate request_rate_ok req/s
successes.prompt_len.rate tps_prompt tok/s
successes.output_len.rate tps_ok tok/s
successes.request_latency e2e s
successes.time_to_first_token ttft s
successes.time_per_output_token tpot s
successes.inter_token_latency chunk_gap s
successes.request_queue_time - s
successes.request_prefill_time - s
successes.request_decode_time - s
successes.queue_len - -
successes.num_preemptions_total - -
successes.kv_cache_usage_percentage - -
successes.prefix_cache_hit_percent - %
num_sessions - -
num_sessions_succeeded - -
num_sessions_failed - -
sessions_per_second - -
session_duration_sec - s`,
	Row:    row,
	Finish: finish,
	HowTo:  "set report.request_lifecycle.per_request",
}

// row makes the row of a request.
func row(q *documents.Request, b *trace.Builder) *assemble.Problem {
	times, listed := q.List(tokenTimes)
	own, counted := q.Count(clientTokens)
	server, served := q.Count(serverTokens)
	switch {
	case served:
		b.Int(trace.OutputTokens, server)
		b.Code(trace.OutputTokensSource, int32(trace.FromServer))
		if counted {
			b.Int(trace.ClientTokens, own)
		}
	case counted && (own > 0 || !q.Has(errorType)):
		b.Int(trace.OutputTokens, own)
		b.Code(trace.OutputTokensSource, int32(trace.FromClient))
	}
	if listed {
		q.Chunks(b, times)
	}
	switch {
	case q.Has(errorType):
		q.Fail(b, bytes.Replace(q.Text(errorType), []byte("HTTP Error"), []byte("HTTP"), 1))
	case len(times) == 0 && (served && server == 0 || !served && counted && own == 0):
		b.Code(trace.StatusCol, int32(trace.Empty))
	case listed && len(times) == 0: // a response in one piece has no token times
		b.Bool(trace.Stream, false)
	case listed:
		b.Bool(trace.Stream, true)
	}
	b.EndRow()
	return nil
}

// finish tells the server's metrics, and sessions, from requests of the client.
func finish(m *trace.RunMeta) {
	sessions := false
	for i := range m.Reported {
		switch f := &m.Reported[i]; f.Key {
		case "successes.rate":
			m.Side, m.DefaultDefinition = trace.Server, ""
			m.Notes = append(m.Notes, "server_histograms: figures of the server's histograms, whose quantiles are estimates, over all that it served in the time")
		case "num_sessions":
			sessions = true
		case "failures.count":
			if sessions {
				f.Metric = ""
			}
		}
	}
}
