package gate

import (
	"slices"
	"strconv"
	"strings"

	"servescope/analyzer/query"
)

// million is the unit of shares: they are whole millionths, so that comparing
// with a count is exact.
const million = 1_000_000

// Rule says what a run must meet.
type Rule struct {
	Limits      []query.Limit // a request is good if it meets all of them
	Share       int64         // share of the requests that must be good, in millionths
	Percentiles []Percentile  // limits with a share of their own
	Compare     []string      // metrics whose mean must not grow against the baseline, or a quantile: "ttft:p99"
	Threshold   int64         // growth that is allowed, in millionths
}

// NewRule returns a rule without limits: all requests must be good, and the
// means of ttft, tpot and e2e may grow by at most 5 %.
func NewRule() *Rule {
	return &Rule{Share: million, Threshold: 50_000, Compare: []string{"ttft", "tpot", "e2e"}}
}

// Percentile is a limit that a share of the requests must meet.
type Percentile struct {
	query.Limit
	Share int64 // in millionths
}

// String returns the limit in the syntax of ParseLimits: "ttft:p99=500ms".
func (p Percentile) String() string {
	name, max, _ := strings.Cut(p.Limit.String(), "=")
	return name + ":p" + percent(p.Share) + "=" + max
}

// single returns the limits of the percentiles.
func (r *Rule) single() []query.Limit {
	out := make([]query.Limit, len(r.Percentiles))
	for i, p := range r.Percentiles {
		out[i] = p.Limit
	}
	return out
}

// ParseLimits parses limits separated by commas. Every good request must meet
// "ttft=500ms"; 99 % of the requests must meet "ttft:p99=500ms".
func ParseLimits(text string) (limits []query.Limit, percentiles []Percentile, err error) {
	const flag = "--slo"
	var plain []string
	for part := range strings.SplitSeq(text, ",") {
		left, max, ok := strings.Cut(part, "=")
		name, rank, ranked := strings.Cut(left, ":")
		if !ok || !ranked {
			plain = append(plain, part)
			continue
		}
		rank = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rank), "<")) // ttft:p99<=500ms means the same
		rank, ok = strings.CutPrefix(rank, "p")
		share, err := ParseShare(flag, rank)
		if !ok || err != nil || share == million {
			return nil, nil, &query.Error{Flag: flag, Msg: strconv.Quote(strings.TrimSpace(part)) + " names no percentile", Fix: "write METRIC:pN=DURATION as in ttft:p99=500ms"}
		}
		one, err := query.ParseSLO(name + "=" + max)
		if err != nil {
			return nil, nil, err
		}
		p := Percentile{one[0], share}
		for _, other := range percentiles {
			if other.Metric == p.Metric && other.Share == p.Share {
				return nil, nil, &query.Error{Flag: flag, Msg: p.Metric + ":p" + percent(p.Share) + " is given twice", Fix: "give each percentile one limit"}
			}
		}
		percentiles = append(percentiles, p)
	}
	if len(plain) > 0 {
		limits, err = query.ParseSLO(strings.Join(plain, ","))
	}
	return limits, percentiles, err
}

// ParseShare parses a percentage above 0 and up to 100, "95%" or "99.9", into
// millionths. flag is the name of the flag in errors.
func ParseShare(flag, text string) (int64, error) {
	ppm, err := parsePercent(flag, text)
	switch {
	case err != nil:
	case ppm == 0 || ppm > million:
		err = &query.Error{Flag: flag, Msg: strconv.Quote(text) + " is not above 0 % and up to 100 %", Fix: "write a percentage as in 95%"}
	case ppm < million/100 && !strings.HasSuffix(strings.TrimSpace(text), "%"):
		err = &query.Error{Flag: flag, Msg: strconv.Quote(text) + " is below 1 %", Fix: "shares are written in percent: 95%, not 0.95"}
	}
	return ppm, err
}

// ParseThreshold parses the growth that a mean may have, "5%", into millionths.
func ParseThreshold(text string) (int64, error) { return parsePercent("--threshold", text) }

// parsePercent parses a decimal of at most four places into millionths,
// exactly.
func parsePercent(flag, text string) (int64, error) {
	whole, fraction, _ := strings.Cut(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "%")), ".")
	n, err := strconv.ParseUint(whole, 10, 16)
	if err != nil || len(fraction) > 4 || strings.Trim(fraction, "0123456789") != "" {
		return 0, &query.Error{Flag: flag, Msg: strconv.Quote(text) + " is not a percentage", Fix: "write a number with up to four decimals, as in 95% or 99.9%"}
	}
	part, _ := strconv.ParseUint((fraction + "0000")[:4], 10, 16)
	return int64(n)*(million/100) + int64(part), nil
}

// ParseCompare parses names of Metrics separated by commas, each optionally
// with a percentile: "ttft,ttft:p99".
func ParseCompare(text string) ([]string, error) {
	const flag = "--compare"
	var out []string
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		metric, rank, ranked := strings.Cut(name, ":")
		if ranked && ranks[rank] == "" {
			return nil, &query.Error{Flag: flag, Msg: strconv.Quote(name) + " names a percentile that reports do not have", Fix: "write p50, p90, p95, p99 or p99.9, as in ttft:p99"}
		}
		if !slices.Contains(Metrics, metric) {
			return nil, &query.Error{Flag: flag, Msg: strconv.Quote(name) + " cannot be compared", Fix: query.Suggest(metric, Metrics)}
		}
		if slices.Contains(out, name) {
			return nil, &query.Error{Flag: flag, Msg: name + " is given twice", Fix: "name each metric once"}
		}
		out = append(out, name)
	}
	return out, nil
}

// percent writes millionths in percent, without the sign: "99.9".
func percent(ppm int64) string {
	s := strconv.FormatInt(ppm/10_000, 10)
	if rest := ppm % 10_000; rest > 0 {
		s += "." + strings.TrimRight(strconv.FormatInt(10_000+rest, 10)[1:], "0")
	}
	return s
}
