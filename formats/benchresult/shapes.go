package benchresult

import (
	"strings"

	"servescope/analyzer/unit"
	"servescope/formats/internal/servebench"
)

// kind is how a number becomes a figure.
type kind uint8

const (
	seconds kind = iota // to ns
	millis              // to ns
	requests
	tokens
	tokenRate
	rate
	plain
	ratio
)

// units are the base unit of each kind and the exponent of ten that leads to it.
var units = [...]struct {
	unit unit.Unit
	exp  string
}{
	seconds: {unit.Nanosecond, "e9"}, millis: {unit.Nanosecond, "e6"}, requests: {unit.Request, ""}, tokens: {unit.Token, ""},
	tokenRate: {unit.TokenRate, ""}, rate: {unit.PerSecond, ""}, plain: {unit.None, ""}, ratio: {unit.Ratio, ""},
}

// shape is one kind of result: objects with these keys. first is the version that
// wrote it first, "" when that is not known; all are still written.
type shape struct {
	name, title string
	engine      string
	keys        []string
	first       string
	duration    string          // key of the run's length in s
	figures     map[string]kind // by path; see also figureOf
	sentinel    bool            // -1 means unknown, and 0 in last_ttft
	note        string
	why         string // there are no requests
}

const aggregates = "this file holds no per-request data: "

// shapes in order of the test; multiTurn and twin are read in their own way.
var shapes = []*shape{multiTurn, twin, {
	name: "vllm-latency", title: "vllm bench latency", engine: "vllm", keys: []string{"avg_latency", "latencies", "percentiles"}, first: "v0.5.1",
	figures: map[string]kind{"avg_latency": seconds},
	note:    "whole_batches: a latency is that of one iteration over a whole batch, not of a request",
	why:     aggregates + "each latency is that of a whole batch",
}, {
	name: "vllm-throughput", title: "vllm bench throughput", engine: "vllm", keys: []string{"elapsed_time", "num_requests", "requests_per_second"}, duration: "elapsed_time",
	figures: map[string]kind{"num_requests": requests, "total_num_tokens": tokens, "requests_per_second": rate, "tokens_per_second": tokenRate},
	note:    "both_ways: tokens_per_second counts tokens of prompts and outputs",
	why:     aggregates + "the requests were generated offline, as one",
}, {
	name: "vllm-startup", title: "vllm bench startup", engine: "vllm", keys: []string{"avg_cold_startup_time"}, first: "v0.13",
	figures: map[string]kind{"avg_cold_startup_time": seconds, "avg_warm_startup_time": seconds, "avg_cold_compilation_time": seconds, "avg_warm_compilation_time": seconds},
	why:     aggregates + "it is about starting the engine",
}, {
	name: "vllm-mm-processor", title: "vllm bench mm-processor", engine: "vllm", keys: []string{"mm_processor_stats", "completed"}, first: "v0.14",
	figures: map[string]kind{"completed": requests, "failed": requests},
	why:     aggregates + "only sums of the stages of the multimodal processor",
}, {
	name: "sglang-one-batch-server", title: "SGLang bench_one_batch_server", engine: "sglang", keys: []string{"run_name", "batch_size", "latency", "output_throughput"}, first: "v0.4.6.post5",
	figures: map[string]kind{"latency": seconds, "last_ttft": seconds, "input_throughput": tokenRate, "output_throughput": tokenRate, "overall_throughput": tokenRate,
		"last_gen_throughput": tokenRate, "acc_length": tokens, "cache_hit_rate": ratio},
	sentinel: true,
	note:     "last_of_batch: last_ttft is the time until the last request of the batch had its first token, last_gen_throughput that of the server's last log line",
	why:      aggregates + "a line is one batch",
}, {
	name: "sglang-one-batch", title: "SGLang bench_one_batch (bench_latency)", engine: "sglang", keys: []string{"run_name", "batch_size", "prefill_latency", "total_latency"}, first: "v0.3.0",
	figures: map[string]kind{"prefill_latency": seconds, "prefill_throughput": tokenRate, "median_decode_latency": seconds, "median_decode_throughput": tokenRate,
		"total_latency": seconds, "overall_throughput": tokenRate},
	note: "fixed_batch: the figures are those of one batch of fixed size without a server",
	why:  aggregates + "a line is one batch",
}, {
	name: "sglang-offline", title: "SGLang bench_offline_throughput", engine: "sglang", keys: []string{"successful_requests", "total_latency", "last_gen_throughput"}, duration: "total_latency",
	figures: map[string]kind{"successful_requests": requests, "total_input_tokens": tokens, "total_output_tokens": tokens, "request_throughput": rate,
		"input_throughput": tokenRate, "output_throughput": tokenRate, "total_throughput": tokenRate, "last_gen_throughput": tokenRate},
	sentinel: true,
	why:      aggregates + "the requests were generated offline, as one",
}, {
	name: "sglang-multi-turn", title: "SGLang bench_multiturn", engine: "sglang", keys: []string{"timestamp", "tag", "summary"}, first: "v0.5",
	figures: map[string]kind{"summary.total_requests": requests, "summary.input_token_throughput": tokenRate, "summary.output_token_throughput": tokenRate,
		"summary.throughput": rate, "summary.cache_hit_rate": ratio},
	note: "other_quantiles: quantiles are sorted[int(p*n)], without interpolation",
	why:  aggregates + "only sums over all conversations",
}}

var multiTurn = &shape{
	name: "vllm-multi-turn", title: "vLLM benchmark_serving_multi_turn.py --stats-json-output", engine: "", keys: []string{"ttft_ms", "tpot_ms", "latency_ms", "start_time_ms"}, first: "v0.20",
}

var twin = &shape{
	name: "pytorch-benchmark", title: "PyTorch benchmark records of vLLM (*.pytorch.json)", keys: []string{"benchmark", "model", "metric"}, first: "v0.7.3",
	note: "first_values: of each metric its first value is shown",
	why:  aggregates + "the result file beside it may",
}

// figureOf returns how a number of a shape is shown, by its path: stat is mean,
// a quantile, …; ok is false when it is a setting.
func (s *shape) figureOf(path string) (k kind, stat string, ok bool) {
	if k, ok = s.figures[path]; ok {
		switch {
		case strings.HasPrefix(path, "avg_"):
			stat = "mean"
		case strings.HasPrefix(path, "median_"):
			stat = "0.5"
		default:
			stat = "value"
		}
		return k, stat, true
	}
	group, name, nested := strings.Cut(path, ".")
	switch {
	case nested && strings.HasSuffix(group, "percentiles"): // {"99": s}
		return seconds, servebench.Statistic("p" + name), servebench.Statistic("p"+name) != ""
	case nested && group == "mm_processor_stats":
		if stage, what, ok := strings.Cut(name, "."); ok && strings.HasSuffix(stage, "_ms") {
			return millis, servebench.Statistic(what), servebench.Statistic(what) != ""
		}
	case s.name == "vllm-mm-processor" && strings.HasSuffix(path, "_ms"):
		what, _, _ := strings.Cut(path, "_")
		return millis, servebench.Statistic(what), servebench.Statistic(what) != ""
	case s.name == "sglang-multi-turn" && group == "summary":
		what, of, _ := strings.Cut(name, "_")
		if k, ok = map[string]kind{"ttft": seconds, "itl": seconds, "latency": seconds, "prompt_len": tokens, "output_len": tokens}[of]; ok {
			return k, servebench.Statistic(what), servebench.Statistic(what) != ""
		}
	}
	return 0, "", false
}
