// Package sglangbench reads the results of SGLang's serving benchmark,
// `python -m sglang.bench_serving --output-file x.jsonl`: one JSON object per
// run and line, appended, so a file may hold many runs of different versions.
// Per-request arrays are there since v0.4.6.post5 and with --output-details
// only. Package bench describes the file.
//
// The client takes notice of chunks with text. ttfts[i] runs from the send to
// the first; there are no send times and no end-to-end times. With the native
// backend ("sglang") the gap before a chunk of k tokens is split into k equal
// entries of itls[i], and the first chunk's tokens have none, so their number
// is output_lens[i] less the number of entries. Other backends have a gap per
// chunk.
//
// output_lens[i] is the server's count with the native backend. Others take
// usage.completion_tokens if the server sends it and else the length that was
// asked for, and the file does not say which. It is taken for a count only if
// the sum agrees with total_output_tokens_retokenized, the client's own count
// of the text, within 2 %, more than re-tokenising ever differs in public
// results; otherwise it is max_tokens and the count is unknown.
//
// An error inside a stream with status 200 passes for a success with ttft 0.0
// and the requested length.
package sglangbench

import (
	"context"
	"math"
	"strings"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/servebench"
)

// Format is the format's entry in formats/all.
var Format = formats.Format{
	Name:     "sglangbench",
	Title:    "SGLang serving benchmark (sglang.bench_serving)",
	Priority: 41,
	Shape:    formats.Records,
	Sniff:    sniff,
	Open: func(ctx context.Context, src formats.Source, rng formats.Range, opt formats.Options) (formats.Reader, error) {
		return servebench.Open(ctx, src, rng, opt, &dialect)
	},
}

var dialect = servebench.Dialect{
	Name:     "sglangbench",
	Nested:   []string{"server_info", "cache_report"},
	Describe: describe,
	Judge:    judge,
	HowTo:    "run bench_serving with --output-details (v0.4.6.post5 or later)",
}

// serverInfo is what of the server's settings is worth showing: what changes
// the speed.
var serverInfo = keep("model_path", "version", "dtype", "quantization", "kv_cache_dtype", "tp_size", "pp_size", "dp_size", "ep_size",
	"chunked_prefill_size", "max_prefill_tokens", "max_running_requests", "mem_fraction_static", "schedule_policy", "page_size",
	"attention_backend", "sampling_backend", "disable_radix_cache", "disable_cuda_graph", "disable_overlap_schedule", "cuda_graph_max_bs",
	"enable_dp_attention", "enable_hierarchical_cache", "enable_torch_compile", "enable_mixed_chunk", "speculative_algorithm",
	"speculative_num_steps", "speculative_num_draft_tokens", "disaggregation_mode", "nnodes", "stream_interval", "max_total_num_tokens")

func keep(names ...string) map[string]bool {
	m := map[string]bool{"cache_report.storage_backend": true}
	for _, n := range names {
		m["server_info."+n] = true
	}
	return m
}

func describe(r *servebench.Record) (*trace.RunMeta, servebench.Rules) {
	m := &trace.RunMeta{
		Label:             r.Text("tag"),
		Model:             model(r),
		Engine:            engine(r.Text("backend")),
		Version:           r.Text("server_info.version"),
		Config:            r.Config(serverInfo),
		Reported:          r.Reported(),
		DefaultDefinition: "sglang",
	}
	m.Clock.Kind = trace.RequestClock
	m.Duration, m.HasDuration = r.Nanoseconds("duration")
	native := r.Text("backend") == "sglang" || r.Text("backend") == "sglang-native"
	rules := servebench.Rules{TextChunks: true, PerToken: native, Counted: native, Source: trace.FromServer}
	retokenized := agrees(r)
	if !native && retokenized {
		rules.Counted, rules.Source = true, trace.FromClient
	}
	m.Notes = notes(r, native, retokenized)
	return m, rules
}

// agrees tells whether output_lens add up to the client's own count of the
// generated text.
func agrees(r *servebench.Record) bool {
	counted, ok := r.Number("total_output_tokens_retokenized")
	sum := r.Sum(servebench.OutputLens)
	return ok && counted > 0 && math.Abs(sum-counted) <= 0.02*sum
}

func model(r *servebench.Record) string {
	for _, key := range []string{"server_info.served_model_name", "server_info.model_path", "model", "model_id"} {
		if s := r.Text(key); s != "" {
			return s
		}
	}
	return ""
}

// engine returns the engine that a backend names.
func engine(backend string) string {
	for prefix, engine := range map[string]string{"sglang": "sglang", "vllm": "vllm", "lmdeploy": "lmdeploy", "trt": "tensorrt-llm", "truss": "truss"} {
		if strings.HasPrefix(backend, prefix) {
			return engine
		}
	}
	return ""
}

// notes returns what a reader of the numbers must know, each beginning with a
// code.
func notes(r *servebench.Record, native, retokenized bool) (list []string) {
	note := func(when bool, text string) {
		if when {
			list = append(list, text)
		}
	}
	arrays := r.Has("ttfts")
	note(arrays, "no_start_times: the send times are not recorded, so requests have no order in time: no concurrency, no windows")
	note(arrays, "no_latency: the end of a response is not recorded; end to end means up to the last chunk with text")
	note(arrays && native, "gaps_per_token: the time between two chunks was split evenly over the tokens of the later one, so chunk gaps are token latencies here")
	note(arrays && !native && retokenized, "counts_confirmed: output_lens may be requested lengths, but they add up to the re-tokenised text within 2 %, so they are used as counts")
	note(arrays && !native && !retokenized, "counts_requested: output_lens do not add up to the re-tokenised text: they are the lengths asked for, and the counts are unknown")
	note(r.Has("max_output_tokens_per_s"), "peak_counts_chunks: max_output_tokens_per_s is the largest number of chunks, not tokens, in one second")
	note(r.Has("max_concurrent_requests"), "coarse_peak_concurrency: max_concurrent_requests counts every request that touches a one-second bucket, which is too many")
	note(r.Has("concurrency"), "duration_has_overhead: duration also covers stopping the profiler and asking the server for its settings")
	empty := r.NothingSucceeded()
	note(empty != "", empty)
	return list
}
