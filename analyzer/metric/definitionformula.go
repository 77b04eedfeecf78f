package metric

import "strings"

// The parts of formulas in words, for each parameter of a definition.
var (
	firstWords = [...]string{
		FirstToken: "first token of any kind", FirstEvent: "first chunk with choices (a role chunk counts)", FirstAnswer: "first non-empty content",
	}
	countWords = [...]string{
		ServerCount: "usage", ClientCount: "re-tokenised content and reasoning", AnswerCount: "re-tokenised content", BOSCount: "re-tokenised content + 1",
		ChunkCount: "chunks", RequestedCount: "requested length",
	}
	firstNames = [...]string{FirstToken: "first token", FirstEvent: "first event", FirstAnswer: "first content"}
	gapWords   = [...]string{
		TokenGaps: "gaps between chunks with a token", EventGaps: "gaps between chunks with choices, the one after the role chunk included",
		AnswerGaps: "gaps between chunks with content",
	}
	splitWords = [...]string{
		WholeGaps: "", EvenGaps: "; with speculative decoding gap/k, k times, for a chunk of k tokens", ZeroGaps: "; 0 for each further token of a chunk",
	}
	spanWords = [...]string{
		TokenSpan: "Δt", WholeSpan: "time from the first send to the last end", OKSpan: "time from the first send to the last end of a success", LongestSpan: "longest e2e",
	}
)

// Formula returns the formula of a metric under d.
func (d *Definition) Formula(m *Metric) string {
	if d == Default {
		return m.Formula
	}
	f := d.formula(m)
	if name := d.names[m.Name]; name != "" && f != "" {
		f = "\"" + name + "\": " + f
	}
	if f == "" {
		return m.Formula
	}
	return f
}

// formula returns the formula that the parameters give, or "" if no parameter
// affects the metric.
func (d *Definition) formula(m *Metric) string {
	if !d.Has(m.Name) {
		return "none: the tool has no such figure"
	}
	switch m.Name {
	case "ttft":
		return join(firstWords[d.First]+" - sent", when(d.Least > 1, "needs two tokens"), when(d.OneShot, "e2e where not streamed"), when(d.Silent && d.Least == 0, "0 for a success without any"))
	case "e2e":
		return d.end() + " - sent"
	case "output_tokens":
		return d.count()
	case "tpot":
		return join(d.pace(d.TPOT), when(d.TPOT.Less == 1, "for N > 1"), when(d.Whole, "rounded down to ns"), when(d.Strict && d.OKOnly, "of two responses or more"))
	case "chunk_gap":
		return d.gaps()
	case "tps_request":
		return "1 / tpot"
	case "tps_e2e":
		return "N / e2e"
	case "ntpot":
		return join("e2e / N", when(d.Silent, "0 for N = 0"))
	}
	if !d.OKOnly {
		return ""
	}
	switch m.Name {
	case "request_rate", "request_rate_ok":
		return "successful requests / " + spanWords[d.Span]
	case "tps_decode", "tps_ok":
		return "Σ N of successful requests / " + spanWords[d.Span]
	case "tps_peak":
		if d.ChunkPeak {
			return "most chunks in one second from the first send on"
		}
	case "concurrency_little":
		return "Σ e2e / " + spanWords[d.Span]
	case "goodput":
		if !d.Goodput {
			return ""
		}
		rule := "tpot of N ≤ 1 counts as 0, so it is met"
		if d.MustKnow {
			rule = "a metric without a value is missed"
		}
		return join("requests that meet every objective / "+spanWords[d.GoodSpan], rule, "failed requests are absent")
	}
	return ""
}

// SpanName returns the duration that rates are divided by, in words.
func (d *Definition) SpanName(s Span) string { return spanWords[s] }

// end returns the end of E2E in words.
func (d *Definition) end() string {
	switch {
	case d.ToFinish:
		return "end of the response ([DONE] included)"
	case d.First == FirstEvent:
		return "last chunk with choices"
	}
	return "last token"
}

// count returns the sources of N in words.
func (d *Definition) count() string {
	var words []string
	for _, c := range d.Counts {
		words = append(words, countWords[c])
	}
	return strings.Join(words, ", else the ")
}

func (d *Definition) gaps() string {
	if d.Gaps == PaceGaps {
		return join(d.pace(d.ITL), "one value per request")
	}
	return join(gapWords[d.Gaps]+", pooled"+splitWords[d.Split], when(d.Positive, "none of a request with one that is not positive"))
}

// pace writes a pace as a formula.
func (d *Definition) pace(p *Pace) string {
	from, to := d.Ends(p)
	by := "N"
	if p.Chunks {
		by = "chunks"
	}
	by = p.Divisor(by)
	return join("("+to+" - "+from+") / "+by, when(p.Weighted, "a request weighs "+by))
}

// Ends returns the names of the two ends of a pace.
func (d *Definition) Ends(p *Pace) (from, to string) {
	if p.From == AtFirst && p.To == AtEnd {
		return "ttft", "e2e"
	}
	return d.mark(p.From), d.mark(p.To)
}

func (d *Definition) mark(m Mark) string {
	switch m {
	case AtStart:
		return "start"
	case AtFirst:
		return d.FirstName()
	case AtLast:
		return "last token"
	}
	return d.EndName()
}

// Divisor returns the divisor of a pace as text; n is the text for N.
func (p *Pace) Divisor(n string) string {
	if p.Less == 1 && !p.Chunks {
		return "(" + n + " - 1)"
	}
	return n
}

// FirstName returns the end of ttft in words.
func (d *Definition) FirstName() string { return firstNames[d.First] }

// EndName returns the end of e2e in words.
func (d *Definition) EndName() string {
	if d.ToFinish {
		return "end of the response"
	}
	return "last token"
}

func when(cond bool, text string) string {
	if cond {
		return text
	}
	return ""
}

// join joins the clauses that are not empty.
func join(clauses ...string) string {
	var list []string
	for _, c := range clauses {
		if c != "" {
			list = append(list, c)
		}
	}
	return strings.Join(list, "; ")
}
