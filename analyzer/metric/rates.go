package metric

import (
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// interval is said of every rate.
const interval = "W runs from the earliest send (or receipt) to the latest token of any selected request, and Δt is its length; " +
	"a failed request's time-out does not extend it. Groups share the run's W; a time window is its own, clipped to the run's. " +
	"Without a common clock of all requests Δt is the duration that the producer measured. " +
	"Requests whose numbers are unknown are left out and counted in a note; where nobody knows any, the rate is null. "

func rate(name, title, formula string, u unit.Unit, doc string, inputs ...trace.Col) *Metric {
	return &Metric{Name: name, Title: title, Kind: PerRun, Formula: formula, Unit: u, Better: Higher, Inputs: inputs,
		Reasons: []Reason{Clock, NoSpan, NotRecorded, NUnknown}, Doc: interval + doc, Source: ours}
}

func occasional(m *Metric) *Metric {
	m.Occasional = true
	return m
}

var rates = []*Metric{
	rate("request_rate", "requests per second", "requests / Δt", unit.PerSecond, "Every status counts."),
	rate("request_rate_ok", "completed requests per second", "ok requests / Δt", unit.PerSecond, ""),
	rate("request_rate_ok_whole", "completed requests per second of the whole span", "ok requests / (latest end - earliest send)", unit.PerSecond,
		"The whole span lasts to the end of the last request, time-outs of failed ones included."),
	rate("request_rate_completions", "requests per second between the first and the last completion", "(completions - 1) / (last completion - first completion), completions of ok requests that are stamped", unit.PerSecond,
		"Free of the ramp at the start; of use when a run is short or overloaded. Fewer than 10 completions tell no rate (few_requests)."),
	rate("tps", "output tokens per second", "tokens emitted in W / Δt", unit.TokenRate, "Counts every token, whatever became of its request.", trace.OutputTokens),
	rate("tps_ok", "output tokens per second of completed requests", "tokens of ok requests emitted in W / Δt", unit.TokenRate, "", trace.OutputTokens),
	rate("tps_whole", "output tokens per second of the whole span", "tokens / (latest end - earliest send)", unit.TokenRate, "See request_rate_ok_whole.", trace.OutputTokens),
	rate("tps_peak", "greatest output token rate of one second", "max over seconds of the tokens in one; tps where that is greater", unit.TokenRate,
		"The seconds are those of the run's clock. Where W is no whole number of seconds its mean may be above what any second holds: then the peak is the mean, and a note says so. Tokens are counted, not chunks.",
		trace.OutputTokens, trace.ChunkGaps),
	rate("tps_prompt", "prompt tokens per second", "prompt tokens of requests whose first token is in W / Δt", unit.TokenRate, "", trace.PromptTokens),
	rate("tps_end_to_end", "prompt and output tokens per second", "(prompt tokens + output tokens) / Δt", unit.TokenRate,
		"Prompt tokens are credited at the first token.", trace.PromptTokens, trace.OutputTokens),
	occasional(rate("tps_end_to_end_computed", "computed tokens per second", "(prompt tokens - cached tokens + output tokens) / Δt", unit.TokenRate,
		"Requests that do not tell their cached tokens, or more of them than their prompt has, count with their output alone, as a note says; null where none tells them.",
		trace.PromptTokens, trace.CachedTokens, trace.OutputTokens)),
	occasional(rate("cached_token_share", "share of prompt tokens served from a prefix cache", "cached tokens / prompt tokens, of requests that tell both", unit.Ratio,
		"Requests that tell more cached tokens than prompt tokens are left out.", trace.PromptTokens, trace.CachedTokens)),
	rate("prefill_token_share", "share of prompt tokens", "prompt tokens / (prompt tokens + output tokens), of requests that tell both", unit.Ratio, "", trace.PromptTokens, trace.OutputTokens),
	rate("decode_token_share", "share of output tokens", "output tokens / (prompt tokens + output tokens), of requests that tell both", unit.Ratio, "", trace.PromptTokens, trace.OutputTokens),
	rate("batch_decode", "effective batch size B", "Σ ‖[first_token, last_token) ∩ W‖ / Δt over decoding sequences", unit.None,
		"Time-weighted: idle time counts as 0, stalls are inside; one per choice. Where the last token has no stamp the decode time that the engine measured counts from the first token.", trace.FirstToken, trace.LastToken, trace.DDecode),
	rate("batch_decode_active", "batch size without stalled sequences", "(Σ ‖[first_token, last_token) ∩ W‖ - Σ d_stall) / Δt", unit.None,
		"Null unless every decoding sequence tells its stalls, or that it was never preempted; and in a window that a sequence with a stall lies in only partly, for a stall has no place in time (preempted).",
		trace.FirstToken, trace.LastToken, trace.DStall, trace.Preemptions),
	rate("batch_running", "sequences in the running batch", "Σ ‖[admitted, last_token) ∩ W‖ / Δt over decoding sequences", unit.None,
		"Includes prefill: what vLLM logs as Running. Where admission has no stamp the prefill time that the engine measured lies before the first token.", trace.Admitted, trace.DPrefill, trace.LastToken),
	rate("batch_logged", "batch size as engines log it", "Σ over engines of ∫ gauge dt / covered time", unit.None,
		"Each value holds until the next line of that engine; where that is more than 2.5 intervals between its lines away nobody knows what it was, and the time counts for nothing: the coverage says how much is left. "+
			"vLLM's Running is batch_running at an instant, SGLang's #running-req batch_decode, the sequences of single steps batch_decode_active. "+
			"Null (coverage) where fewer engines log than the run is configured to have; without requests it is over the engines' own time."),
	rate("tpot_weighted", "token-weighted TPOT", "Σ (last_token - first_token) / Σ (N - 1), clipped to W", unit.NSPerToken,
		"The mean of tpot weighs requests, this one tokens; the models below need it. They are about all sequences whose N and decode time are known, whatever their status.", trace.FirstToken, trace.LastToken, trace.OutputTokens),
	rate("replicas", "decoding replicas R", "distinct replicas that emitted a token in W, or as given", unit.None,
		"Where the rows that count the requests name no replica, those of the side nearest to the engines do. Prefill nodes are none. "+
			"Null (coverage) where the input does not name replicas (behind a load balancer B is that of the whole deployment), or fewer than the run is configured to have.", trace.Replica),
	rate("tps_replica_model", "modelled tokens per second of a replica", "mean over replicas of B / TPOT (token-weighted)", unit.TokenRate, "", trace.Replica),
	rate("tps_total_model", "modelled tokens per second of all replicas", "Σ over replicas of B / TPOT = R · mean(B) / TPOT", unit.TokenRate, ""),
	rate("identity_ratio", "model ÷ measured", "tps_total_model / tps_decode", unit.Ratio,
		"B and TPOT come from the same intervals, so the ratio must be 1 - first tokens / output tokens; a note says where it is not: then counts and stamps contradict each other."),
	rate("cross_ratio", "model with the engines' batch ÷ measured", "(batch_logged / tpot_weighted) / tps_decode", unit.Ratio,
		"B is from the engines' log and TPOT from the requests: far from 1, one of the two misses requests, or engines. vLLM's gauge counts prefilling sequences as well, so that it is above 1 by their share."),
	rate("weighting_ratio", "model with the mean of TPOTs ÷ measured", "(B / mean of (last_token - first_token)/(N - 1)) / tps_decode, over the sequences in B", unit.Ratio,
		"Far below the identity: requests differ much in TPOT. It says nothing about unused capacity."),
	rate("decode_capacity", "greatest decode rate of the steps", "Σ over engines of max over g of g / T(g), T the mean length of the steps that only decode g sequences", unit.TokenRate,
		"Of batch sizes with at least 30 such steps (few_steps). Lengths are intervals between ends of steps where the source has them; elapsed times lack what lies between steps, and make it too large. Steps that verify drafts are left out."),
	rate("decode_capacity_unused", "unused decode capacity", "1 - tps_decode / decode_capacity", unit.Ratio,
		"What the deployment could decode more at the best batch size that was observed. Prefill counts as unused: its time is not free for decoding."),
	rate("concurrency_mean", "mean number of requests in flight", "∫ c(t) dt over W / Δt, by an exact sweep", unit.None,
		"Where one request ends at the instant another starts, the end comes first."),
	rate("concurrency_little", "requests in flight by Little's law", "Σ e2e_stream_end / Δt", unit.None,
		"Equals the sweep's mean when all requests end and lie inside of W; open ones have no e2e and are left out. Where the two differ, trust concurrency_mean. SGLang calls this concurrency."),
	rate("goodput", "good requests per second", "requests that meet every objective / Δt", unit.PerSecond,
		"Good: status ok, and no objective missed or unknown. An objective that does not apply (TPOT of one token) is met. Failed, aborted and empty requests are in the denominator of the share."),
}
