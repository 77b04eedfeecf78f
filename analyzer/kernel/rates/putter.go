package rates

import (
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// putter writes rates of a cell over w.
type putter struct {
	query *query.Query
	def   *metric.Definition

	c    *report.Cell
	f    *flow
	w    *cell.Interval
	lack lack

	whole   bool // the cell is of a run or a group, not of a window
	wide    bool // and W is not cut to an interval
	prefill bool // the rows are rows of prefill nodes

	names *flow      // what names the replicas: f, or the flow of a side nearer to the engines
	side  trace.Side // of it

	all, allNames *flow // f and names of the same group's whole time
}

// idle reports whether no sequence decodes in the cell, of a group that has some
// which do: their time in it is known to be 0.
func (p *putter) idle() bool { return p.f.span == 0 && p.all.span > 0 }

// per writes n per second of Δt, or null for a reason, with notes.
func (p *putter) per(name string, n int64, u unit.Unit, why metric.Reason, notes ...string) report.Value {
	if p.w.Reason != metric.None {
		why = p.w.Reason
	}
	v := report.Null(why.String())
	if why == metric.None {
		v = report.Known(float64(n)*1e9/float64(p.w.Length), u)
		v.Note = cell.Joined(append([]string{p.w.Note}, notes...)...)
	}
	cell.SetValue(p.c, name, v)
	return v
}

// ratio writes a/b, or null where b is 0.
func (p *putter) ratio(name string, a, b float64, u unit.Unit, otherwise metric.Reason, notes ...string) report.Value {
	v := report.Null(otherwise.String())
	if b != 0 {
		v = report.Known(a/b, u)
		v.Note = cell.Joined(notes...)
	}
	cell.SetValue(p.c, name, v)
	return v
}

func (p *putter) null(name string, why metric.Reason) {
	cell.SetValue(p.c, name, report.Null(why.String()))
}

// spreadNote notes n requests whose tokens are spread evenly.
func spreadNote(n int64) string {
	return cell.Counted(n, "the tokens of 1 request are spread evenly: its chunks are not counted",
		"the tokens of %d requests are spread evenly: their chunks are not counted")
}

func (p *putter) requests() {
	f := p.f
	done := f.ok
	if !p.wide {
		done = f.completed
	}
	if p.def.OKOnly {
		p.per("request_rate", done, unit.PerSecond, metric.None)
	} else {
		p.per("request_rate", f.requests, unit.PerSecond, metric.None)
	}
	p.per("request_rate_ok", done, unit.PerSecond, metric.None)
	p.ratio("request_rate_ok_whole", float64(f.ok)*1e9, p.wholeSpan(), unit.PerSecond, p.noWhole())
	p.completions()
}

// wholeSpan returns the length of the whole span, 0 where it is unknown.
func (p *putter) wholeSpan() float64 {
	if !p.wide || !p.w.Placed || p.w.Whole <= p.w.From {
		return 0
	}
	return float64(p.w.Whole - p.w.From)
}

// noWhole tells why there is no whole span.
func (p *putter) noWhole() metric.Reason {
	switch {
	case !p.wide:
		return metric.WholeRun
	case p.w.Placed:
		return metric.NoSpan
	case p.w.Reason == metric.None:
		return metric.Clock
	}
	return p.w.Reason
}

// leastCompletions is the least number of completions that a rate between them
// is told from: two that end together would make any rate.
const leastCompletions = 10

// completions writes the rate between the first and the last completion.
func (p *putter) completions() {
	f, why, d := p.f, p.noWhole(), 0.0
	switch {
	case !p.wide || !p.w.Placed:
	case f.dated < leastCompletions:
		if why = metric.FewRequests; f.ok >= leastCompletions {
			why = metric.NotRecorded
		}
	default:
		d = float64(f.lastDone - f.firstDone)
	}
	p.ratio("request_rate_completions", float64(f.dated-1)*1e9, d, unit.PerSecond, why,
		cell.Counted(f.completed-f.dated, "the end of 1 request is not recorded, so it is left out", "the ends of %d requests are not recorded, so they are left out"))
}

// lacking notes the tokens that a rate is short of, or that are assumed.
func (p *putter) lacking(unknown int64) string {
	return cell.Joined(cell.Counted(unknown, "1 request has an unknown number of tokens and is left out", "%d requests have an unknown number of tokens and are left out"),
		cell.Counted(p.lack.byChunk, "1 request counts one token per chunk: nobody counted its tokens", "%d requests count one token per chunk: nobody counted their tokens"),
		spreadNote(p.lack.spread))
}

// tokens writes the rates of tokens.
func (p *putter) tokens() {
	f := p.f
	unknown, unknownOK := p.lack.unknown, p.lack.unknownOK
	all, ok := summed(f.tokens, unknown), summed(f.tokensOK, unknownOK)
	p.per("tps", f.tokens, unit.TokenRate, all, p.lacking(unknown))
	p.per("tps_ok", f.tokensOK, unit.TokenRate, ok, p.lacking(unknownOK))
	whole, why := p.wholeSpan(), p.noWhole()
	if all != metric.None && whole > 0 {
		whole, why = 0, all
	}
	p.ratio("tps_whole", float64(f.tokens)*1e9, whole, unit.TokenRate, why, p.lacking(unknown))
	output := f.tokens
	if p.def.OKOnly {
		output, all, unknown = f.tokensOK, ok, unknownOK
	}
	note := p.lacking(unknown)
	p.per("tps_decode", output, unit.TokenRate, all, note)
	prompts := metric.None
	if f.prompts > 0 && f.noPrompt == f.prompts {
		prompts = metric.NotRecorded
	}
	lack := noPromptNote(f.noPrompt)
	p.per("tps_prompt", f.prompt, unit.TokenRate, prompts, lack)
	both := prompts
	if both == metric.None {
		both = all
	}
	p.per("tps_end_to_end", f.prompt+output, unit.TokenRate, both, lack, note)
	cached := metric.NotRecorded
	if f.overCached > 0 {
		cached = metric.Inconsistent
	}
	computed := both
	if both == metric.None && f.cachedOf == 0 && f.noCached+f.overCached > 0 {
		computed = cached // no request tells
	}
	uncached := cell.Counted(f.noCached+f.overCached, "1 request does not tell its cached tokens, so its prompt is left out",
		"%d requests do not tell their cached tokens, so their prompts are left out")
	p.per("tps_end_to_end_computed", f.cachedOf-f.cached+output, unit.TokenRate, computed, lack, uncached, note)
	p.ratio("cached_token_share", float64(f.cached), float64(f.cachedOf), unit.Ratio, cached, uncached)
	sum := float64(f.toldPrompt + f.toldOutput) // a prompt without its output, or the reverse, would shift the share
	switch {
	case both != metric.None:
		sum = 0
	case f.prompt+output > 0:
		both = metric.NotRecorded
	default:
		both = metric.NoToken
	}
	p.ratio("prefill_token_share", float64(f.toldPrompt), sum, unit.Ratio, both, lack, note)
	p.ratio("decode_token_share", float64(f.toldOutput), sum, unit.Ratio, both, lack, note)
}

// summed tells why a sum of tokens is unknown: some requests emitted tokens, and
// none are counted.
func summed(n, unknown int64) metric.Reason {
	if n == 0 && unknown > 0 {
		return metric.NUnknown
	}
	return metric.None
}

// totals writes the numbers of tokens behind the rates.
func (p *putter) totals() {
	f := p.f
	total := func(n int64, why metric.Reason, note string) report.Value {
		if why != metric.None {
			return report.Null(why.String())
		}
		v := report.KnownInt(n, unit.Token)
		v.Note = note
		return v
	}
	prompts := metric.None
	if f.prompts > 0 && f.noPrompt == f.prompts {
		prompts = metric.NotRecorded
	}
	lack := noPromptNote(f.noPrompt)
	p.c.Throughput.Tokens = report.Tokens{
		Output:   total(f.tokens, summed(f.tokens, p.lack.unknown), p.lacking(p.lack.unknown)),
		OutputOK: total(f.tokensOK, summed(f.tokensOK, p.lack.unknownOK), p.lacking(p.lack.unknownOK)),
		Prompt:   total(f.prompt, prompts, lack),
		PromptOK: total(f.promptOK, prompts, lack),
	}
}

// noPromptNote notes n requests whose prompts have an unknown length.
func noPromptNote(n int64) string {
	return cell.Counted(n, "the prompt of 1 request is of unknown length and left out", "the prompts of %d requests are of unknown length and left out")
}

// occupancy writes the batches that hold more or less than decoding sequences.
func (p *putter) occupancy(why metric.Reason, note string) {
	f, w := p.f, p.w
	batch := func(name string, d int64, why metric.Reason, notes ...string) {
		v := report.Null(why.String())
		if why == metric.None {
			v = report.Known(float64(d)/float64(w.Length), unit.None)
			v.Note = cell.Joined(append([]string{w.Note}, notes...)...)
		}
		cell.SetValue(p.c, name, v)
	}
	if w.Reason != metric.None {
		why = w.Reason
	}
	active, running := why, why
	if why == metric.None {
		switch {
		case p.lack.unstalled > 0:
			active = metric.NotRecorded
		case p.lack.adrift > 0:
			active = metric.Preempted
		}
		if p.all.running == 0 {
			running = metric.NotRecorded
		}
	}
	if w.Reason == metric.None && f.running > 0 {
		running = metric.None // sequences run before they decode
	}
	batch("batch_decode_active", f.span-f.stalled, active, note)
	batch("batch_running", f.running, running, note,
		cell.Counted(p.lack.unadmitted, "the admission of 1 sequence is not recorded, so it is left out", "the admissions of %d sequences are not recorded, so they are left out"))
}
