package audit

import (
	"servescope/analyzer/metric"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// Factors within which a relation between means holds. A mean of quotients is
// not the quotient of means, and a response ends a while after its last token.
const (
	loose  = 1.25 // beyond the least and greatest value of the distribution
	wide   = 1.5  // of a mean where these are not reported, or there is none
	strict = 1.01 // between sums over the same requests and time
)

// checker tests relations and records those that do not hold.
type checker struct {
	*inquiry
	first   map[[2]string]*trace.Reported // figures by metric and statistic
	rounded bool                          // the source rounds some figure
}

// of returns a figure. It reports false if the figure is missing or not
// positive.
func (k *checker) of(metric, stat string) (float64, bool) {
	c := k.first[[2]string{metric, stat}]
	if c == nil || c.Value <= 0 {
		return 0, false
	}
	return c.Value, true
}

// lengths returns the mean number of output tokens: the reported figure, and
// the rate of tokens over the rate of requests.
func (k *checker) lengths() (list []float64) {
	if n, ok := k.of("output_tokens", "mean"); ok {
		list = append(list, n)
	}
	tps, flows := k.of("tps_ok", "value")
	if rate, ok := k.of("request_rate_ok", "value"); ok && flows {
		list = append(list, tps/rate)
	}
	return list
}

// pace checks a time per token against the mean E2E, TTFT and N of the same
// report. For any distribution, the mean of pace × tokens lies between the
// smallest and the largest pace times the mean number of tokens.
func (k *checker) pace(name string) {
	c, p := k.first[[2]string{name, "mean"}], k.formula(name)
	end, ok := k.of("e2e", "mean")
	ttft, timed := k.of("ttft", "mean")
	if c == nil || k.verified[c] || c.Value <= 0 || p == nil || !ok || !timed && p.From == metric.AtFirst {
		return
	}
	lo, hi := k.bounds(c, p)
	var want, n float64
	for i, m := range k.lengths() {
		w := implied(p, end, ttft, m)
		if w <= 0 || w >= lo && w <= hi {
			if w > 0 {
				k.out.Checks++
			}
			return
		}
		if i == 0 {
			want, n = w, m
		}
	}
	if want == 0 {
		return
	}
	k.out.Checks++
	if other := k.other(c.Value, end, ttft, n); other != "" {
		f := k.find(Explained, c, "it is "+other+" of the same report, not "+written(p))
		f.Cause = "definition"
		expect(f, want)
		return
	}
	times := factor(want, c.Value)
	note := written(p) + " of the same report is " + unit.Format(c.Unit, want) + ": " + times + " times"
	most, bounded := k.of(name, "max")
	least, known := k.of(name, "min")
	switch {
	case k.gaps(name):
		note += ", so " + times + " gaps were counted for each token after the first"
	case bounded && want > most:
		note += ", and more than the largest value"
	case known && want < least:
		note += ", and less than the smallest value"
	}
	k.broken(c, want, note)
}

// gaps reports whether the figures are gaps between chunks or tokens, rather
// than one value per request.
func (k *checker) gaps(name string) bool {
	return name == "chunk_gap" && (k.Definition == nil || k.Definition.Gaps != metric.PaceGaps)
}

// bounds returns the range that agrees with a mean c for a time per token
// implied by other figures. The range depends on the other figures of the
// distribution. A chunk carries at least one token and may carry several, so
// gaps have no lower bound.
func (k *checker) bounds(c *trace.Reported, p *metric.Pace) (lo, hi float64) {
	switch {
	case k.gaps(c.Metric):
		return 0, c.Value * wide
	case p.Weighted:
		return c.Value / wide, c.Value * wide
	}
	lo, hi = c.Value, c.Value
	below, above := wide, wide
	for key, f := range k.first {
		if key[0] != c.Metric || key[1] == "std" || f.Value <= 0 {
			continue
		}
		lo, hi = min(lo, f.Value), max(hi, f.Value)
		switch key[1] {
		case "min":
			below = loose
		case "max", "0.99", "0.999":
			above = loose
		}
	}
	return lo / below, hi * above
}

// formula returns how the producer computes a time per token, or nil if it does
// not.
func (k *checker) formula(name string) *metric.Pace {
	switch d := k.Definition; {
	case d == nil, k.gaps(name) && d.Gaps != metric.NoGaps:
		return metric.Default.TPOT
	case name == "tpot":
		return d.TPOT
	default:
		return d.ITL // nil where there are none
	}
}

// implied returns the time per token that the formula gives for means.
func implied(p *metric.Pace, end, ttft, n float64) float64 {
	if p.From == metric.AtFirst {
		end -= ttft
	}
	if n -= float64(p.Less); n <= 0 {
		return 0
	}
	return end / n
}

// paces lists known formulas of times per token.
var paces = []*metric.Pace{{From: metric.AtFirst, Less: 1}, {From: metric.AtFirst}, {From: metric.AtStart}, {From: metric.AtStart, Less: 1}}

// other returns the formula that gives the value v, or "".
func (k *checker) other(v, end, ttft, n float64) string {
	for _, p := range paces {
		if w := implied(p, end, ttft, n); w > 0 && within(v, w, 1.02) && (ttft > 0 || p.From == metric.AtStart) {
			return written(p)
		}
	}
	return ""
}

// written returns a formula as text.
func written(p *metric.Pace) string {
	text := "(E2E - TTFT)"
	if p.From == metric.AtStart {
		text = "E2E"
	}
	if p.Less == 1 {
		return text + " / (N - 1)"
	}
	return text + " / N"
}

func within(a, b, factor float64) bool { return a <= b*factor && b <= a*factor }

// equal tests whether a figure has the value that other figures imply.
func (k *checker) equal(metric string, want float64, ok bool, note string) {
	v, known := k.of(metric, "value")
	c := k.first[[2]string{metric, "value"}]
	if !known || !ok || want <= 0 || k.verified[c] {
		return
	}
	k.out.Checks++
	if within(v, want, strict) || k.rounded && within(v, want, loose) {
		return
	}
	k.broken(c, want, note+" of the same report is "+unit.Format(c.Unit, want))
}

// rates checks rates against each other and against counts.
func (k *checker) rates() {
	rate, paced := k.of("request_rate_ok", "value")
	done, counted := k.of("requests.ok", "value")
	tps, flows := k.of("tps_ok", "value")
	prompt, asked := k.of("tps_prompt", "value")
	if d := float64(k.Duration); d > 0 {
		k.equal("request_rate_ok", done*1e9/d, counted, "completed requests / duration")
		sum, ok := k.of("output_tokens", "value")
		k.equal("tps_ok", sum*1e9/d, ok, "output tokens / duration")
		sum, ok = k.of("prompt_tokens", "value")
		k.equal("tps_prompt", sum*1e9/d, ok, "prompt tokens / duration")
	}
	n, many := k.of("output_tokens", "mean")
	k.equal("tps_ok", float64(rate*n), paced && many, "request rate × mean output length")
	m, long := k.of("prompt_tokens", "mean")
	k.equal("tps_prompt", float64(rate*m), paced && long, "request rate × mean prompt length")
	k.equal("tps_end_to_end", tps+prompt, flows && asked, "prompt rate + output rate")
	end, timed := k.of("e2e", "mean")
	k.equal("concurrency_little", float64(rate*end)/1e9, paced && timed, "request rate × mean E2E")
	if c := k.first[[2]string{"goodput", "value"}]; c != nil && paced {
		k.out.Checks++
		if c.Value > rate*(1+tolerance) {
			k.broken(c, rate, "it exceeds the rate of completed requests")
		}
	}
}

// counts checks that the counts of requests add up.
func (k *checker) counts() {
	all := k.first[[2]string{"requests.total", "value"}]
	ok, failed := k.first[[2]string{"requests.ok", "value"}], k.first[[2]string{"requests.failed", "value"}]
	if all == nil || ok == nil || failed == nil {
		return
	}
	sum := ok.Value + failed.Value
	if aborted := k.first[[2]string{"requests.aborted", "value"}]; aborted != nil {
		sum += aborted.Value
	}
	k.out.Checks++
	if sum == all.Value {
		return
	}
	k.broken(all, sum, "its parts add up to "+unit.Format(unit.Request, sum))
}
