package metric

import (
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

const ours = "this project's definitions: decompositions that add up need one start, one end and one count"

var latencies = []*Metric{
	{
		Name: "ttft", Title: "time to first token", Kind: PerRequest, Unit: unit.Nanosecond, Better: Lower,
		Formula: "first_token - received at the server where the run has it, else first_token - sent at the client",
		Inputs:  []trace.Col{trace.Sent, trace.Received, trace.FirstToken},
		Reasons: []Reason{NoToken, NotStreamed, NotRecorded, Clock, Order},
		Doc: "The first token is the first one generated, of any kind: content, reasoning, tool call. " +
			"A source that records only the first event gives that, labelled first_event; ttft_upper then bounds it. " +
			"The report says whose stamps are used (side). Waiting inside the client is not part of it: see client_wait.",
		Source: ours,
	},
	{
		Name: "ttft_client", Title: "time to first token at the client", Kind: PerRequest, Unit: unit.Nanosecond, Better: Lower,
		Formula: "first_token - sent, both stamped by the client",
		Inputs:  []trace.Col{trace.Sent, trace.FirstToken}, Reasons: []Reason{NoToken, NotStreamed, NotRecorded, Clock, Order},
		Doc: "Includes connecting, the network and the server.", Source: ours,
	},
	{
		Name: "ttft_server", Title: "time to first token at the API server", Kind: PerRequest, Unit: unit.Nanosecond, Better: Lower,
		Formula: "first_token - received, both stamped by the API server",
		Inputs:  []trace.Col{trace.Received, trace.FirstToken}, Reasons: []Reason{NoToken, NotStreamed, NotRecorded, Clock, Order},
		Source: ours,
	},
	{
		Name: "ttft_engine", Title: "time to first token inside the engine", Kind: PerRequest, Unit: unit.Nanosecond, Better: Lower,
		Formula: "first_token - queued, both stamped by the engine (on a decode node: by its scheduler)",
		Inputs:  []trace.Col{trace.Queued, trace.FirstToken}, Reasons: []Reason{NoToken, NotRecorded, Clock, Order},
		Doc: "Lacks tokenization, the way to the engine and back; it never stands in for ttft.", Source: ours,
	},
	{
		Name: "ttft_client_from_schedule", Title: "time to first token from the intended send", Kind: PerRequest, Unit: unit.Nanosecond, Better: Lower,
		Formula: "first_token - scheduled_send = ttft_client + client_wait",
		Inputs:  []trace.Col{trace.ScheduledSend, trace.DClientWait, trace.FirstToken}, Reasons: []Reason{NoToken, NotStreamed, NotRecorded, Clock, Order},
		Doc: "What a user of an overloaded client sees: a limit on concurrency holds requests back before ttft begins.", Source: ours,
	},
	{
		Name: "ttft_upper", Title: "upper end of TTFT where only the first event is recorded", Kind: PerRequest, Unit: unit.Nanosecond, Better: Lower,
		Formula: "first_event + first chunk gap - start",
		Inputs:  []trace.Col{trace.FirstEvent, trace.ChunkGaps}, Reasons: []Reason{NotEvent, NotRecorded, NLessThan2, NotStreamed},
		Doc: "If the first event is a chunk that carries a role and no token, the first token came with the second one. " +
			"Where this moves the mean by more than 5 % the note role_chunk_possible says so: the truth is one of the two.",
		Source: ours,
	},
	{
		Name: "client_wait", Title: "wait inside the client before sending", Kind: PerRequest, Unit: unit.Nanosecond, Better: Lower,
		Formula: "sent - scheduled_send, or as the client reports it",
		Inputs:  []trace.Col{trace.ScheduledSend, trace.Sent, trace.DClientWait}, Reasons: []Reason{NotRecorded, Clock, Order},
		Source: ours,
	},
	{
		Name: "first_event", Title: "time to the first event of the stream", Kind: PerRequest, Unit: unit.Nanosecond, Better: Lower,
		Formula: "first_event - start", Inputs: []trace.Col{trace.FirstEvent}, Reasons: []Reason{NotRecorded, NotStreamed, Clock, Order},
		Doc: "The first event may be a role chunk without a token; it is never called TTFT.", Source: ours,
	},
	{
		Name: "ttfot", Title: "time to first token of the answer", Kind: PerRequest, Unit: unit.Nanosecond, Better: Lower, Occasional: true,
		Formula: "first_answer_token - start", Inputs: []trace.Col{trace.FirstAnswerToken, trace.TokenKind},
		Reasons: []Reason{NoToken, NoAnswerToken, NotStreamed, NotRecorded, Clock, Order},
		Doc:     "Reasoning comes before the answer. Where a model does not reason it equals ttft.", Source: ours,
	},
	{
		Name: "thinking_time", Title: "time spent on reasoning", Kind: PerRequest, Unit: unit.Nanosecond, Better: Neither, Occasional: true,
		Formula: "first_answer_token - first_token", Inputs: []trace.Col{trace.FirstToken, trace.FirstAnswerToken},
		Reasons: []Reason{NoToken, NoAnswerToken, NotStreamed, NotRecorded, Clock, Order}, Source: ours,
	},
	{
		Name: "tpot", Title: "time per output token after the first", Kind: PerRequest, Unit: unit.NSPerToken, Better: Lower,
		Formula: "(last_token - first_token) / (N - 1)",
		Inputs:  []trace.Col{trace.FirstToken, trace.LastToken, trace.OutputTokens},
		Reasons: []Reason{NoToken, NLessThan2, NUnknown, Beam, NotStreamed, NotRecorded, Clock, Order, NoSpan},
		Doc: "Both stamps are of one side; where the last token has none, the engine's own d_decode is their difference. N is the server's count where there is one, never the requested length. " +
			"Undefined for N < 2 and where all tokens came at one instant; such requests are counted, not averaged in as 0.",
		Source: ours,
	},
	{
		Name: "tpot_from_total", Title: "TPOT with the end of the response as its end", Kind: PerRequest, Unit: unit.NSPerToken, Better: Lower,
		Formula: "(finished - first_token) / (N - 1)",
		Inputs:  []trace.Col{trace.FirstToken, trace.Finished, trace.OutputTokens},
		Reasons: []Reason{NoToken, NLessThan2, NUnknown, Beam, NotStreamed, NotRecorded, Clock, Order, NoSpan},
		Doc:     "The textbook form (T_total - TTFT)/(N - 1): it equals tpot only if the response ends at the last token. The difference is noted.", Source: ours,
	},
	{
		Name: "tpot_after_first_chunk", Title: "TPOT of the tokens after the first chunk", Kind: PerRequest, Unit: unit.NSPerToken, Better: Lower,
		Formula: "(last_token - first_token) / (N - tokens in the first chunk)",
		Inputs:  []trace.Col{trace.FirstToken, trace.LastToken, trace.OutputTokens, trace.FirstChunkTokens},
		Reasons: []Reason{NoToken, NLessThan2, NUnknown, Beam, NotStreamed, NotRecorded, Clock, Order, NoSpan},
		Doc:     "Tokens that come together with the first one took no decode time of their own.", Source: ours,
	},
	{
		Name: "ntpot", Title: "normalised time per output token: end-to-end latency per token", Kind: PerRequest, Unit: unit.NSPerToken, Better: Lower,
		Formula: "e2e / N", Inputs: []trace.Col{trace.LastToken, trace.OutputTokens},
		Reasons: []Reason{NoToken, NUnknown, NotRecorded, Clock, Order},
		Doc:     "Includes TTFT, so it falls with N where tpot does not. inference-perf and llm-d report it.", Source: ours,
	},
	{
		Name: "chunk_gap", Title: "time between chunks that carry tokens", Kind: Pooled, Unit: unit.Nanosecond, Better: Lower,
		Formula: "differences of consecutive token-bearing chunks, those of all requests pooled",
		Inputs:  []trace.Col{trace.ChunkGaps}, Reasons: []Reason{NoToken, NLessThan2, NotStreamed, NotRecorded},
		Doc: "Many tools call it ITL. A chunk may carry several tokens (speculative decoding, buffering): then it is not the latency of a token. " +
			"Pooled means that long requests weigh more than in tpot. TTFT is never one of the gaps.",
		Source: ours,
	},
	{
		Name: "engine_step", Title: "time from engine step to engine step", Kind: Pooled, Unit: unit.Nanosecond, Better: Lower, Occasional: true,
		Formula: "differences of the ends of consecutive engine steps of a replica, those of all replicas pooled",
		Inputs:  []trace.Col{}, Reasons: []Reason{NotRecorded},
		Doc: "What profiler traces and spans of schedulers give; n counts steps, whatever they did but for dummy ones. A chunk gap holds one or more of them, and delivery. " +
			"Logs that state the time inside of steps, or a mean of several, give none: see their steps.",
		Source: ours,
	},
	{
		Name: "token_latency", Title: "time per token, smoothed over its chunk", Kind: Pooled, Unit: unit.NSPerToken, Better: Lower,
		Formula: "chunk gap / k, repeated k times, for every chunk of k tokens after the first",
		Inputs:  []trace.Col{trace.ChunkGaps, trace.ChunkTokens}, Reasons: []Reason{NoToken, NLessThan2, NotStreamed, NotRecorded},
		Doc: "Needs to know how many tokens each chunk carries, or that all chunks carry one: then it equals chunk_gap. Where some requests tell the tokens of each chunk it is over those and the ones with as many tokens as chunks, and a note counts the others. Quotients are rounded to 1/1024 ns.", Source: ours,
	},
	{
		Name: "e2e", Title: "end-to-end latency", Kind: PerRequest, Unit: unit.Nanosecond, Better: Lower,
		Formula: "last_token - start",
		Inputs:  []trace.Col{trace.Sent, trace.Received, trace.LastToken, trace.Finished}, Reasons: []Reason{NoToken, NotRecorded, Clock, Order},
		Doc:    "Ends at the last token, so that E2E = TTFT + TPOT·(N - 1). Where a source records no last token the end of the response stands in, labelled stream_end.",
		Source: ours,
	},
	{
		Name: "e2e_stream_end", Title: "end-to-end latency to the end of the response", Kind: PerRequest, Unit: unit.Nanosecond, Better: Lower,
		Formula: "finished - start", Inputs: []trace.Col{trace.Sent, trace.Received, trace.Finished}, Reasons: []Reason{NotRecorded, Clock, Order},
		Doc: "Includes the usage chunk and closing the stream. Responses without any token count here.", Source: ours,
	},
	{
		Name: "e2e_from_schedule", Title: "end-to-end latency from the intended send", Kind: PerRequest, Unit: unit.Nanosecond, Better: Lower,
		Formula: "e2e + client_wait", Inputs: []trace.Col{trace.ScheduledSend, trace.DClientWait, trace.LastToken}, Reasons: []Reason{NoToken, NotRecorded, Clock, Order},
		Source: ours,
	},
}
