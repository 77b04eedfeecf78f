package servebench

import (
	"fmt"
	"strconv"
	"strings"

	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats/internal/json"
	"servescope/formats/internal/numx"
)

// latencies maps the names in keys such as "p99_itl_ms" to our metrics.
var latencies = map[string]string{
	"ttft": "ttft", "tpot": "tpot", "itl": "chunk_gap", "e2el": "e2e", "e2e_latency": "e2e",
	"client_queue_time": "client_wait", "e2el_including_client_queue": "e2e_from_schedule",
}

// figure is one aggregate that is no latency. The sums behind the rates are
// those of the client's own duration and count of tokens.
type figure struct {
	metric string
	unit   unit.Unit
}

var figures = map[string]figure{
	"request_throughput":                  {"request_rate_ok", unit.PerSecond},
	"request_inthroughput":                {"request_rate_ok", unit.PerSecond}, // misspelt in vLLM v0.3
	"request_goodput":                     {"goodput", unit.PerSecond},
	"request_goodput:":                    {"goodput", unit.PerSecond}, // sic, vLLM v0.6.4 to v0.9.1
	"input_throughput":                    {"tps_prompt", unit.TokenRate},
	"output_throughput":                   {"tps_ok", unit.TokenRate},
	"total_token_throughput":              {"tps_end_to_end", unit.TokenRate},
	"total_throughput":                    {"tps_end_to_end", unit.TokenRate},
	"max_output_tokens_per_s":             {"", unit.TokenRate}, // counts chunks
	"max_concurrent_requests":             {"", unit.Request},   // counts one-second buckets touched
	"concurrency":                         {"concurrency_little", unit.None},
	"completed":                           {"requests.ok", unit.Request},
	"failed":                              {"requests.failed", unit.Request},
	"total_input_tokens":                  {"prompt_tokens", unit.Token},
	"total_input_text_tokens":             {"", unit.Token},
	"total_output_tokens":                 {"output_tokens", unit.Token},
	"total_input_sequences":               {"", unit.None},
	"input_sequence_throughput":           {"", unit.PerSecond},
	"total_output_tokens_retokenized":     {"", unit.Token},
	"total_input_vision_tokens":           {"", unit.Token},
	"accept_length":                       {"", unit.Token},
	"rtfx":                                {"", unit.None},
	"spec_decode_acceptance_rate":         {"", unit.None}, // a percentage; scaled below
	"spec_decode_acceptance_length":       {"", unit.Token},
	"spec_decode_num_drafts":              {"", unit.None},
	"spec_decode_draft_tokens":            {"", unit.Token},
	"spec_decode_accepted_tokens":         {"", unit.Token},
	"probe_completed":                     {"", unit.Request},
	"probe_failed":                        {"", unit.Request},
	"cache_report.total_prompt_tokens":    {"", unit.Token},
	"cache_report.total_cached_tokens":    {"", unit.Token},
	"cache_report.device_cached_tokens":   {"", unit.Token},
	"cache_report.host_cached_tokens":     {"", unit.Token},
	"cache_report.storage_cached_tokens":  {"", unit.Token},
	"cache_report.cache_hit_rate_pct":     {"", unit.None},
	"steady_state.request_throughput":     {"", unit.PerSecond},
	"steady_state.input_throughput":       {"", unit.TokenRate},
	"steady_state.output_throughput":      {"", unit.TokenRate},
	"steady_state.total_token_throughput": {"", unit.TokenRate},
}

// Reported returns what the producer itself computed, in base units and in the
// order of the file. Figures that are no number (NaN where nothing succeeded)
// are left out, and so are latencies of 0 where by the client's count no request
// succeeded; see NothingSucceeded. Figures of a part of the run have no metric
// of ours.
func (r *Record) Reported() []trace.Reported {
	var list []trace.Reported
	for i := range r.Settings {
		s := &r.Settings[i]
		if v, ok := s.number(); ok && s.Kind == json.Number {
			if rep, ok := reported(s.Key, v); ok && !r.placeholder(s) {
				if rep.Unit == unit.Nanosecond && !strings.ContainsAny(s.Text, "eE") {
					rep.Value, _, _ = numx.ParseFloat([]byte(s.Text + "e6")) // rounds once
				}
				list = append(list, rep)
			}
		}
	}
	return list
}

// NothingSucceeded returns a note for a record whose client counts no success
// and nevertheless gives latencies, which are 0; else "".
func (r *Record) NothingSucceeded() string {
	n := 0
	for i := range r.Settings {
		if r.placeholder(&r.Settings[i]) {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("nothing_succeeded: by the client's count no request succeeded; its %d latencies of 0 are no measurements and are left out", n)
}

// placeholder tells whether a setting is a latency of 0 over no request.
func (r *Record) placeholder(s *Setting) bool {
	v, ok := s.number()
	if !ok || v != 0 || s.Kind != json.Number {
		return false
	}
	rep, ok := reported(s.Key, v)
	completed, counted := r.Number("completed")
	return ok && rep.Unit == unit.Nanosecond && counted && completed == 0
}

// Figure returns a figure that a benchmark client computed, by its key in a result
// and its text, in base units. ok is false for settings and for what is no number.
func Figure(key, text string) (rep trace.Reported, ok bool) {
	v, n, ok := numx.ParseFloat([]byte(text))
	if !ok || n != len(text) {
		return rep, false
	}
	if rep, ok = reported(key, v); ok && rep.Unit == unit.Nanosecond && !strings.ContainsAny(text, "eE") {
		rep.Value, _, _ = numx.ParseFloat([]byte(text + "e6")) // rounds once
	}
	return rep, ok
}

func reported(key string, v float64) (trace.Reported, bool) {
	if f, ok := figures[key]; ok {
		if strings.HasSuffix(key, "_rate_pct") || key == "spec_decode_acceptance_rate" {
			return trace.Reported{Key: key, Stat: "value", Value: v / 100, Unit: unit.Ratio}, true
		}
		return trace.Reported{Key: key, Metric: f.metric, Stat: "value", Value: v, Unit: f.unit}, true
	}
	prefix, name := "", key
	for _, p := range []string{"steady_state.", "probe_"} {
		if rest, ok := strings.CutPrefix(key, p); ok {
			prefix, name = p, rest
		}
	}
	name, ok := strings.CutSuffix(name, "_ms")
	stat, name, found := strings.Cut(name, "_")
	if stat = Statistic(stat); !ok || !found || stat == "" {
		return trace.Reported{}, false
	}
	metric, ok := latencies[name]
	if prefix != "" {
		metric = ""
	}
	return trace.Reported{Key: key, Metric: metric, Stat: stat, Value: v * 1e6, Unit: unit.Nanosecond}, ok
}

// Statistic returns our name of the statistic in a key, or "": "p99.9" is "0.999".
func Statistic(s string) string {
	switch s {
	case "mean", "std", "min", "max":
		return s
	case "avg", "average":
		return "mean"
	case "stddev", "std_dev":
		return "std"
	case "median":
		return "0.5"
	}
	p, ok := strings.CutPrefix(s, "p")
	if !ok || p == "" || strings.Trim(p, "0123456789.") != "" {
		return ""
	}
	whole, fraction, _ := strings.Cut(p, ".")
	if len(whole) > 2 {
		return ""
	}
	for len(whole) < 2 {
		whole = "0" + whole
	}
	q := strings.TrimRight("0."+whole+fraction, "0")
	if f, err := strconv.ParseFloat(q, 64); err != nil || f <= 0 {
		return ""
	}
	return q
}

// secret marks settings that are not for a report: what was sent and
// generated, and what gives access.
var secret = []string{"prompt", "text", "content", "message", "response", "api_key", "password", "secret", "authorization"}

// maxPair is the longest value of a setting that is worth showing.
const maxPair = 200

// Config returns the settings of the run that are no figures and no nulls, in
// the order of the file; of nested objects only those in keep.
func (r *Record) Config(keep map[string]bool) []trace.Pair {
	var list []trace.Pair
	for i := range r.Settings {
		s := &r.Settings[i]
		switch {
		case s.Kind == json.Null, s.Text == "", s.Key == "duration", s.Nested && !keep[s.Key]:
			continue
		case s.Kind == json.String && private(s):
			continue
		case s.Kind == json.Number:
			v, _ := s.number()
			if _, figure := reported(s.Key, v); figure || s.Text == "NaN" {
				continue
			}
		}
		list = append(list, trace.Pair{Key: s.Key, Value: strings.Replace(s.Text, "Infinity", "inf", 1)})
	}
	return list
}

// private tells whether a string may hold what must not be shown.
func private(s *Setting) bool {
	if len(s.Text) > maxPair {
		return true
	}
	key := strings.ToLower(s.Key)
	for _, word := range secret {
		if strings.Contains(key, word) {
			return true
		}
	}
	return false
}
