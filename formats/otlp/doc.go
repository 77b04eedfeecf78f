// Package otlp reads exported spans of vLLM and SGLang: OTLP as JSON, one
// export per line as the OpenTelemetry collector's file exporter writes it, or
// one object, an array, pretty or not; the same in the "batches" of Tempo and
// otel-cli; and what Jaeger's page and API give for download. Compression, also
// that of the collector, is taken off before; protobuf is not read.
//
// The engines write attributes of the same names (gen_ai.latency.*, in seconds)
// with different meaning, so spans are told apart by their name, scope, service
// and further keys, never by the name of the file. wire.go and release.go list
// the names and the releases that write them.
//
// # Calls of any model
//
// A span that follows the semantic conventions (gen_ai.operation.name, or the usage
// of tokens, under present and earlier names) is a request on the clock of the
// process that traces: a client, unless the span's kind says server.
//
//	sent         start of the span; received at a server
//	first_event  sent + gen_ai.response.time_to_first_chunk, or the first chunk
//	             event, a chunk with a role only included
//	first_token  received + gen_ai.server.time_to_first_token, at a server
//	finished     end of the span
//
// Chunk gaps are the times between chunk events. There is no stamp of the last
// token; gen_ai.server.time_per_output_token is only reported.
//
// # vLLM
//
// One span "llm_request" per finished request, on the wall clock of the API
// server:
//
//	received     start of the span (arrival)
//	first_token  received + time_to_first_token
//	finished     received + e2e; the span itself ends a little later
//
// The V1 engine adds durations of its own clock: queue, prefill, decode. They
// become columns of the same row: a duration has no clock, and there are no
// stamps of the engine that would need a row on its side. The rest of TTFT is
// {input, ingress, egress}. There is no stamp of the last token, and none is
// invented from a duration of another clock: d_decode is the time from the first to
// the last token.
//
// The V0 engine's time_in_queue begins at the arrival: {ingress, queue}, and the
// rest of TTFT is {prefill, egress}. time_in_scheduler, _model_forward and
// _model_execute concern the whole request and are only reported.
//
// # SGLang
//
// A tree of spans per request: the root, a span per thread, and slices of time,
// with a slice per decode step. Children are exported before their parents, from
// several processes and in any order. All are on the wall clock, converted from
// a monotonic one for each request, so a request is one row: received,
// dispatched, queued, admitted, prefill_end, first_token (at the frontend) and
// finished. Where a slice is missing, its neighbours are one merged entry. Chunk
// gaps are the times between the ends of decode steps.
// Events of the scheduler name the batch of each of them: the steps of the engine,
// which are rows of the steps table (schedule.go). On the nodes of a
// disaggregated deployment requests have the side prefill or decode, and the
// bootstrap room as join_group.
package otlp
