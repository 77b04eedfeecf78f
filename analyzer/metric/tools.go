package metric

import "servescope/analyzer/stat"

// Paces that several tools share.
var (
	afterFirst = &Pace{From: AtFirst, To: AtLast, Less: 1}
	toEnd      = &Pace{From: AtFirst, To: AtEnd, Less: 1} // (E2E - TTFT) / (N - 1)
)

// anyCount accepts any source of N, the most trustworthy first.
var anyCount = []Count{ServerCount, ClientCount, ChunkCount}

// Default is this project's own set.
var Default = definitions[0]

// definitions is the table of all sets. Each set describes a tool in the
// version that its name or text states. A parameter that is not set has the
// default's value.
var definitions = []*Definition{
	{
		Name: "default", Title: "first generated token, last token, server counts, N - 1; undefined is null",
		Doc:    "One written definition per metric. Failed and aborted requests are in no latency and count as misses of an objective.",
		Counts: anyCount, TPOT: afterFirst, Strict: true,
	},
	{
		Name: "vllm-2024", Title: "vLLM benchmark client up to v0.6: first content, [DONE] line",
		Doc: "benchmarks/benchmark_serving.py of 2024: chunks count when their text is not empty, so reasoning is not seen; " +
			"latency ends at the [DONE] line; N is the usage or the re-tokenised text; requests at the same time are counted by whole seconds, which is too many.",
		First: FirstAnswer, ToFinish: true, Counts: []Count{ServerCount, AnswerCount}, TPOT: toEnd, Gaps: AnswerGaps,
		Client: true, Silent: true, OKOnly: true, Span: WholeSpan, Goodput: true, GoodSpan: WholeSpan, Reported: true, Buckets: true, ChunkPeak: true,
		names: map[string]string{"chunk_gap": "ITL"},
	},
	{
		Name: "vllm-2026", Title: "vLLM bench serve since v0.7: first chunk with choices, last chunk with choices",
		Doc: "vllm/benchmarks of 2025 and 2026: every chunk with choices counts, the role chunk too; latency ends at the last of them; " +
			"N is the usage, else the re-tokenised text.",
		First: FirstEvent, Counts: []Count{ServerCount, AnswerCount}, TPOT: toEnd, Gaps: EventGaps,
		Client: true, Silent: true, OKOnly: true, Span: WholeSpan, Goodput: true, GoodSpan: WholeSpan, Reported: true, ChunkPeak: true,
		names: map[string]string{"chunk_gap": "ITL"},
	},
	{
		Name: "sglang", Title: "SGLang bench_serving: first content, last received line",
		Doc: "sglang/bench_serving.py: chunks count when their text is not empty; latency ends at the last line received, [DONE] included; " +
			"N is the usage, else the requested length; a response that was not streamed has TTFT = E2E; " +
			"with speculative decoding a gap is divided by the tokens of its chunk and repeated for each.",
		First: FirstAnswer, ToFinish: true, Counts: []Count{ServerCount, RequestedCount}, TPOT: toEnd, Gaps: AnswerGaps, Split: EvenGaps,
		Client: true, OneShot: true, Silent: true, OKOnly: true, Span: WholeSpan, Reported: true, ChunkPeak: true,
		names: map[string]string{"chunk_gap": "ITL", "concurrency_little": "concurrency"},
	},
	{
		Name: "aiperf", Title: "AIPerf of 2025-10: first content or reasoning, last content, re-tokenised text",
		Doc: "N is what AIPerf's tokenizer makes of content and reasoning; where only the usage counts the reasoning, that count stands in. " +
			"Gaps between chunks are an error when one is not positive (later versions take 0). A request without a metric that an objective needs is not good.",
		Counts: []Count{ClientCount}, TPOT: toEnd, Positive: true,
		Client: true, OKOnly: true, Span: OKSpan, Goodput: true, GoodSpan: OKSpan, MustKnow: true,
		names: map[string]string{"tpot": "ITL", "chunk_gap": "ICL", "tps_request": "TPS/user"},
	},
	{
		Name: "genai-perf", Title: "GenAI-Perf of 2025-12: first content, last content, re-tokenised content",
		Doc:    "Reasoning is not seen. N is what the tokenizer makes of the joined content; the time per token needs two responses.",
		First:  FirstAnswer,
		Counts: []Count{AnswerCount}, TPOT: toEnd, Gaps: NoGaps, Strict: true,
		Client: true, OKOnly: true, Span: OKSpan, Goodput: true, GoodSpan: OKSpan, MustKnow: true,
		names: map[string]string{"tpot": "ITL"},
	},
	{
		Name: "guidellm", Title: "GuideLLM of 2026-08: TPOT includes TTFT and divides by N, requests weigh their tokens",
		Doc: "TPOT runs from the send to the last token and is divided by N, ITL from the first to the last token by N - 1: one value per request, " +
			"weighted by what it is divided by. Rates are the means of GuideLLM's distributions over time.",
		Quantile: stat.Nearest, ToFinish: true, Counts: []Count{ServerCount, ChunkCount},
		TPOT: &Pace{From: AtStart, To: AtLast, Weighted: true}, Gaps: PaceGaps, ITL: &Pace{From: AtFirst, To: AtLast, Less: 1, Weighted: true},
		Client: true, Silent: true, OKOnly: true, Span: WholeSpan,
		names: map[string]string{"chunk_gap": "ITL", "ttfot": "TTFOT"},
	},
	inferencePerf("inference-perf", "re-tokenised content", AnswerCount),
	inferencePerf("inference-perf-server", "server counts", ServerCount, AnswerCount),
	{
		Name: "llmperf", Title: "llmperf of 2024-12: the inter-token latency includes TTFT and divides by chunks",
		Doc: "The inter-token latency is the sum of TTFT and all gaps, divided by the chunks received, one with a role included: there is one value per request, " +
			"and no TPOT. N is what a Llama tokenizer makes of the content, with the token that begins a text.",
		First: FirstAnswer, ToFinish: true, Counts: []Count{BOSCount}, Gaps: PaceGaps, ITL: &Pace{From: AtStart, To: AtLast, Chunks: true},
		Sample: true, Client: true, Silent: true, OKOnly: true, Span: WholeSpan,
		names: map[string]string{"chunk_gap": "inter_token_latency_s"},
	},
	{
		Name: "llmperf-2023", Title: "llmperf of 2023: the inter-token latency includes TTFT and divides by tokens",
		Doc:   "As llmperf, except that the inter-token latency is divided by N. (Its request_output_throughput_token_per_s counted chunks, which tps_e2e does not.)",
		First: FirstAnswer, ToFinish: true, Counts: []Count{BOSCount}, Gaps: PaceGaps, ITL: &Pace{From: AtStart, To: AtLast},
		Sample: true, Client: true, Silent: true, OKOnly: true, Span: WholeSpan,
		names: map[string]string{"chunk_gap": "inter_token_latency_s", "tps_e2e": "request_output_throughput_token_per_s"},
	},
	{
		Name: "mlperf", Title: "MLPerf loadgen of 2026-08: whole nanoseconds, sorted[⌊n·p⌋]",
		Doc: "TTFT and the end are as the system under test reports them. loadgen treats one token as an error (it then divides by -1): such a request has no TPOT here. " +
			"Rates are those of the offline scenario, divided by the longest latency.",
		Quantile: stat.Index, Counts: []Count{ServerCount}, TPOT: toEnd, Gaps: NoGaps, Whole: true,
		Client: true, OKOnly: true, Span: LongestSpan,
	},
	{
		Name: "databricks", Title: "Databricks' formula: latency = TTFT + TPOT · N",
		Doc:    "The documented formula solved for TPOT: (latency - TTFT) / N. It is 10 % below (N - 1) at N = 10, and 0.1 % at N = 1000.",
		Counts: anyCount, TPOT: &Pace{From: AtFirst, To: AtEnd}, Gaps: NoGaps, Client: true,
	},
	{
		Name: "llamacpp", Title: "llama.cpp and Ollama: the time after the first token, divided by all tokens",
		Doc:    "predicted_ms / predicted_n and eval_duration / eval_count: the time runs from the first token, which counts all the same. (llama.cpp of 2026 divides by N - 1.)",
		Counts: []Count{ServerCount}, TPOT: &Pace{From: AtFirst, To: AtLast}, Gaps: NoGaps,
	},
	{
		Name: "litellm", Title: "LiteLLM: first chunk, end of the response, E2E / N",
		Doc:   "completionStartTime is the time of the first chunk, including one with only a role; the latency per output token of its metrics is the whole latency divided by N.",
		First: FirstEvent, ToFinish: true, Counts: []Count{ServerCount}, TPOT: &Pace{From: AtStart, To: AtEnd}, Gaps: NoGaps,
		names: map[string]string{"tpot": "latency_per_output_token"},
	},
}

// inferencePerf returns the set of inference-perf under one of its options for
// N.
func inferencePerf(name, counts string, n ...Count) *Definition {
	return &Definition{
		Name: name, Title: "inference-perf of 2026-08 with " + counts + ": TTFT needs two tokens",
		Doc: "All tokens of a chunk have the time of the chunk, so gaps within one are 0. Throughput is over the span of all requests, failed ones included, " +
			"goodput over that of the successful. A request without a metric that an objective needs is not good.",
		First: FirstAnswer, ToFinish: true, Counts: n, Least: 2, TPOT: afterFirst, Gaps: AnswerGaps, Split: ZeroGaps,
		Client: true, Silent: true, OKOnly: true, Span: WholeSpan, Goodput: true, GoodSpan: OKSpan, MustKnow: true,
		names: map[string]string{"chunk_gap": "inter_token_latency"},
	}
}
