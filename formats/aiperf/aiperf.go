// Package aiperf reads what AIPerf exports (2025, 2026): profile_export.jsonl, a
// line per request, and profile_export_aiperf.json, its figures; and the figures
// of its predecessor GenAI-Perf (*_genai_perf.json), which are laid out alike.
//
// Points in time of a request are ns of the client's wall clock (metadata),
// durations those of a monotonic one, each with its unit (metrics):
//
//	time_to_first_token   start to the first content or reasoning
//	request_latency       start to the last content, TTFT + the sum of inter_chunk_latency
//	inter_chunk_latency   the gaps between chunks; 0 where two came in one read
//	inter_token_latency   (request_latency - TTFT) / (tokens - 1)
//
// request_end_ns is later than the last content: the stream is closed. Requests
// of the warm-up are left out.
package aiperf

import (
	"bytes"
	"context"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/documents"
)

// Format reads requests.
var Format = formats.Format{
	Name:     "aiperf",
	Title:    "AIPerf, a line per request (profile_export.jsonl)",
	Priority: 83,
	Shape:    formats.Records,
	Sniff:    sniff,
	Open: func(ctx context.Context, src formats.Source, rng formats.Range, opt formats.Options) (formats.Reader, error) {
		return documents.OpenLines(ctx, src, rng, opt, &requests)
	},
}

// Figures reads figures.
var Figures = formats.Format{
	Name:     "aiperf-figures",
	Title:    "AIPerf and GenAI-Perf figures (profile_export_aiperf.json, *_genai_perf.json)",
	Priority: 84,
	Shape:    formats.Document,
	Sniff:    func(h *formats.Head) (formats.Score, string) { return figures.Sniff(h) },
	Open: func(ctx context.Context, src formats.Source, _ formats.Range, opt formats.Options) (formats.Reader, error) {
		return documents.Open(ctx, src, opt, &figures)
	},
}

func sniff(h *formats.Head) (formats.Score, string) {
	for _, part := range append([][]byte{h.Start}, h.Samples...) {
		for line := range bytes.Lines(part) {
			if bytes.HasPrefix(line, []byte(`{"metadata"`)) && bytes.Contains(line, []byte(`"request_start_ns"`)) {
				return formats.Sure, "a line has metadata with request_start_ns"
			}
		}
	}
	return formats.No, "no line has metadata with request_start_ns"
}

const (
	start = iota
	credit
	end
	phase
	cancelled
	errorCode
	errorType
	ttft
	ttftUnit
	latency
	latencyUnit
	answer
	answerUnit
	gapsUnit
	clientTokens
	serverTokens
	reasoning
)

var requests = documents.Dialect{
	Name: "aiperf",
	Run:  trace.RunMeta{Side: trace.Client, Clock: trace.Clock{Kind: trace.Wall}, DefaultDefinition: "aiperf"},
	Table: `
metadata.x_request_id request_id
metadata.conversation_id parent_id
metadata.request_start_ns @0
metadata.credit_issued_ns @1
metadata.request_end_ns @2
metadata.benchmark_phase @3
metadata.was_cancelled @4
error.code @5
error.type @6
metrics.time_to_first_token.value @7
metrics.time_to_first_token.unit @8
metrics.ttft.value @7
metrics.ttft.unit @8
metrics.request_latency.value @9
metrics.request_latency.unit @10
metrics.time_to_first_output_token.value @11
metrics.time_to_first_output_token.unit @12
metrics.inter_chunk_latency.value []0
metrics.inter_chunk_latency.unit @13
metrics.output_sequence_length.value @14
metrics.usage_completion_tokens.value @15
metrics.input_sequence_length.value prompt_tokens
metrics.usage_prompt_tokens.value prompt_tokens
metrics.usage_prompt_cache_read_tokens.value cached_tokens
metrics.reasoning_token_count.value @16`,
	Row: row,
}

var figures = documents.Dialect{
	Name: "aiperf-figures",
	Run:  trace.RunMeta{Side: trace.Client, Clock: trace.Clock{Kind: trace.Wall}, DefaultDefinition: "genai-perf"},
	Keys: []string{"aiperf_version request_latency", "schema_version request_latency", "request_throughput request_latency"},
	Table: `
aiperf_version = aiperf_version
schema_version = schema_version
request_latency e2e ms
time_to_first_token ttft ms
time_to_first_output_token ttfot ms
inter_token_latency tpot ms
inter_chunk_latency chunk_gap ms
output_sequence_length output_tokens tok
input_sequence_length prompt_tokens tok
output_token_throughput tps_ok mean:tok/s
total_token_throughput tps_end_to_end mean:tok/s
output_token_throughput_per_user tps_request tok/s
request_throughput request_rate_ok mean:req/s
goodput goodput mean:req/s
request_count requests.ok mean:req
error_request_count requests.failed mean:req
benchmark_duration.avg - duration`,
	Finish: finish,
	HowTo:  "profile_export.jsonl beside it does",
}

// row makes the row of a request.
func row(q *documents.Request, b *trace.Builder) *assemble.Problem {
	if string(q.Text(phase)) == "warmup" {
		return documents.WarmUp
	}
	t0, placed := q.Count(start)
	if !placed {
		return notARequest
	}
	b.Int(trace.Sent, t0)
	if t, ok := q.Count(credit); ok && t > 0 {
		b.Int(trace.ScheduledSend, t)
	}
	if t, ok := q.Count(end); ok && t > 0 {
		b.Int(trace.Finished, t)
	}
	last, ended := q.Span(latency, latencyUnit)
	if first, ok := q.Span(ttft, ttftUnit); ok {
		b.Int(trace.FirstToken, t0+first)
		if ended {
			b.Int(trace.LastToken, t0+last)
		}
		b.Bool(trace.Stream, true)
		if t, ok := q.Span(answer, answerUnit); ok {
			b.Int(trace.FirstAnswerToken, t0+t)
		}
		q.Gaps(b, 0, gapsUnit)
	} else if ended {
		b.Bool(trace.Stream, false)
	}
	tokens(q, b)
	switch {
	case q.Has(errorCode) || q.Has(errorType):
		q.FailCode(b, errorCode, errorType)
	case string(q.Text(cancelled)) == "true":
		b.Code(trace.StatusCol, int32(trace.Aborted))
	}
	b.EndRow()
	return nil
}

// tokens writes the server's count of output tokens, and the client's, which is
// of content and reasoning together: beside the server's it is of content alone.
func tokens(q *documents.Request, b *trace.Builder) {
	n, ok := q.Count(serverTokens)
	own, counted := q.Count(clientTokens)
	thought, _ := q.Count(reasoning)
	if thought > 0 {
		b.Int(trace.ReasoningTokens, thought)
	}
	source := trace.FromServer
	if !ok {
		n, ok, source = own, counted, trace.FromClient
	} else if counted && own >= thought {
		b.Int(trace.ClientTokens, own-thought)
	}
	if ok {
		b.Int(trace.OutputTokens, n)
		b.Code(trace.OutputTokensSource, int32(source))
	}
}

var notARequest = &assemble.Problem{Code: "not_a_request", Severity: diag.DataLoss,
	Msg: "a record has no metadata.request_start_ns and was skipped"}

// finish tells the tools apart: AIPerf writes its version.
func finish(m *trace.RunMeta) {
	for _, p := range m.Config {
		m.DefaultDefinition = "aiperf"
		if p.Key == "aiperf_version" {
			m.Version = p.Value
		}
	}
}
