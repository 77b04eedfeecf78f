package mapping

import (
	"strings"

	"servescope/analyzer/trace"
)

// role is the meaning of a column.
type role uint8

const (
	noRole role = iota
	arrival
	sent
	firstToken
	lastToken
	finished
	e2e // before ttft, whose unit may follow from that of e2e
	ttft
	tpot
	gaps
	times
	prompt
	output
	cached
	reasoning
	id
	model
	status
	failure
	reason
	stream
	tenant
	replica
	event
	roles
)

// class is the kind of values that a role has.
type class uint8

const (
	stamp class = iota + 1
	span
	spans
	stamps
	count
	text
)

// roleInfo holds, for each role, its name in mappings, the class of its values, the
// column of the requests table that it fills directly, and the names of columns that have
// it, the best first, as splitName writes them.
var roleInfo = [roles]struct {
	name  string
	class class
	col   trace.Col
	names string
}{
	arrival: {"arrival", stamp, trace.Received, " arrival arrival_time arrival_ts arrival_timestamp arrived arrived_at received received_at receive_time received_ts" +
		" request_start request_start_time request_started_at request_timestamp request_ts request_received_at start_time start_ts start_timestamp started_at started start t_start" +
		" created_at created create_time timestamp ts time datetime date date_time asctime event_time event_timestamp msec time_local time_iso8601 logged_at log_time request_time at "},
	sent: {"sent", stamp, trace.Sent, " sent sent_at send_time sent_ts request_sent request_sent_at client_sent client_send_time client_start "},
	firstToken: {"first_token", stamp, trace.FirstToken, " first_token first_token_time first_token_at first_token_ts first_token_timestamp" +
		" first_chunk first_chunk_time first_chunk_at completion_start_time t_first t_first_token "},
	lastToken: {"last_token", stamp, trace.LastToken, " last_token last_token_time last_token_at last_token_ts last_token_timestamp last_chunk_at last_chunk_time "},
	finished: {"finished", stamp, trace.Finished, " finished finished_at finish_time finished_ts finish_ts finish t_end end_time end_ts end_timestamp ended_at ended end" +
		" completed_at completed completion_time done_at response_at response_sent_at "},
	ttft: {"ttft", span, 0, " ttft time_to_first_token first_token_latency time_to_first_chunk first_token_delay first_chunk_latency "},
	e2e: {"e2e", span, 0, " e2e e2e_latency end_to_end_latency e2e_time total_latency latency total_time total_duration duration elapsed elapsed_time" +
		" request_time request_duration request_latency response_time response_latency process_time processing_time time_taken took "},
	tpot:  {"tpot", span, 0, " tpot time_per_output_token mean_tpot avg_tpot itl inter_token_latency mean_itl avg_itl "},
	gaps:  {"itl", spans, 0, " itl itls inter_token_latencies inter_token_latency token_gaps chunk_gaps gaps token_deltas "},
	times: {"token_times", stamps, 0, " token_times token_timestamps token_ts chunk_times chunk_timestamps chunk_ts "},
	prompt: {"prompt_tokens", count, trace.PromptTokens, " prompt_tokens input_tokens num_prompt_tokens n_prompt_tokens prompt_token_count input_token_count" +
		" prompt_length input_length prompt_len input_len tokens_in in_tokens tokens_prompt tokens_input isl "},
	output: {"output_tokens", count, trace.OutputTokens, " completion_tokens output_tokens generated_tokens num_output_tokens num_completion_tokens n_output_tokens" +
		" completion_token_count output_token_count candidates_token_count generated_token_count new_tokens response_tokens tokens_generated" +
		" completion_length output_length output_len tokens_out out_tokens tokens_completion tokens_output osl "},
	cached:    {"cached_tokens", count, trace.CachedTokens, " cached_tokens cache_read_input_tokens cache_read_tokens prompt_cached_tokens cached_prompt_tokens num_cached_tokens cached_input_tokens "},
	reasoning: {"reasoning_tokens", count, trace.ReasoningTokens, " reasoning_tokens thinking_tokens "},
	id:        {"id", text, trace.RequestID, " request_id req_id requestid rid x_request_id request_uuid completion_id call_id correlation_id id uuid "},
	model:     {"model", text, trace.Model, " model model_name model_id request_model "},
	status:    {"status", text, 0, " status_code http_status http_status_code response_status status state outcome result success ok code "},
	failure:   {"error", text, 0, " error error_type error_class error_code error_message err exception "},
	reason:    {"finish_reason", text, trace.FinishReason, " finish_reason stop_reason "},
	stream:    {"stream", text, 0, " stream streaming is_stream "},
	tenant:    {"tenant", text, trace.Tenant, " tenant tenant_id team team_id org organization customer customer_id "},
	replica:   {"replica", text, trace.Replica, " replica instance pod pod_name host hostname node "},
	event:     {"event", text, 0, " event event_name event_type type phase stage msg message "},
}

// roleOf returns the role of a name in a mapping, or noRole.
func roleOf(name string) role {
	for r := noRole + 1; r < roles; r++ {
		if roleInfo[r].name == name {
			return r
		}
	}
	return noRole
}

// roleNames lists the roles for a message.
func roleNames() string {
	var names []string
	for r := noRole + 1; r < roles; r++ {
		names = append(names, roleInfo[r].name)
	}
	return strings.Join(names, ", ")
}
