package metric

import "slices"

// Differs returns, in words, the parameters in which d differs from the default
// and that affect a metric. moved reports whether an input of the metric
// differs under d: another metric by its name, the "side" of the stamps, the
// length of W ("dt"); or whether there are "failed" requests, "empty"
// responses, or "several" requests. Parameters without effect are left out.
func (d *Definition) Differs(name string, moved func(what string) bool) []string {
	x := differences{d: d, moved: moved}
	switch name {
	case "ttft":
		x.first("ends at the ")
		x.all()
	case "e2e":
		x.end("")
		x.all()
	case "output_tokens":
		x.count()
		x.all()
	case "tpot", "tps_request":
		x.pace(d.TPOT)
	case "chunk_gap":
		x.gaps()
	case "tps_e2e", "ntpot":
		x.end("e2e ")
		x.count()
		x.all()
	case "tps_decode":
		x.count()
		fallthrough
	case "request_rate":
		x.add(d.OKOnly && moved("failed"), "failed requests are left out")
		x.delta(d.Span)
	case "goodput":
		x.add(moved("ttft"), "ttft differs")
		x.add(moved("tpot"), "tpot differs")
		x.add(d.Goodput && moved("failed"), "failed requests are absent")
		x.add(d.MustKnow, "a metric without a value is missed")
		x.delta(d.GoodSpan)
	}
	x.add(d.Client && moved("side"), "times are the client's")
	return x.list
}

// differences collects clauses.
type differences struct {
	d     *Definition
	moved func(what string) bool
	list  []string
}

func (x *differences) add(cond bool, text string) {
	if cond && !slices.Contains(x.list, text) {
		x.list = append(x.list, text)
	}
}

func (x *differences) first(lead string) {
	x.add(x.d.First != Default.First && x.moved("ttft"), lead+firstWords[x.d.First])
}

func (x *differences) end(lead string) {
	x.add(x.d.ToFinish && x.moved("e2e"), lead+"ends with the response, not at the last token")
}

func (x *differences) count() {
	x.add(!slices.Equal(x.d.Counts, Default.Counts) && x.moved("output_tokens"), "N is the "+x.d.count())
}

// all adds the clauses about a mean over requests.
func (x *differences) all() {
	x.add(x.d.Silent && x.moved("empty"), "responses without a token count")
	x.add(x.d.Whole && x.moved("several"), "whole nanoseconds")
}

func (x *differences) pace(p *Pace) {
	if p == nil {
		return
	}
	x.add(p.Chunks, "divides by chunks, not by N - 1")
	x.add(!p.Chunks && p.Less == 0, "divides by N, not by N - 1")
	if !p.Chunks {
		x.count()
	}
	x.add(p.Weighted && x.moved("several"), "requests weigh "+p.Divisor("N"))
	x.add(p.From == AtStart, "includes ttft")
	if p.From == AtFirst {
		x.first("ttft ends at the ")
	}
	if p.To == AtEnd {
		x.end("e2e ")
	}
	x.add(x.d.Whole, "whole nanoseconds")
}

func (x *differences) gaps() {
	d := x.d
	x.add(d.ITL != nil, "one value per request")
	x.pace(d.ITL)
	x.add(d.Gaps == EventGaps, "the gap after a role chunk counts")
	x.add(d.Gaps == AnswerGaps && x.moved("ttft"), "reasoning is not seen")
	x.add(d.Split == EvenGaps, "gaps are shared by the tokens of their chunk")
	x.add(d.Split == ZeroGaps, "each further token of a chunk adds a gap of 0")
}

// delta adds the duration that rates are divided by.
func (x *differences) delta(s Span) {
	text := spanWords[s]
	if x.d.Reported {
		text = "the producer's duration, else the " + text
	}
	x.add((s != TokenSpan || x.d.Reported) && x.moved("dt"), "another Δt: "+text)
}
