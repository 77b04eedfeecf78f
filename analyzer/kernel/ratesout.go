package kernel

import (
	"fmt"

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
	all, seconds := s.cells.places(), s.seconds.places()
	s.finishing(func(run int32, info *runInfo) {
		side := info.counting()
		w := info.over(s.def)
		for _, t := range s.targets(run, within(all, side)) {
			sum := s.united(t.from)
			c := out.Cell(run, t.group, t.window)
			in := w
			if t.window != NoWindow {
				in = s.clip(run, info, w, t.window)
			}
			s.put(c, sum, &in, t.window == NoWindow)
			peak := report.Null(metric.WholeRun.String())
			if t.window == NoWindow {
				peak = s.peak(run, t.group, side, seconds, &w, sum)
			}
			setValue(c, "tps_peak", peak)
		}
	})
}

// clip returns the part of W that a window covers.
func (s *base) clip(run int32, info *runInfo, w interval, window int64) interval {
	if !w.placed {
		return w
	}
	side := &info.sides[info.counting()]
	a := s.axisOf(run, isWall(side.clock), side.clock)
	w.from, w.to = max(w.from, window, a.from), min(w.to, window+a.length, a.to)
	w.dt, w.why, w.note = w.to-w.from, metric.None, ""
	if w.dt <= 0 {
		w.dt, w.why, w.placed = 0, metric.NoSpan, false
	}
	return w
}

// peak returns the greatest rate of a second of W.
func (s *ratesState) peak(run, group int32, side trace.Side, places []place, w *interval, f *flow) report.Value {
	switch {
	case !w.placed && w.why != metric.None:
		return report.Null(w.why.String())
	case !w.placed:
		return report.Null(metric.Clock.String())
	case w.to-w.from < second:
		return report.Null(metric.BucketOverRun.String())
	}
	var sum seconds
	for _, p := range places {
		if p.run == run && p.side == int32(side) && (group < 0 || p.group == group) {
			sum.merge(s.seconds.byPlace[p])
		}
	}
	if sum.full || f.long > 0 {
		return report.Null(metric.TooMany.String())
	}
	v := report.Known(sum.peak(w.from, w.to), unit.TokenRate)
	switch {
	case f.byChunk > 0:
		v.Note = fmt.Sprintf("chunks of %d requests count as one token each: nobody counted their tokens", f.byChunk)
	case f.spread > 0:
		v.Note = fmt.Sprintf("the tokens of %d requests are spread evenly: their chunks are not counted", f.spread)
	}
	return v
}

// put writes the rates of a cell over w.
func (s *ratesState) put(c *report.Cell, f *flow, w *interval, wide bool) {
	t := &c.Throughput
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
	p := putter{c: c, f: f, w: w}
	p.requests(wide)
	p.tokens(s.def, wide)
	s.model(&p)
	if len(s.q.SLO) == 0 {
		p.null("goodput", metric.NoObjective)
	}
}

// putter writes rates.
type putter struct {
	c *report.Cell
	f *flow
	w *interval
}

// per writes n per second of Δt.
func (p *putter) per(name string, n int64, u unit.Unit) report.Value {
	v := report.Null(p.w.why.String())
	if p.w.why == metric.None {
		v = report.Known(float64(n)*1e9/float64(p.w.dt), u)
		v.Note = p.w.note
	}
	setValue(p.c, name, v)
	return v
}

// ratio writes a/b, or null where b is 0.
func (p *putter) ratio(name string, a, b float64, u unit.Unit, otherwise metric.Reason) report.Value {
	v := report.Null(otherwise.String())
	if b != 0 {
		v = report.Known(a/b, u)
	}
	setValue(p.c, name, v)
	return v
}

func (p *putter) null(name string, why metric.Reason) {
	setValue(p.c, name, report.Null(why.String()))
}

func (p *putter) requests(wide bool) {
	f := p.f
	p.per("request_rate", f.requests, unit.PerSecond)
	done := f.ok
	if !wide {
		done = f.completed
	}
	p.per("request_rate_ok", done, unit.PerSecond)
	whole := p.w.why
	switch {
	case !wide:
		whole = metric.WholeRun
	case p.w.placed:
		whole = metric.NoSpan
	case whole == metric.None:
		whole = metric.Clock
	}
	if d := p.w.whole - p.w.from; wide && p.w.placed && d > 0 {
		p.ratio("request_rate_ok_whole", float64(f.ok)*1e9, float64(d), unit.PerSecond, whole)
		p.ratio("tps_whole", float64(f.tokens)*1e9, float64(d), unit.TokenRate, whole)
	} else {
		p.null("request_rate_ok_whole", whole)
		p.null("tps_whole", whole)
	}
	d := int64(0)
	if wide && f.firstDone != none {
		d = f.lastDone - f.firstDone
	}
	v := p.ratio("request_rate_completions", float64(f.completed-1)*1e9, float64(d), unit.PerSecond, whole)
	if v.Known && f.completed < 10 {
		v.Note = fmt.Sprintf("between %d completions", f.completed)
		setValue(p.c, "request_rate_completions", v)
	}
}

func (p *putter) tokens(def *metric.Definition, wide bool) {
	f := p.f
	note := ""
	switch {
	case f.unknown > 0:
		note = fmt.Sprintf("%d requests have an unknown number of tokens and are left out", f.unknown)
	case f.byChunk > 0:
		note = fmt.Sprintf("%d requests count one token per chunk", f.byChunk)
	}
	noted := func(name string, v report.Value) {
		if v.Known && note != "" {
			v.Note = note
			setValue(p.c, name, v)
		}
	}
	noted("tps", p.per("tps", f.tokens, unit.TokenRate))
	p.per("tps_ok", f.tokensOK, unit.TokenRate)
	output, prompt := f.tokens, f.prompt
	if def.OKOnly {
		output, prompt = f.tokensOK, f.promptOK
	}
	noted("tps_decode", p.per("tps_decode", output, unit.TokenRate))
	if f.prompts > 0 && f.noPrompt == f.prompts {
		for _, name := range []string{"tps_prompt", "tps_end_to_end", "tps_end_to_end_computed", "prefill_token_share", "decode_token_share"} {
			p.null(name, metric.NotRecorded)
		}
		return
	}
	p.per("tps_prompt", prompt, unit.TokenRate)
	v := p.per("tps_end_to_end", prompt+output, unit.TokenRate)
	if v.Known && f.noPrompt > 0 {
		v.Note = fmt.Sprintf("the prompts of %d requests are of unknown length and left out", f.noPrompt)
		setValue(p.c, "tps_end_to_end", v)
	}
	if f.noCached > 0 {
		p.null("tps_end_to_end_computed", metric.NotRecorded)
	} else {
		p.per("tps_end_to_end_computed", f.prompt-f.cached+f.tokens, unit.TokenRate)
	}
	p.ratio("prefill_token_share", float64(prompt), float64(prompt+output), unit.Ratio, metric.NoToken)
	p.ratio("decode_token_share", float64(output), float64(prompt+output), unit.Ratio, metric.NoToken)
}
