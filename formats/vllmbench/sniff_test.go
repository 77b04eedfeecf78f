package vllmbench

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"servescope/formats"
)

// TestSniff: what is claimed, and what is left to others.
func TestSniff(t *testing.T) {
	for text, want := range map[string]formats.Score{
		`{"date": "20260205-142233", "endpoint_type": "vllm", "backend": "vllm", "model_id": "m", "num_prompts": 4, "request_rate": "inf", "duration": 1.5, "completed": 2`:                formats.Sure,
		"[\n  {\"model_id\": \"m\", \"num_prompts\": 4, \"request_rate\": \"inf\", \"completed\": 2}]":                                                                                     formats.Sure,
		`{"backend": "vllm", "model_id": "m", "num_prompts": 4, "request_rate": "inf"`:                                                                                                     formats.Likely,
		"Starting benchmark\n{\"model_id\": \"m\", \"num_prompts\": 4, \"request_rate\": \"inf\", \"completed\": 2}":                                                                       formats.Sure,
		"{\"cut\n{\"model_id\": \"m\", \"num_prompts\": 4, \"request_rate\": \"inf\", \"completed\": 2}":                                                                                   formats.Sure,
		`{"duration": 1.0, "completed": 1, "input_lens": [10], "output_lens": [3], "ttfts": [0.1], "itls": [[0.01, 0.01]], "errors": [""]}`:                                                formats.Likely,
		`{"input_lens": [10], "output_lens": [3], "ttfts": [0.1], "itls": [[0.01, 0.01]], "errors": [""]}`:                                                                                 formats.Maybe,
		`{"completed": 1, "ttft_description": {"mean": 0.1}, "input_lens": [10], "ttfts": [0.1], "itls": [[0.01]], "errors": [""]}`:                                                        formats.Likely,
		`[{"benchmark": {"name": "vLLM benchmark"}, "model": {"name": "m"}, "metric": {"name": "median_ttft_ms", "benchmark_values": [117.97], "extra_info": {"request_rate": "inf"}}}]`:   formats.No, // PyTorch twin
		`{"backend": "sglang", "dataset_name": "random", "request_rate": Infinity, "max_concurrency": 8, "input_lens": [1], "ttfts": [0.1], "itls": [[]], "errors": [""], "completed": 1}`: formats.No, // SGLang
		`{"avg_latency": 1.2, "latencies": [1.2, 1.2], "percentiles": {"10": 1.2}}`:                                                                                                        formats.No, // bench latency
		`{"elapsed_time": 1.5, "num_requests": 10, "total_num_tokens": 100, "requests_per_second": 6.6, "tokens_per_second": 66.0}`:                                                        formats.No, // bench throughput
		`[{"ttft_ms": 182.41, "tpot_ms": 9.87, "latency_ms": 1406.2, "start_time_ms": 86412318.2, "input_num_turns": 3, "conversation_id": "C", "client_id": 2}]`:                          formats.No, // multi-turn
		`[{"error_code": null, "error_msg": "", "inter_token_latency_s": 0.018, "ttft_s": 0.4, "end_to_end_latency_s": 2.9}]`:                                                              formats.No, // llmperf
		`{"metadata": {"version": 2, "guidellm_version": "0.8.0"}, "config": {}, "benchmarks": []}`:                                                                                        formats.No, // GuideLLM
		`{"load_summary": {"count": 10}, "successes": {"count": 10, "latency": {"time_to_first_token": {"mean": 0.1}}}, "failures": {"count": 0}}`:                                         formats.No, // inference-perf
		`{"metadata": {"session_num": 0, "x_request_id": "r-1", "request_start_ns": 1700000000001000000}, "metrics": {"time_to_first_token": {"value": 18.2}}}`:                            formats.No, // AIPerf
		`{"request_id": "r1", "arrival": 1764428000.25, "token_timestamps": [1764428000.4]}`:                                                                                               formats.No,
		"": formats.No, "{": formats.No, "[[[[": formats.No, "INFO 02-05 14:22:33 engine started": formats.No, "\x00\x01": formats.No,
	} {
		score, reason := Format.Sniff(&formats.Head{Start: []byte(text), Size: int64(len(text))})
		if score != want || reason == "" {
			t.Errorf("%.120s: score %d, want %d (%s)", text, score, want, reason)
		}
	}
}

// TestSniffRealFiles claims every real result of this client and nothing of
// other tools.
func TestSniffRealFiles(t *testing.T) {
	root := ""
	for _, dir := range []string{os.Getenv("SERVESCOPE_DATA"), "../../../shared/data", "../../../../shared/data"} {
		if _, err := os.Stat(filepath.Join(dir, "vllm")); err == nil && dir != "" {
			root = dir
			break
		}
	}
	if root == "" {
		t.Skip("the real files are not here")
	}
	claimed := 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		score, reason := Format.Sniff(&formats.Head{Name: path, Start: text[:min(len(text), formats.HeadSize)], Size: int64(len(text))})
		name := filepath.Base(path)
		ours := strings.HasPrefix(name, "bench-") && strings.Contains(path, "/vllm/") ||
			strings.HasPrefix(name, "vllm-") && strings.HasSuffix(name, ".json")
		if (score == formats.Sure) != ours || !ours && score != formats.No {
			t.Errorf("%s: score %d (%s)", path, score, reason)
		}
		if ours {
			claimed++
		}
		return nil
	})
	if err != nil || claimed < 5 {
		t.Errorf("%d results claimed, %v", claimed, err)
	}
}
