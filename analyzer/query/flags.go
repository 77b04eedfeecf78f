package query

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"servescope/analyzer/unit"
)

// Dimensions are the names that --by accepts, in the order of its help text.
// Token counts are grouped into buckets of powers of two. run is the record
// within a file, and file is the input.
var Dimensions = []string{
	"model", "tenant", "replica", "status", "side", "lora", "engine", "finish_reason", "error_class",
	"prompt_tokens", "cached_tokens", "output_tokens", "run", "file",
}

// ParseBy parses a list of dimensions: "model,tenant".
func ParseBy(text string) ([]string, error) {
	const flag = "--by"
	var by []string
	for _, name := range strings.Split(text, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(Dimensions, name) {
			return nil, errorf(flag, Suggest(name, Dimensions), "unknown dimension %s", quote(name))
		}
		if slices.Contains(by, name) {
			return nil, errorf(flag, "name each dimension once", "%s is given twice", name)
		}
		by = append(by, name)
	}
	return by, nil
}

// ParseWindow parses the length of a time window, in ns: "10s".
func ParseWindow(text string) (int64, error) {
	return positive("--window", strings.TrimSpace(text))
}

// ParseInstant parses a point in time as the value of the given flag ("--from").
// See the package comment for the forms.
func ParseInstant(flag, text string) (*Instant, error) {
	const forms = "write 2026-01-31T14:05:00Z, epoch seconds, or +30s from the start of the run"
	text = strings.TrimSpace(text)
	if offset, ok := strings.CutPrefix(text, "+"); ok {
		ns, err := duration(flag, offset)
		if err != nil {
			return nil, err
		}
		if ns < 0 {
			return nil, errorf(flag, forms, "%s is before the run", quote(text))
		}
		return &Instant{NS: ns, Relative: true}, nil
	}
	if ns, err := parseTime(text); err == nil {
		return &Instant{NS: ns}, nil
	} else if err == errRange {
		return nil, errorf(flag, "times from 1678 to 2262 can be used", "%s is out of range", quote(text))
	}
	if ns, err := parseEpoch(text); err == nil {
		return &Instant{NS: ns}, nil
	} else if err == errRange {
		return nil, errorf(flag, "give epoch seconds, not milli- or nanoseconds", "%s is out of range", quote(text))
	}
	if _, err := duration("", text); err == nil {
		return nil, errorf(flag, "write +"+strings.TrimPrefix(text, "-")+" for an offset from the start of the run", "%s is not a point in time", quote(text))
	}
	return nil, errorf(flag, forms, "%s is not a point in time", quote(text))
}

var errRange = errors.New("out of range")

// parseTime parses an RFC 3339 time into ns since the Unix epoch.
func parseTime(text string) (int64, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return 0, err
	}
	if y := t.Year(); y < 1678 || y > 2261 { // the years that int64 ns hold entirely
		return 0, errRange
	}
	return t.UnixNano(), nil
}

// parseEpoch parses decimal seconds into ns, exactly. Digits after the ninth
// decimal are cut.
func parseEpoch(text string) (int64, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	seconds, err := strconv.ParseUint(whole, 10, 63)
	if err != nil {
		if errors.Is(err, strconv.ErrRange) {
			return 0, errRange
		}
		return 0, err
	}
	if strings.Trim(fraction, "0123456789") != "" {
		return 0, strconv.ErrSyntax
	}
	if seconds > math.MaxInt64/1_000_000_000-1 {
		return 0, errRange
	}
	ns, _ := strconv.ParseUint((fraction + "000000000")[:9], 10, 63)
	return int64(seconds)*1e9 + int64(ns), nil
}

// ParseTrim parses which edges of a run to leave out: "steady", "warmup=30s" or
// "warmup=100" (requests).
func ParseTrim(text string) (Trim, error) {
	const flag, forms = "--trim", "write steady, warmup=30s or warmup=100"
	text = strings.TrimSpace(text)
	if text == "steady" {
		return Trim{Steady: true}, nil
	}
	value, ok := strings.CutPrefix(text, "warmup=")
	if !ok {
		return Trim{}, errorf(flag, forms, "unknown trim %s", quote(text))
	}
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		if n <= 0 {
			return Trim{}, errorf(flag, forms, "warmup=%d removes nothing", n)
		}
		return Trim{Count: n}, nil
	}
	ns, err := positive(flag, value)
	return Trim{Warmup: ns}, err
}

// ParseSLO parses the conditions of a service-level objective:
// "ttft=500ms,tpot.client=50ms".
func ParseSLO(text string) ([]Limit, error) {
	const flag, form = "--slo", "write METRIC=DURATION as in ttft=500ms,tpot=50ms"
	var out []Limit
	for _, part := range strings.Split(text, ",") {
		name, value, ok := strings.Cut(part, "=")
		name = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(name), "<")) // ttft<=500ms means the same
		if !ok {
			return nil, errorf(flag, form, "%s is not a condition", quote(strings.TrimSpace(part)))
		}
		given := name
		if name, ok = metricNamed(given); !ok {
			return nil, errorf(flag, Suggest(given, Metrics), "unknown metric %s", quote(given))
		}
		if slices.ContainsFunc(out, func(l Limit) bool { return l.Metric == name }) {
			return nil, errorf(flag, "give each metric one limit", "%s is given twice", name)
		}
		ns, err := positive(flag, strings.TrimSpace(value))
		if err != nil {
			return nil, err
		}
		out = append(out, Limit{Metric: name, Max: ns})
	}
	return out, nil
}

// ParseAborts parses how aborted requests count in goodput: "missed" or "exclude".
func ParseAborts(text string) (exclude bool, err error) {
	switch text = strings.TrimSpace(text); text {
	case "missed", "exclude":
		return text == "exclude", nil
	}
	return false, errorf("--aborts", "write missed or exclude", "unknown way to count aborted requests: %s", quote(text))
}

// ParseRanks parses percentiles, "50,99,99.9", into quantiles in (0,1), in
// ascending order. A leading p is allowed: "p50,p99".
func ParseRanks(text string) ([]float64, error) {
	const flag = "--percentiles"
	var out []float64
	for _, part := range strings.Split(text, ",") {
		part = strings.TrimPrefix(strings.TrimSpace(part), "p")
		percent, err := strconv.ParseFloat(part, 64)
		if err != nil || strings.ContainsAny(part, "eExXpP_") {
			return nil, errorf(flag, "write numbers as in 50,99,99.9", "%s is not a percentile", quote(part))
		}
		if 0 < percent && percent < 1 {
			return nil, errorf(flag, "percentiles are written in percent: 99, not 0.99", "%s is below 1", part)
		}
		if !(0 < percent && percent < 100) { // NaN too
			return nil, errorf(flag, "choose between 1 and 99.999…; minimum and maximum are always shown", "%s is not a percentile", part)
		}
		rank, _ := strconv.ParseFloat(part+"e-2", 64) // the float64 nearest to the decimal, which part/100 need not be
		if rank >= 1 {
			return nil, errorf(flag, "the maximum is always shown", "%s is too close to 100", part)
		}
		out = append(out, rank)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// duration parses a duration in ns, exactly; a leading minus sign is allowed.
func duration(flag, text string) (int64, error) {
	rest, negative := strings.CutPrefix(text, "-")
	ns, err := unit.ParseDuration(rest)
	if err == nil && negative {
		ns = -ns
	}
	if err == nil {
		return ns, nil
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return 0, errorf(flag, "write "+text+"s or "+text+"ms", "%s has no unit", quote(text))
	}
	return 0, errorf(flag, "write a number with ns, us, ms, s, m, h or d", "%s is not a duration", quote(text))
}

// positive parses a duration above 0.
func positive(flag, text string) (int64, error) {
	ns, err := duration(flag, text)
	if err == nil && ns <= 0 {
		err = errorf(flag, "give a duration above 0", "%s is not above 0", quote(text))
	}
	return ns, err
}
