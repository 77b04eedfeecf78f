// Package guidellm reads the reports of GuideLLM (benchmarks.json): a document
// with a list of benchmarks, each of which is a run. Stamps are seconds of the
// client's wall clock.
//
//	up to v0.3   requests with start_time, first_token_time, last_token_time, end_time
//	v0.4         requests with scheduler_info.request_timings {request_start, first_iteration, …}
//	since v0.5   requests with info.timings {request_start, first_token_iteration, …}
//
// There are no times of chunks, only their number and those of the first and the
// last with a token. Tokens are the server's usage, else one per chunk. The lists
// of requests may be empty, or a sample, while figures are of all requests.
package guidellm

import (
	"bytes"
	"context"
	"strings"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/documents"
	"servescope/formats/internal/servebench"
)

// Format is the format's entry in formats/all.
var Format = formats.Format{
	Name:     "guidellm",
	Title:    "GuideLLM (benchmarks.json)",
	Priority: 82,
	Shape:    formats.Document,
	Sniff:    sniff,
	Open: func(ctx context.Context, src formats.Source, _ formats.Range, opt formats.Options) (formats.Reader, error) {
		return documents.Open(ctx, src, opt, &dialect)
	},
}

// sniff looks for marks, because the benchmarks may stand far behind.
func sniff(h *formats.Head) (formats.Score, string) {
	if h.Top() == formats.Object && bytes.Contains(h.Start, []byte(`"benchmarks"`)) {
		for _, mark := range [...]string{`"guidellm_version"`, `"generative_benchmark"`, `"scheduler_metrics"`} {
			if bytes.Contains(h.Start, []byte(mark)) {
				return formats.Sure, "a document with benchmarks and " + mark
			}
		}
	}
	return formats.No, "no document with benchmarks and guidellm_version or generative_benchmark"
}

const (
	outputTokens = iota
	usageTokens
	iterations
	failure
)

var dialect = documents.Dialect{
	Name: "guidellm",
	Run:  trace.RunMeta{Side: trace.Client, Clock: trace.Clock{Kind: trace.Wall}, DefaultDefinition: "guidellm"},
	Table: `
benchmarks[] run
benchmarks[].requests.successful[] ok
benchmarks[].requests.incomplete[] aborted
benchmarks[].requests.errored[] failed
request_id request_id
response_id request_id
prompt_tokens prompt_tokens
cached_tokens cached_tokens
info.conversation_id parent_id
output_tokens @0
output_metrics.total_tokens @1
output_metrics.text_tokens @1
info.timings.token_iterations @2
iterations @2
info.error @3
error @3
scheduler_info.error @3
start_time sent
first_token_time first_token
last_token_time last_token
end_time finished
scheduler_info.request_timings.request_start sent
scheduler_info.request_timings.first_iteration first_token
scheduler_info.request_timings.last_iteration last_token
scheduler_info.request_timings.request_end finished
scheduler_info.request_timings.targeted_start scheduled_send
info.timings.targeted_start scheduled_send
info.timings.request_start sent
info.timings.first_request_iteration first_event
info.timings.first_token_iteration first_token
info.timings.first_output_token_iteration first_answer_token
info.timings.last_token_iteration last_token
info.timings.request_end finished
metrics.requests_per_second.successful request_rate_ok mean:req/s
metrics.request_concurrency.successful concurrency_mean mean:-
metrics.request_latency.successful e2e s
metrics.prompt_token_count.successful prompt_tokens tok
metrics.output_token_count.successful output_tokens tok
metrics.time_to_first_token_ms.successful ttft ms
metrics.time_to_first_output_token_ms.successful ttfot ms
metrics.time_per_output_token_ms.successful tpot ms
metrics.inter_token_latency_ms.successful chunk_gap ms
metrics.prompt_tokens_per_second.successful tps_prompt mean:tok/s
metrics.output_tokens_per_second.successful tps_ok mean:tok/s
metrics.tokens_per_second.successful tps_end_to_end mean:tok/s
request_totals.successful requests.ok req
request_totals.errored requests.failed req
request_totals.incomplete requests.aborted req
request_totals.total requests.total req
metrics.request_totals.successful requests.ok req
metrics.request_totals.errored requests.failed req
metrics.request_totals.incomplete requests.aborted req
metrics.request_totals.total requests.total req
scheduler_metrics.requests_made.successful requests.ok req
scheduler_metrics.requests_made.errored requests.failed req
scheduler_metrics.requests_made.incomplete requests.aborted req
scheduler_metrics.requests_made.total requests.total req
run_stats.requests_made.successful requests.ok req
run_stats.requests_made.errored requests.failed req
run_stats.requests_made.incomplete requests.aborted req
run_stats.requests_made.total requests.total req
scheduler_metrics.queued_time_avg - s
scheduler_metrics.resolve_start_delay_avg - s
scheduler_metrics.resolve_targeted_start_delay_avg - s
scheduler_metrics.request_start_delay_avg - s
scheduler_metrics.request_targeted_start_delay_avg - s
scheduler_metrics.request_time_avg - s
scheduler_metrics.resolve_end_delay_avg - s
scheduler_metrics.resolve_time_avg - s
scheduler_metrics.finalized_delay_avg - s
scheduler_metrics.processed_delay_avg - s
duration - duration
metadata.guidellm_version = guidellm_version
config.strategy.type_ = strategy
config.strategy.rate = rate
config.strategy.max_concurrency = max_concurrency
config.backend.model = model
args.strategy.type_ = strategy
args.strategy.rate = rate
scheduler.strategy.type_ = strategy
scheduler.strategy.rate = rate
worker.backend_model = model
benchmarker.backend.model = model`,
	Split:  split,
	Row:    row,
	Finish: finish,
	HowTo:  "GuideLLM keeps requests unless its sample size is 0",
}

// split takes the last name of a path off, a statistic: p001 is the rank of one
// in a thousand, p01 that of one in a hundred.
func split(path string) (name, stat string) {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return "", ""
	}
	if stat = path[i+1:]; len(stat) == 4 && stat[0] == 'p' {
		stat = stat[:3] + "." + stat[3:]
	}
	return strings.TrimSuffix(path[:i], ".percentiles"), servebench.Statistic(stat)
}

// row makes the row of a request.
func row(q *documents.Request, b *trace.Builder) *assemble.Problem {
	usage, used := q.Count(usageTokens)
	n, counted := q.Count(outputTokens)
	chunks, chunked := q.Count(iterations)
	source := trace.FromServer
	switch {
	case used:
		n = usage
	case counted && chunked && chunks == n:
		source = trace.FromChunks
	}
	if (used || counted) && (n > 0 || q.Status == trace.OK) {
		b.Int(trace.OutputTokens, n)
		b.Code(trace.OutputTokensSource, int32(source))
	}
	switch {
	case q.Status == trace.Failed:
		q.Fail(b, q.Text(failure))
	case q.Status == trace.OK && (used || counted) && n == 0:
		b.Code(trace.StatusCol, int32(trace.Empty))
	case q.Status == trace.OK && chunked && (chunks > 1 || n > 1):
		b.Bool(trace.Stream, chunks > 1)
	}
	b.EndRow()
	return nil
}

// finish names the run's model and version.
func finish(m *trace.RunMeta) {
	for _, p := range m.Config {
		switch p.Key {
		case "model":
			m.Model = p.Value
		case "guidellm_version":
			m.Version = p.Value
		}
	}
}
