package render

import (
	"strconv"
	"strings"

	"servescope/analyzer/unit"
)

// reasons words the codes that stand beside null and in exclusions, so that
// "8 " and the text read as a phrase.
var reasons = map[string]string{
	"failed":           "failed",
	"aborted":          "aborted",
	"empty":            "without any token",
	"open":             "still open",
	"head_missing":     "begun before the log",
	"no_token":         "without any token",
	"n_lt_2":           "with fewer than two output tokens",
	"n_unknown":        "with unknown output length",
	"not_streamed":     "not streamed",
	"not_recorded":     "not recorded",
	"clock":            "without a common clock",
	"clock_mismatch":   "without a common clock",
	"not_joined":       "not linked with a row of that side",
	"not_bounded":      "no message bounds it",
	"node_level":       "of a node, whose token is not the request's",
	"order":            "with stamps out of order",
	"resolution":       "finer than the clock resolves",
	"beam":             "with beam search",
	"preempted":        "preempted",
	"coverage":         "not every replica reports",
	"no_requests":      "no requests",
	"no_times":         "no common clock",
	"not_finite":       "not a finite number",
	"broken_producer":  "written by a producer known to be wrong here",
	"outside_total":    "outside the total",
	"accepted_unknown": "with unknown accepted tokens",
	"few_steps":        "too few steps",
	"no_answer_token":  "without an answer",
	"no_span":          "without a span of time",
	"filtered":         "of a part of the requests only",
	"not_resident":     "not held in memory: ask for --trim steady",
	"overlap":          "stages of two nodes overlap",
	"population":       "of other requests",
	"not_separable":    "not separable",
	"too_many":         "too many buckets of time",
	"single_step":      "only one step",
	"no_step_range":    "steps without ranges that name them",
	"pipeline":         "several pipeline ranks work on a token in turn",
	"merged":           "not separable",
	"async":            "steps overlap: the engine schedules ahead",
	"inconsistent":     "with counts that contradict each other",
	"not_defined":      "no such figure in this definition set",
	"no_client_count":  "without a client's count of the text",

	"steps_not_resolvable": "steps not resolvable",
	"not_stationary":       "not stationary",
	"not_identifiable":     "not identifiable",
	"unexplained_stalls":   "unexplained stalls",
	"wide_interval":        "interval too wide",

	"first_token_recorded":   "first token is recorded itself",
	"comm_not_recognised":    "no communication kernel was recognised",
	"event_without_launch":   "over 1 % of the device's time has no launching call",
	"out_of_range":           "beyond 64 bits",
	"bucket_longer_than_run": "shorter than a second",
}

// words returns a note without the code in front of it: "few_values: …". Times in
// ns are scaled.
func words(note string) string {
	code, text, ok := strings.Cut(note, ": ")
	if !ok || strings.Trim(code, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return scaled(note)
	}
	return scaled(text)
}

// scaled returns a text with its whole numbers of ns in units that fit them:
// "113.5 ms" for "113483682 ns".
func scaled(text string) string {
	var out strings.Builder
	for {
		at := strings.Index(text, " ns")
		if at < 0 {
			return out.String() + text
		}
		from, end := at, at+len(" ns")
		for from > 0 && text[from-1] >= '0' && text[from-1] <= '9' {
			from--
		}
		whole := from == 0 || text[from-1] == ' ' || text[from-1] == '('
		n, err := strconv.ParseInt(text[from:at], 10, 64)
		if whole && err == nil && (end == len(text) || !('a' <= text[end] && text[end] <= 'z')) {
			out.WriteString(text[:from] + unit.Format(unit.Nanosecond, float64(n)))
		} else {
			out.WriteString(text[:end])
		}
		text = text[end:]
	}
}

// reason words a code; an unknown one is printed as it is.
func reason(code string) string {
	if s, ok := reasons[code]; ok {
		return s
	}
	if code == "" {
		return "no reason given"
	}
	return strings.ReplaceAll(code, "_", " ")
}
