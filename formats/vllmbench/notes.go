package vllmbench

import (
	"servescope/analyzer/trace"
	"servescope/formats/internal/servebench"
)

// notes returns what a reader of the numbers must know, each beginning with a
// code.
func notes(r *servebench.Record, m *trace.RunMeta, rules servebench.Rules, dated bool) (list []string) {
	note := func(when bool, text string) {
		if when {
			list = append(list, text)
		}
	}
	arrays := r.Has("ttfts")
	_, limited := r.Number("max_concurrency")
	_, paced := r.Number("request_rate")
	note(rules.RoleChunk && (arrays || r.Has("mean_ttft_ms")), "role_chunk_possible: this client takes the first chunk for the first token, also one that only names the role; the first gap then belongs to the TTFT")
	note(rules.NoTokens, "pooling: the requests generate no tokens; a request without an error is ok")
	note(dated, "definition_by_date: the keys are those of v0.6.4 to v0.7.3, which measured in two ways; the date decided for "+m.DefaultDefinition)
	note(arrays && !r.Broken && m.Clock.Kind == trace.RequestClock, "no_start_times: the send times are not recorded, so requests have no order in time: no concurrency, no windows")
	note(m.Clock.Kind == trace.Monotonic, "monotonic_start_times: start_times count from the boot of the client's host; order and spacing are real, the time of day is not recorded")
	note(limited && paced && !r.Has("queue_times"), "client_wait_not_recorded: with max_concurrency and a request rate, requests wait inside the client before the send; the file does not say how long")
	note(arrays && rules.Source == trace.FromClient, "client_counts: output tokens were counted by re-tokenising the text")
	note(r.Has("max_output_tokens_per_s"), "peak_counts_chunks: max_output_tokens_per_s is the largest number of chunks, not tokens, in one second")
	note(r.Has("max_concurrent_requests"), "coarse_peak_concurrency: max_concurrent_requests counts every request that touches a one-second bucket, which is too many")
	note(r.Has("ttft_description"), "structured_output: written by the structured-output benchmark; its aggregates are over all requests, failed ones included")
	empty := r.NothingSucceeded()
	note(empty != "", empty)
	return list
}
