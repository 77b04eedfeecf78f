// Package llmperf reads the results of llmperf (token_benchmark_ray.py, 2023 to
// its archiving in 2025): *_individual_responses.json, an array with an object
// per request, and *_summary.json, one flat object of figures, whose keys begin
// with "results_". Both are in seconds.
//
// A request has durations and no stamps: requests have no order in time. What
// the client measures:
//
//	ttft_s                 send to the first content
//	inter_token_latency_s  the time from the send to the last content, TTFT and all
//	                       gaps, per token (ray-project/llmperf#99)
//	end_to_end_latency_s   send to the end of the HTTP stream
//	number_output_tokens   the text in tokens of Llama's tokenizer, for every model,
//	                       with the one that begins a text
//
// What inter_token_latency_s is divided by has changed, and no key says so: by
// number_output_tokens in 2023, when request_output_throughput_token_per_s
// counted chunks; by chunks later, when that counts number_output_tokens. So the
// time of the last content is known in the former case only: nobody writes the
// number of chunks in the latter.
//
// A failed request (error_code is not null) keeps 0 for what was not measured,
// and a count of 1, the beginning of an empty text: 0 is read as unknown.
package llmperf

import (
	"context"
	"strings"

	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/documents"
	"servescope/formats/internal/servebench"
)

// Format is the format's entry in formats/all.
var Format = formats.Format{
	Name:     "llmperf",
	Title:    "llmperf (individual_responses.json, summary.json)",
	Priority: 114,
	Shape:    formats.Document,
	Sniff:    func(h *formats.Head) (formats.Score, string) { return dialect.Sniff(h) },
	Open: func(ctx context.Context, src formats.Source, _ formats.Range, opt formats.Options) (formats.Reader, error) {
		return documents.Open(ctx, src, opt, &dialect)
	},
}

const (
	errorCode = iota
	errorMsg
	itl
	ttft
	e2e
	output
	throughput
)

var dialect = documents.Dialect{
	Name: "llmperf",
	Run: trace.RunMeta{Side: trace.Client, Clock: trace.Clock{Kind: trace.RequestClock}, DefaultDefinition: "llmperf",
		Notes: []string{"bos: number_output_tokens counts the token with which Llama's tokenizer begins a text: it is taken off"}},
	Keys: []string{"ttft_s inter_token_latency_s end_to_end_latency_s", "results_ttft_s_mean"},
	Table: `
[] ok
number_input_tokens prompt_tokens
error_code @0
error_msg @1
inter_token_latency_s @2
ttft_s @3
end_to_end_latency_s @4
number_output_tokens @5
request_output_throughput_token_per_s @6
results_inter_token_latency_s chunk_gap s
results_ttft_s ttft s
results_end_to_end_latency_s e2e s
results_request_output_throughput_token_per_s tps_e2e tok/s
results_number_input_tokens prompt_tokens tok
results_number_output_tokens output_tokens tok
results_num_requests_started requests.total req
results_number_errors requests.failed req
results_error_rate - ratio
results_num_completed_requests requests.ok req
results_num_completed_requests_per_min request_rate_ok req/s
results_mean_output_throughput_token_per_s tps_ok tok/s
version = version
model = model
mean_input_tokens = mean_input_tokens
mean_output_tokens = mean_output_tokens
num_concurrent_requests = num_concurrent_requests
framework = framework`,
	Split:  split,
	Row:    row,
	Finish: finish,
	HowTo:  "individual_responses.json beside it does",
}

// split takes results_ttft_s_quantiles_p99 apart.
func split(path string) (name, stat string) {
	i := strings.LastIndexByte(path, '_')
	if i < 0 {
		return "", ""
	}
	return strings.TrimSuffix(path[:i], "_quantiles"), servebench.Statistic(path[i+1:])
}

// The doubts that requests raise.
const (
	neverSet  = "a failed request carries 0 for what was never measured"
	undivided = "it is more than end_to_end_latency_s / number_output_tokens: the sum of the times, never divided by their number"
	afterEnd  = "it is more than end_to_end_latency_s"
)

// row makes the row of a request.
func row(q *documents.Request, b *trace.Builder) *assemble.Problem {
	b.Int(trace.Sent, 0)
	first, _ := q.Time(ttft)
	end, _ := q.Time(e2e)
	n, _ := q.Count(output)
	mean, _ := q.Number(itl)
	failed := q.Has(errorCode)
	if failed {
		fail(q, b)
		doubt(q, "inter_token_latency_s", "chunk_gap", neverSet, q.Has(itl) && mean == 0)
		doubt(q, "ttft_s", "ttft", neverSet, q.Has(ttft) && first == 0)
		doubt(q, "end_to_end_latency_s", "e2e", neverSet, q.Has(e2e) && end == 0)
	} else if first <= 0 && n <= 1 {
		b.Code(trace.StatusCol, int32(trace.Empty))
	}
	if end > 0 {
		b.Int(trace.Finished, end)
		if doubt(q, "ttft_s", "ttft", afterEnd, first > end) {
			first = 0
		}
	}
	if n > 0 && (first > 0 || !failed) {
		b.Int(trace.OutputTokens, n-1)
		b.Code(trace.OutputTokensSource, int32(trace.FromClient))
	}
	if first > 0 {
		b.Int(trace.FirstToken, first)
		last := int64(float64(float64(mean*float64(n))*1e9) + 0.5)
		if !doubt(q, "inter_token_latency_s", "chunk_gap", undivided, end > 0 && last > end+1) && byTokens(q, n, end) && last >= first-1 {
			b.Int(trace.LastToken, max(first, last))
		}
	}
	b.EndRow()
	return nil
}

// byTokens reports whether inter_token_latency_s is divided by the tokens of the
// text: the throughput counts something else, which is chunks.
func byTokens(q *documents.Request, n, end int64) bool {
	rate, ok := q.Number(throughput)
	count := float64(rate*float64(end)) / 1e9
	if ok && count > 0 && (count < float64(n)-0.01 || count > float64(n)+0.01) {
		q.Run.DefaultDefinition = "llmperf-2023"
	}
	return q.Run.DefaultDefinition == "llmperf-2023" // then of the whole file
}

// doubt counts a value that cannot be, where is says so.
func doubt(q *documents.Request, key, metric, why string, is bool) bool {
	if is {
		q.Run.Doubt(trace.Doubt{Key: key, Metric: metric, Same: why == neverSet, Unit: unit.Nanosecond, Count: 1, Why: why})
	}
	return is
}

// fail marks a failed request. error_code is an HTTP status, or a number of
// the client's own.
func fail(q *documents.Request, b *trace.Builder) {
	q.FailCode(b, errorCode, errorMsg)
	if n, ok := q.Count(errorCode); ok && n < 0 {
		b.Dict(trace.ErrorClass, append([]byte("code "), q.Text(errorCode)...))
	}
}

// finish gives the run the length that its figures imply, and one of them our
// unit.
func finish(m *trace.RunMeta) {
	done := 0.0
	for i := range m.Reported {
		switch f := &m.Reported[i]; f.Key {
		case "results_num_completed_requests":
			done = f.Value
		case "results_num_completed_requests_per_min": // as it says, until here
			if f.Value /= 60; f.Value > 0 && done > 0 {
				m.Duration, m.HasDuration = int64(float64(done/f.Value*1e9)+0.5), true
			}
		}
	}
	for _, p := range m.Config {
		if p.Key == "model" {
			m.Model = p.Value
		}
	}
}
