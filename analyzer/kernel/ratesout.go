package kernel

import (
	"fmt"
	"slices"
	"strings"

	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

func (s *ratesState) Merge(other State) error {
	o, ok := other.(*ratesState)
	if !ok {
		return errMerge(s, other)
	}
	s.seconds.merge(&o.seconds)
	return s.merge(&o.celled)
}

func (s *ratesState) AppendState(dst []byte) []byte {
	return s.seconds.appendTo(s.cells.appendTo(s.base.appendTo(dst)))
}

func (s *ratesState) LoadState(src []byte) error {
	r := &reader{src: src}
	s.base.load(r)
	s.cells.load(r)
	s.seconds.load(r)
	return r.done()
}

func (s *ratesState) Size() int64 { return s.cells.size() + s.seconds.size() }
func (s *ratesState) Finish(out Output) {
	s.cells.prune()
	seconds := make(map[int32][]place) // by run
	for _, p := range s.seconds.places() {
		seconds[p.run] = append(seconds[p.run], p)
	}
	s.finishingOf(s.cells.places(), func(run int32, info *runInfo, all []place) {
		side := info.counting()
		w := s.over(run)
		namer := s.namer(run, all, info)
		targets := s.targets(run, within(all, side))
		wholes := make(map[int32]*flow) // by group
		for _, t := range targets {
			if t.window == NoWindow {
				wholes[t.group] = s.united(t.from)
			}
		}
		for _, t := range targets {
			sum := s.united(t.from)
			c := out.Cell(run, t.group, t.window)
			in := w
			if t.window != NoWindow {
				in = s.clip(run, info, w, t.window)
			}
			all := t.window == NoWindow
			p := putter{c: c, f: sum, w: &in, lack: sum.lack(all), wide: all && !in.part, whole: all, prefill: side == trace.Prefill,
				names: sum, side: side, all: wholes[t.group]}
			p.allNames = p.all
			if from := namer.from[cellAt{t.group, NoWindow}]; !p.all.named() && len(from) > 0 {
				p.names, p.allNames, p.side = s.united(namer.from[cellAt{t.group, t.window}]), s.united(from), namer.side
			}
			s.put(&p)
			peak := report.Null(metric.WholeRun.String())
			if all {
				peak = s.peak(run, t.group, side, seconds[run], &p)
			}
			setValue(c, "tps_peak", peak)
		}
	})
}

// peak returns the greatest number of tokens in a second of the run's clock.
func (s *ratesState) peak(run, group int32, side trace.Side, places []place, p *putter) report.Value {
	w, f := p.w, p.f
	switch {
	case !w.placed && w.why != metric.None:
		return report.Null(w.why.String())
	case !w.placed:
		return report.Null(metric.Clock.String())
	case w.to-w.from < second && !s.def.ChunkPeak:
		return report.Null(metric.BucketOverRun.String())
	case f.unlisted > 0:
		return report.Null(metric.NotRecorded.String())
	}
	var sum seconds
	for _, p := range places {
		if p.run == run && p.side == int32(side) && (group < 0 || p.group == group) {
			sum.merge(s.seconds.byPlace[p])
		}
	}
	switch most := sum.peak(); {
	case sum.full || f.long > 0:
		return report.Null(metric.TooMany.String())
	case s.def.ChunkPeak:
		return report.Known(float64(most), unit.TokenRate)
	case f.tokens == 0 && f.unknown > 0:
		return report.Null(metric.NUnknown.String())
	default:
		v := report.Known(float64(most), unit.TokenRate)
		v.Note = p.lacking(f.unknown)
		v.Note = joined(v.Note, spreadNote(max(f.spread-f.byChunk, 0)))
		if mean := float64(f.tokens) * 1e9 / float64(w.to-w.from); mean > v.V { // W is no whole number of seconds
			v.V = mean
			v.Note = joined(v.Note, "the mean: no second of the clock holds as much")
		}
		return v
	}
}

// put writes the rates of a cell.
func (s *ratesState) put(p *putter) {
	w, t := p.w, &p.c.Throughput
	t.From, t.To, t.Window = report.Null(metric.Clock.String()), report.Null(metric.Clock.String()), report.Null(w.why.String())
	if w.placed {
		t.From, t.To = report.KnownInt(w.from, unit.Nanosecond), report.KnownInt(w.to, unit.Nanosecond)
	} else if w.why != metric.None {
		t.From, t.To = t.Window, t.Window
	}
	if w.why == metric.None {
		t.Window = report.KnownInt(w.dt, unit.Nanosecond)
		t.Window.Note = w.note
	}
	p.requests(s.def)
	p.tokens(s.def)
	p.totals()
	s.model(p)
	if len(s.q.SLO) == 0 {
		p.null("goodput", metric.NoObjective)
	}
}

// putter writes rates of a cell over w.
type putter struct {
	c    *report.Cell
	f    *flow
	w    *interval
	lack lack

	whole   bool // the cell is of a run or a group, not of a window
	wide    bool // and W is not cut to an interval
	prefill bool // the rows are those of prefill nodes

	names *flow      // what names the replicas: f, or the flow of a side nearer to the engines
	side  trace.Side // of it

	all, allNames *flow // f and names of the same group's whole time
}

// idle reports whether no sequence decodes in the cell, of a group that has some
// which do: their time in it is known to be 0.
func (p *putter) idle() bool { return p.f.span == 0 && p.all.span > 0 }

// per writes n per second of Δt, or null for a reason, with notes.
func (p *putter) per(name string, n int64, u unit.Unit, why metric.Reason, notes ...string) report.Value {
	if p.w.why != metric.None {
		why = p.w.why
	}
	v := report.Null(why.String())
	if why == metric.None {
		v = report.Known(float64(n)*1e9/float64(p.w.dt), u)
		v.Note = joined(append([]string{p.w.note}, notes...)...)
	}
	setValue(p.c, name, v)
	return v
}

// ratio writes a/b, or null where b is 0.
func (p *putter) ratio(name string, a, b float64, u unit.Unit, otherwise metric.Reason, notes ...string) report.Value {
	v := report.Null(otherwise.String())
	if b != 0 {
		v = report.Known(a/b, u)
		v.Note = joined(notes...)
	}
	setValue(p.c, name, v)
	return v
}

func (p *putter) null(name string, why metric.Reason) {
	setValue(p.c, name, report.Null(why.String()))
}

// joined returns one note of several, of which some are empty.
func joined(notes ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(notes), func(n string) bool { return n == "" }), "; ")
}

// counting returns a note about n requests, or "" for none; many has their number.
func counting(n int64, one, many string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return one
	}
	return fmt.Sprintf(many, n)
}

// spreadNote notes n requests whose tokens are spread evenly.
func spreadNote(n int64) string {
	return counting(n, "the tokens of 1 request are spread evenly: its chunks are not counted",
		"the tokens of %d requests are spread evenly: their chunks are not counted")
}

func (p *putter) requests(def *metric.Definition) {
	f := p.f
	done := f.ok
	if !p.wide {
		done = f.completed
	}
	if def.OKOnly {
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
	if !p.wide || !p.w.placed || p.w.whole <= p.w.from {
		return 0
	}
	return float64(p.w.whole - p.w.from)
}

// noWhole tells why there is no whole span.
func (p *putter) noWhole() metric.Reason {
	switch {
	case !p.wide:
		return metric.WholeRun
	case p.w.placed:
		return metric.NoSpan
	case p.w.why == metric.None:
		return metric.Clock
	}
	return p.w.why
}

// leastCompletions is the least number of completions that a rate between them
// is told from: two that end together would make any rate.
const leastCompletions = 10

// completions writes the rate between the first and the last completion.
func (p *putter) completions() {
	f, why, d := p.f, p.noWhole(), 0.0
	switch {
	case !p.wide || !p.w.placed:
	case f.dated < leastCompletions:
		if why = metric.FewRequests; f.ok >= leastCompletions {
			why = metric.NotRecorded
		}
	default:
		d = float64(f.lastDone - f.firstDone)
	}
	p.ratio("request_rate_completions", float64(f.dated-1)*1e9, d, unit.PerSecond, why,
		counting(f.completed-f.dated, "the end of 1 request is not recorded, so it is left out", "the ends of %d requests are not recorded, so they are left out"))
}

// lacking notes the tokens that a rate is short of, or that are assumed.
func (p *putter) lacking(unknown int64) string {
	return joined(counting(unknown, "1 request has an unknown number of tokens and is left out", "%d requests have an unknown number of tokens and are left out"),
		counting(p.lack.byChunk, "1 request counts one token per chunk: nobody counted its tokens", "%d requests count one token per chunk: nobody counted their tokens"),
		spreadNote(p.lack.spread))
}

// tokens writes the rates of tokens.
func (p *putter) tokens(def *metric.Definition) {
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
	if def.OKOnly {
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
		computed = cached // nobody tells
	}
	uncached := counting(f.noCached+f.overCached, "1 request does not tell its cached tokens, so its prompt is left out",
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
// nobody counted any.
func summed(n, unknown int64) metric.Reason {
	if n == 0 && unknown > 0 {
		return metric.NUnknown
	}
	return metric.None
}
