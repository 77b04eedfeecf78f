package mapping

import (
	"bytes"
	"strings"
	"unicode"

	"servescope/analyzer/trace"
)

// role is what a column means.
type role uint8

const (
	noRole role = iota
	arrival
	sent
	firstToken
	lastToken
	finished
	e2e // before ttft, whose unit may follow from it
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

// class is what kind of values a role has.
type class uint8

const (
	stamp class = iota + 1
	span
	spans
	stamps
	count
	text
)

// about says of every role how it is named in mappings, what values it has, which
// column of the requests table it fills where it does so directly, and under
// which names it is found, the best first. Names are those that words makes.
var about = [roles]struct {
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

// roleOf returns the role of a name in a mapping.
func roleOf(name string) role {
	for r := noRole + 1; r < roles; r++ {
		if about[r].name == name {
			return r
		}
	}
	return noRole
}

// roleNames lists the roles for people.
func roleNames() string {
	var names []string
	for r := noRole + 1; r < roles; r++ {
		names = append(names, about[r].name)
	}
	return strings.Join(names, ", ")
}

// words takes a name apart into lower-case words joined by _, whatever its style
// (ttft_ms, ttftMs, TTFT (ms), $request_time), and takes the unit off its end.
// levels are where the words of each level of nesting begin.
func words(name string) (joined string, levels []int, u unit) {
	var b strings.Builder
	runes := []rune(name)
	fresh := true
	levels = append(levels, 0)
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			fresh = true
			if r == '.' && b.Len() > 0 {
				levels = append(levels, b.Len()+1)
			}
			continue
		}
		if upper(r) && r > '9' && i > 0 && (lower(runes[i-1]) || i+1 < len(runes) && lower(runes[i+1]) && upper(runes[i-1]) && !plural(runes[i+1:])) {
			fresh = true
		}
		if fresh && b.Len() > 0 {
			b.WriteByte('_')
		}
		fresh = false
		b.WriteRune(unicode.ToLower(r))
	}
	joined = b.String()
	if k := strings.LastIndexByte(joined, '_'); k > 0 {
		if u = unitOf(joined[k+1:]); u != noUnit && u < written {
			joined = strings.TrimSuffix(joined[:k], "_in")
		} else {
			u = noUnit
		}
	}
	return joined, levels, u
}

// upper tells whether a letter is a capital; digits may stand among these: E2E.
func upper(r rune) bool { return r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' }
func lower(r rune) bool { return r >= 'a' && r <= 'z' }

// plural tells whether the letters behind a capital are the s of a plural: ITLs.
func plural(rest []rune) bool {
	return rest[0] == 's' && (len(rest) == 1 || !lower(rest[1]) && !upper(rest[1]))
}

// outer are the names of levels and first words that say no more than that what
// follows is about the request.
const outer = " request req llm response resp usage metrics metric timing timings timestamps stats data attributes attrs fields payload body json_payload http server openai gen_ai log record source context extra meta metadata "

// match tells how well a column's name fits a role: the lower the better, -1 not
// at all.
func match(r role, joined string, levels []int) int {
	best := -1
	from := 0
	for n, level := range levels {
		if level > len(joined) {
			break
		}
		if n > 0 {
			from = level
		}
		rest := joined[min(from, len(joined)):]
		for dropped := 0; ; dropped++ {
			k := strings.Index(about[r].names, " "+rest+" ")
			plain := n == 0 || strings.Contains(rest, "_") || r == ttft || r == gaps || r == tpot || isOuter(joined[:from])
			if k >= 0 && rest != "" && plain && (best < 0 || k+1000*(n+dropped) < best) {
				best = k + 1000*(n+dropped)
			}
			first, after, more := strings.Cut(rest, "_")
			if !more || !strings.Contains(outer, " "+first+" ") {
				break
			}
			rest = after
		}
	}
	return best
}

// isOuter tells whether all levels of a prefix are outer ones.
func isOuter(prefix string) bool {
	prefix = strings.Trim(prefix, "_")
	for prefix != "" {
		if strings.Contains(outer, " "+prefix+" ") {
			return true
		}
		first, rest, _ := strings.Cut(prefix, "_")
		if !strings.Contains(outer, " "+first+" ") {
			return false
		}
		prefix = rest
	}
	return true
}

// statusOf reads how a request ended.
func statusOf(raw []byte) (s trace.Status, known bool) {
	if v, ok := number(raw, 0); ok {
		switch {
		case v == 499:
			return trace.Aborted, true
		case v >= 200 && v < 400 || v == 0:
			return trace.OK, v != 0
		case v >= 400 && v < 600:
			return trace.Failed, true
		}
		return 0, false
	}
	switch string(bytes.ToLower(bytes.TrimSpace(raw))) {
	case "ok", "success", "succeeded", "successful", "completed", "complete", "finished", "done", "true", "stop", "length":
		return trace.OK, true
	case "error", "failed", "failure", "fail", "timeout", "timed_out", "false", "exception", "rejected":
		return trace.Failed, true
	case "abort", "aborted", "cancelled", "canceled", "disconnected":
		return trace.Aborted, true
	case "empty":
		return trace.Empty, true
	}
	return 0, false
}

// isStatus tells whether a value says how a request ended.
func isStatus(raw []byte) bool {
	if _, known := statusOf(raw); known {
		return true
	}
	_, known := truthOf(raw)
	return known
}

// truthOf reads whether a request succeeded, written as 0 or 1.
func truthOf(raw []byte) (s trace.Status, known bool) {
	switch v, ok := float(raw); {
	case ok && v == 0:
		return trace.Failed, true
	case ok && v == 1:
		return trace.OK, true
	}
	return 0, false
}
