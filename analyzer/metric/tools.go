package metric

import "servescope/analyzer/stat"

const vllmTPOT = "(e2e - ttft) / (N - 1) for N > 1"

var vllm2024 = &Definition{
	Name: "vllm-2024", Title: "vLLM benchmark client up to v0.6: first content, [DONE] line",
	Doc: "benchmarks/benchmark_serving.py of 2024: chunks count when their text is not empty, so reasoning is not seen; " +
		"latency ends at the [DONE] line; N is the usage or the re-tokenised text.",
	Quantile: stat.Linear, First: FirstAnswer, ToFinish: true, Loose: true, Less: 1, Gaps: AnswerGaps, Client: true, Silent: true, Reported: true, OKOnly: true,
	formulas: map[string]string{
		"ttft":          "first non-empty content - sent; 0 for a success without any",
		"tpot":          vllmTPOT,
		"chunk_gap":     "\"ITL\": gaps between chunks with content, pooled",
		"e2e":           "[DONE] - sent",
		"goodput":       "requests that meet every objective / duration; TPOT of N ≤ 1 counts as 0, so it is met; failed requests are absent",
		"tps_decode":    "Σ N / duration",
		"tps_request":   "1 / tpot",
		"request_rate":  "requests / duration",
		"output_tokens": "usage, else the re-tokenised text",
	},
}

var vllm2026 = &Definition{
	Name: "vllm-2026", Title: "vLLM bench serve since v0.7: first chunk with choices, last chunk with choices",
	Doc: "vllm/benchmarks of 2025 and 2026: every chunk with choices counts, the role chunk too; latency ends at the last of them; " +
		"N is the usage, else the re-tokenised text.",
	Quantile: stat.Linear, First: FirstEvent, Loose: true, Less: 1, Gaps: EventGaps, Client: true, Silent: true, Reported: true, OKOnly: true,
	formulas: map[string]string{
		"ttft":          "first chunk with choices (a role chunk counts) - sent; 0 for a success without any",
		"tpot":          vllmTPOT,
		"chunk_gap":     "\"ITL\": gaps between chunks with choices, the one after the role chunk included, pooled",
		"e2e":           "last chunk with choices - sent",
		"goodput":       "requests that meet every objective / duration; TPOT of N ≤ 1 counts as 0, so it is met; failed requests are absent",
		"tps_decode":    "Σ N / duration",
		"tps_request":   "1 / tpot",
		"request_rate":  "requests / duration",
		"output_tokens": "usage, else the re-tokenised text",
	},
}

var sglang = &Definition{
	Name: "sglang", Title: "SGLang bench_serving: first content, last received line",
	Doc: "sglang/bench_serving.py: chunks count when their text is not empty; latency ends at the last line received, [DONE] included; " +
		"N is the usage, else the requested length; a response that was not streamed has TTFT = E2E; " +
		"with speculative decoding a gap is divided by the tokens of its chunk and repeated for each.",
	Quantile: stat.Linear, First: FirstAnswer, ToFinish: true, Loose: true, Less: 1, AnyCount: true, Gaps: AnswerGaps, Split: true,
	Client: true, OneShot: true, Silent: true, Reported: true, OKOnly: true,
	formulas: map[string]string{
		"ttft":               "first non-empty content - sent; E2E where not streamed; 0 for a success without any",
		"tpot":               vllmTPOT,
		"chunk_gap":          "\"ITL\": gaps between chunks with content, pooled; with speculative decoding gap/k repeated k times",
		"e2e":                "last received line - sent",
		"tps_decode":         "Σ N / duration",
		"tps_request":        "1 / tpot",
		"request_rate":       "requests / duration",
		"output_tokens":      "usage, else the requested length",
		"concurrency_little": "\"concurrency\": Σ e2e / duration",
	},
}
