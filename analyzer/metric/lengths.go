package metric

import (
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

var lengths = []*Metric{
	{
		Name: "prompt_tokens", Title: "prompt length", Kind: PerRequest, Unit: unit.Token,
		Formula: "prompt_tokens", Inputs: []trace.Col{trace.PromptTokens}, Reasons: []Reason{NotRecorded}, Doc: "Responses without any token count here: their prompt is known.", Source: ours,
	},
	{
		Name: "output_tokens", Title: "output length N", Kind: PerRequest, Unit: unit.Token,
		Formula: "output_tokens, unless it is the requested length", Inputs: []trace.Col{trace.OutputTokens, trace.ClientTokens},
		Reasons: []Reason{NoToken, NUnknown},
		Doc: "The server's count where there is one, else the client's. The two part where the tokenizer differs or the text degenerates: " +
			"a note gives their ratio where both are known.",
		Source: ours,
	},
	{
		Name: "cached_tokens", Title: "prompt tokens served from a prefix cache", Kind: PerRequest, Unit: unit.Token, Better: Higher, Occasional: true,
		Formula: "cached_tokens", Inputs: []trace.Col{trace.CachedTokens}, Reasons: []Reason{NotRecorded, Inconsistent}, Source: ours,
	},
	{
		Name: "computed_tokens", Title: "prompt tokens that were computed", Kind: PerRequest, Unit: unit.Token, Better: Lower, Occasional: true,
		Formula: "prompt_tokens - cached_tokens", Inputs: []trace.Col{trace.PromptTokens, trace.CachedTokens}, Reasons: []Reason{NotRecorded, Inconsistent},
		Source: ours,
	},
	{
		Name: "cached_share", Title: "share of a prompt served from a prefix cache", Kind: PerRequest, Unit: unit.Ratio, Better: Higher, Occasional: true,
		Formula: "cached_tokens / prompt_tokens", Inputs: []trace.Col{trace.PromptTokens, trace.CachedTokens}, Reasons: []Reason{NotRecorded, Inconsistent, NoSpan},
		Doc: "Its mean weighs requests; cached_token_share weighs tokens.", Source: ours,
	},
	{
		Name: "reasoning_tokens", Title: "output tokens spent on reasoning", Kind: PerRequest, Unit: unit.Token, Occasional: true,
		Formula: "reasoning_tokens", Inputs: []trace.Col{trace.ReasoningTokens}, Reasons: []Reason{NoToken, NotRecorded}, Source: ours,
	},
	{
		Name: "accept_length", Title: "tokens per verification step of speculative decoding", Kind: PerRequest, Unit: unit.Token, Better: Higher, Occasional: true,
		Formula: "1 + spec_accepted / verify_steps", Inputs: []trace.Col{trace.SpecAccepted, trace.VerifySteps}, Reasons: []Reason{NoToken, NotRecorded, NoSpan},
		Doc: "Each step yields the drafts that it accepts and one token of the model's own.", Source: ours,
	},
	{
		Name: "accept_rate", Title: "share of draft tokens that were accepted", Kind: PerRequest, Unit: unit.Ratio, Better: Higher, Occasional: true,
		Formula: "spec_accepted / spec_drafted", Inputs: []trace.Col{trace.SpecAccepted, trace.SpecDrafted}, Reasons: []Reason{NoToken, NotRecorded, Inconsistent, NoSpan},
		Source: ours,
	},
	{
		Name: "preemptions", Title: "times a request was preempted", Kind: PerRequest, Unit: unit.None, Better: Lower, Occasional: true,
		Formula: "preemptions", Inputs: []trace.Col{trace.Preemptions}, Reasons: []Reason{NoToken, NotRecorded},
		Doc: "The sum over requests is n times the mean.", Source: ours,
	},
	{
		Name: "tokens_per_chunk", Title: "tokens per chunk after the first", Kind: Pooled, Unit: unit.Token, Occasional: true,
		Formula: "tokens of each token-bearing chunk after the first, pooled", Inputs: []trace.Col{trace.ChunkTokens},
		Reasons: []Reason{NoToken, NLessThan2, NotStreamed, NotRecorded},
		Doc:     "With speculative decoding and no coalescing: tokens per step.", Source: ours,
	},
}

var speeds = []*Metric{
	{
		Name: "tps_request", Title: "tokens per second of one sequence", Kind: PerRequest, Unit: unit.TokenRate, Better: Higher,
		Formula: "1 / tpot", Inputs: []trace.Col{trace.FirstToken, trace.LastToken, trace.OutputTokens},
		Reasons: []Reason{NoToken, NLessThan2, NUnknown, NotStreamed, NotRecorded, Clock, Order, NoSpan}, Source: ours,
	},
	{
		Name: "tps_e2e", Title: "tokens per second of a request, waiting included", Kind: PerRequest, Unit: unit.TokenRate, Better: Higher,
		Formula: "N / e2e", Inputs: []trace.Col{trace.LastToken, trace.OutputTokens},
		Reasons: []Reason{NoToken, NUnknown, NotRecorded, Clock, Order, NoSpan},
		Doc:     "GuideLLM and llmperf call this output tokens per second. It falls with TTFT where 1/tpot does not.", Source: ours,
	},
	{
		Name: "tps_decode", Title: "decode tokens per second", Kind: PerRequest, Unit: unit.TokenRate, Better: Higher,
		Formula: "of a request: (N - 1) / (last_token - first_token); over W: output tokens / Δt, first tokens included",
		Inputs:  []trace.Col{trace.FirstToken, trace.LastToken, trace.OutputTokens},
		Reasons: []Reason{NoToken, NLessThan2, NUnknown, NotStreamed, NotRecorded, Clock, Order, NoSpan},
		Doc:     "SGLang's decode_throughput divides N, not N - 1.", Source: ours,
	},
}
