package promtext

import (
	"bytes"
	"strings"

	"servescope/analyzer/unit"
)

// role is what a family is used for besides being shown.
type role uint8

const (
	shown role = iota
	ttft
	gap
	tpot
	e2e
	queue
	prefill
	decode
	outputTokens // of finished requests
	generated
	drafts
	succeeded
	call // of the conventions for any model: shown, between scrapes too
	roles
)

// family is one that has a meaning here. since is the version that writes it
// first, until the last, "" for those to come.
type family struct {
	engine, name string // without prefix and the suffixes of samples
	role         role
	metric       string // our name of its mean, or of the column that it is a mean of
	since, until string
}

// families are those whose figures are compared or checked. All others of the
// engines are shown as they are.
var families = []family{
	{"vllm", "time_to_first_token_seconds", ttft, "ttft_server", "v0.3.0", ""},
	{"vllm", "inter_token_latency_seconds", gap, "", "v0.10.2", ""},
	{"vllm", "time_per_output_token_seconds", gap, "", "v0.3.1", "v0.14"},
	{"vllm", "request_time_per_output_token_seconds", tpot, "tpot", "v0.11.0", ""},
	{"vllm", "e2e_request_latency_seconds", e2e, "e2e", "v0.3.0", ""},
	{"vllm", "request_queue_time_seconds", queue, "d_queue", "v0.6.4", ""},
	{"vllm", "request_prefill_time_seconds", prefill, "d_prefill", "v0.6.4", ""},
	{"vllm", "request_inference_time_seconds", shown, "", "v0.6.4", ""},
	{"vllm", "request_decode_time_seconds", decode, "", "v0.6.4", ""},
	{"vllm", "request_generation_tokens", outputTokens, "", "v0.3.0", ""},
	{"vllm", "request_prefill_kv_computed_tokens", shown, "", "v0.13", ""},
	{"vllm", "request_num_preemptions", shown, "", "v0.30", ""},
	{"vllm", "time_in_queue_requests", shown, "", "v0.6.4", "v0.8"},
	{"vllm", "model_forward_time_milliseconds", shown, "", "v0.6.4", "v0.8"},
	{"vllm", "model_execute_time_milliseconds", shown, "", "v0.6.4", "v0.8"},
	{"vllm", "iteration_tokens_total", shown, "", "v0.7.1", ""}, // a histogram in spite of its name
	{"vllm", "nixl_xfer_time_seconds", shown, "", "v0.11.0", ""},
	{"vllm", "generation_tokens_total", generated, "", "v0.3.0", ""},
	{"vllm", "spec_decode_num_drafts_total", drafts, "", "v0.8.3", ""},
	{"vllm", "request_success_total", succeeded, "", "v0.3.0", ""},
	{"vllm", "gpu_cache_usage_perc", shown, "", "v0.3.0", "v0.11"},
	{"vllm", "kv_cache_usage_perc", shown, "", "v0.9.2", ""},
	{"vllm", "num_requests_swapped", shown, "", "v0.3.0", "v0.9.0"},
	{"vllm", "avg_generation_throughput_toks_per_s", shown, "", "v0.3.0", "v0.6"},
	{"vllm", "prompt_tokens_by_source_total", shown, "", "v0.16", ""},
	{"vllm", "num_requests_waiting_by_reason", shown, "", "v0.20", ""},
	{"vllm", "estimated_flops_per_gpu_total", shown, "", "v0.17", ""},
	{"sglang", "time_to_first_token_seconds", ttft, "ttft_server", "v0.3.5", ""},
	{"sglang", "inter_token_latency_seconds", gap, "", "v0.4.4", ""}, // counted once per token
	{"sglang", "time_per_output_token_seconds", gap, "", "v0.3.5", "v0.4.3"},
	{"sglang", "e2e_request_latency_seconds", e2e, "e2e", "v0.3.5", ""},
	{"sglang", "queue_time_seconds", queue, "", "v0.5.2", ""},
	{"sglang", "queue_time_s", queue, "", "v0.5.2", "v0.5.2"},
	{"sglang", "per_stage_req_latency_seconds", shown, "", "v0.5.4", ""},
	{"sglang", "num_retractions", shown, "", "v0.5.6", "v0.5.10"},
	{"sglang", "realtime_tokens_total", shown, "", "v0.5.8", ""},
	{"sglang", "generation_tokens_total", generated, "", "v0.3.5", ""},
	{"sglang", "num_requests_total", succeeded, "", "v0.4.4", ""},
	{"gen_ai", "server_time_to_first_token_seconds", call, "ttft_server", "", ""},
	{"gen_ai", "server_time_per_output_token_seconds", call, "tpot", "", ""}, // once per request
	{"gen_ai", "server_request_duration_seconds", call, "e2e", "", ""},
	{"gen_ai", "client_operation_duration_seconds", call, "e2e_stream_end", "", ""},
	{"gen_ai", "client_operation_time_to_first_chunk_seconds", call, "", "", ""}, // a chunk with a role only included
	{"gen_ai", "client_operation_time_per_output_chunk_seconds", call, "chunk_gap", "", ""},
	{"gen_ai", "client_inference_duration_seconds", call, "e2e_stream_end", "", ""},
	{"gen_ai", "client_inference_time_to_first_chunk_seconds", call, "", "", ""},
	{"gen_ai", "client_inference_time_per_output_chunk_seconds", call, "chunk_gap", "", ""},
	{"gen_ai", "client_token_usage", call, "", "", ""},
}

// prefixes are those of the engines' families. Ray Serve writes underscores
// for colons and puts its own name before them. Whatever follows the conventions
// of OpenTelemetry for calls of models is of an engine that is not known.
var prefixes = []struct{ prefix, engine string }{
	{"vllm:", "vllm"}, {"sglang:", "sglang"}, {"ray_vllm_", "vllm"}, {"ray_sglang_", "sglang"},
	{"ray_vllm:", "vllm"}, {"vllm_", "vllm"}, {"sglang_", "sglang"}, {anyPrefix, anyEngine},
}

// anyEngine stands for one that is not known; clientPrefix begins what its client
// measures.
const (
	anyEngine    = "gen_ai"
	anyPrefix    = "gen_ai_"
	clientPrefix = "gen_ai_client_"
)

// engineOf returns the engine whose family a sample's name belongs to, "" when
// it is another program's, and the name without prefix.
func engineOf(name []byte) (engine string, bare []byte) {
	for _, p := range prefixes {
		if bytes.HasPrefix(name, []byte(p.prefix)) && len(name) > len(p.prefix) {
			return p.engine, name[len(p.prefix):]
		}
	}
	return "", name
}

// known returns the entry of a family, or nil.
func known(engine, bare string) *family {
	for i := range families {
		if f := &families[i]; f.engine == engine && f.name == bare {
			return f
		}
	}
	return nil
}

// kept are labels by which figures are told apart. Over all others, those of
// versions to come included, counters and histograms are added up.
var kept = map[string]bool{
	"finished_reason": true, "source": true, "cache_source": true, "mode": true, "reason": true, "position": true,
	"stage": true, "sleep_state": true, "engine_type": true, "is_streaming": true, "quantile": true,
	"gen_ai_operation_name": true, "gen_ai_token_type": true, "error_type": true,
}

// measure returns the unit that a family's name states, our base unit for it,
// and what one of it is in that.
func measure(name string) (text string, base unit.Unit, factor float64) {
	for _, m := range []struct {
		suffix, text string
		base         unit.Unit
		factor       float64
	}{
		{"_milliseconds", "milliseconds", unit.Nanosecond, 1e6}, {"_ms", "milliseconds", unit.Nanosecond, 1e6},
		{"_seconds", "seconds", unit.Nanosecond, 1e9}, {"_time_s", "seconds", unit.Nanosecond, 1e9},
		{"time_in_queue_requests", "seconds", unit.Nanosecond, 1e9},
		{"_bytes", "bytes", unit.Byte, 1}, {"_tokens", "tokens", unit.Token, 1}, {"_tokens_histogram", "tokens", unit.Token, 1},
		{"_perc", "ratio", unit.Ratio, 1}, {"gen_ai_client_token_usage", "tokens", unit.Token, 1}, {"token_usage", "ratio", unit.Ratio, 1},
	} {
		if strings.HasSuffix(strings.TrimSuffix(name, "_total"), m.suffix) {
			return m.text, m.base, m.factor
		}
	}
	return "", unit.None, 1
}
