// Package vllmbench reads the results of vLLM's serving benchmark: what
// `vllm bench serve --save-result` and benchmarks/benchmark_serving.py write,
// in every version since v0.4 (2024), the Rust client and the summaries of
// `vllm bench sweep` included. Package bench describes the file.
//
// The client stamps chunks of the response stream with a monotonic clock:
// ttfts[i] runs from the send to the first chunk it takes notice of, itls[i]
// holds the gaps between further ones, start_times[i] (since v0.15) is the
// send. What it takes notice of has changed, and no key says so:
//
//   - up to v0.6.6 chunks with text; latency up to the [DONE] line (vllm-2024);
//   - from v0.7.0 every chunk with "choices", in chat the one that only names
//     the role included; latency up to the last such chunk (vllm-2026).
//
// The definition set of a result follows from its keys: endpoint_type (v0.8),
// request_goodput without a colon, failed, start_times, … and burstiness
// without best_of are vllm-2026; use_beam_search, or no burstiness, is
// vllm-2024. v0.6.4 to v0.7.3 wrote the same keys: there the date decides,
// v0.7.0 being of 27 January 2025, and a note says so.
//
// output_lens are the server's usage.completion_tokens from v0.7.0 for the
// OpenAI-compatible backends, and re-tokenised text before and for others.
// 0 is written for failures.
package vllmbench

import (
	"context"
	"strings"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/servebench"
)

// Format is the format's entry in formats/all.
var Format = formats.Format{
	Name:     "vllmbench",
	Title:    "vLLM serving benchmark (vllm bench serve, benchmark_serving.py)",
	Priority: 40,
	Shape:    formats.Document,
	Sniff:    sniff,
	Open: func(ctx context.Context, src formats.Source, rng formats.Range, opt formats.Options) (formats.Reader, error) {
		return servebench.Open(ctx, src, rng, opt, &dialect)
	},
}

var dialect = servebench.Dialect{
	Name:     "vllmbench",
	Nested:   []string{"steady_state"},
	Describe: describe,
	Judge:    judge,
	HowTo:    "run the benchmark with --save-result --save-detailed",
}

func describe(r *servebench.Record) (*trace.RunMeta, servebench.Rules) {
	m := &trace.RunMeta{
		Label:    r.Text("label"),
		Model:    r.Text("model_id"),
		Engine:   engine(r),
		Version:  version(r),
		Config:   r.Config(nil),
		Reported: r.Reported(),
	}
	m.Duration, m.HasDuration = r.Nanoseconds("duration")
	m.Clock.Kind = clock(r)
	definition, dated := definition(r)
	m.DefaultDefinition = definition
	modern := definition == "vllm-2026"
	rules := servebench.Rules{
		Counted:    true,
		Source:     trace.FromClient,
		TextChunks: !modern,
		RoleChunk:  modern && strings.Contains(backend(r), "chat"),
		NoTokens:   pooling(r),
	}
	if modern && usage(backend(r)) {
		rules.Source = trace.FromServer
	}
	m.Notes = notes(r, m, rules, dated)
	if r.Text("mode") == "multi_turn" {
		m.NoRequests = "this file holds no per-request data; multi-turn runs of the Rust client write none"
	}
	return m, rules
}

// backend returns the client function that sent the requests.
func backend(r *servebench.Record) string {
	if b := r.Text("backend"); b != "" {
		return b
	}
	return r.Text("endpoint_type")
}

// usage tells whether a backend's client function reads usage.completion_tokens.
func usage(backend string) bool {
	switch backend {
	case "tgi", "tensorrt-llm", "deepspeed-mii":
		return false
	}
	return true
}

// engine names the engine where the file does. The backend "openai" may be any.
func engine(r *servebench.Record) string {
	switch b := backend(r); {
	case b == "tgi", b == "tensorrt-llm", b == "deepspeed-mii", b == "lmdeploy", b == "scalellm", b == "sglang", b == "llama.cpp":
		return b
	case strings.HasPrefix(b, "vllm"), r.Has("spec_decode_num_drafts"): // read from vllm: metrics
		return "vllm"
	}
	return ""
}

// rust tells the Rust client's results from the Python client's.
func rust(r *servebench.Record) bool { return r.Has("steady_state") || r.Has("max_model_len") }

// versions lists keys by the release that first wrote them, the latest first.
var versions = []struct{ key, version string }{
	{"queue_times", "≥v0.30"}, {"latencies", "≥v0.29"}, {"probe_completed", "≥v0.27"}, {"diffusion_committed_throughput", "≥v0.24"},
	{"rtfx", "≥v0.16"}, {"start_times", "≥v0.15"}, {"spec_decode_acceptance_rate", "≥v0.14"}, {"failed", "≥v0.11.1"},
	{"max_output_tokens_per_s", "≥v0.11.0"}, {"request_goodput", "≥v0.9.2"}, {"ramp_up_strategy", "≥v0.9.2"}, {"endpoint_type", "≥v0.8.0"},
	{"burstiness", "≥v0.6.4"}, {"request_goodput:", "≥v0.6.4"}, {"total_token_throughput", "≥v0.6.0"}, {"mean_itl_ms", "≥v0.5.0"}, {"itls", "≥v0.4.0"}, {"request_inthroughput", "v0.3"},
}

// version returns the earliest release that wrote such a file.
func version(r *servebench.Record) string {
	if rust(r) {
		return "≥v0.26 (Rust client)"
	}
	for _, v := range versions {
		if r.Has(v.key) {
			return v.version
		}
	}
	return ""
}

// modernKeys are keys that no release before v0.8.0 wrote.
var modernKeys = []string{"endpoint_type", "request_goodput", "failed", "max_output_tokens_per_s", "rtfx", "start_times", "latencies", "queue_times", "steady_state", "ttft_description"}

// definition returns the definition set of the client; see the package comment.
// dated says that only the date decided.
func definition(r *servebench.Record) (name string, dated bool) {
	for _, key := range modernKeys {
		if r.Has(key) {
			return "vllm-2026", false
		}
	}
	switch date := r.Text("date"); {
	case r.Has("use_beam_search") || !r.Has("burstiness") && r.Has("num_prompts"):
		return "vllm-2024", false
	case !r.Has("best_of"):
		return "vllm-2026", false
	case date >= "20250127":
		return "vllm-2026", true
	}
	return "vllm-2024", true
}

// clock returns the clock of start_times: time.perf_counter counts from the
// boot of the client's host, the Rust client from the start of the run. Nobody
// starts a benchmark within a second of booting.
func clock(r *servebench.Record) trace.ClockKind {
	if !r.Has("start_times") {
		return trace.RequestClock
	}
	if first, ok := r.Min(servebench.StartTimes); rust(r) || ok && first < 1e9 {
		return trace.RunClock
	}
	return trace.Monotonic
}

// pooling tells runs of embedding, reranking and other pooling models: no
// tokens are generated, so the arrays of chunks are not there.
func pooling(r *servebench.Record) bool {
	b := backend(r)
	for _, word := range []string{"embed", "pool", "rerank", "classif"} {
		if strings.Contains(b, word) {
			return true
		}
	}
	return !r.Broken && r.Has("input_lens") && r.Has("errors") && !r.Has("output_lens") && !r.Has("ttfts") && !r.Has("itls") && !r.Has("total_output_tokens")
}
