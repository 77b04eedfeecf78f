package kernel

import (
	"fmt"
	"math"

	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

func (s *tokensState) Merge(other State) error {
	o, ok := other.(*tokensState)
	if !ok || (s.found == nil) != (o.found == nil) {
		return errMerge(s, other)
	}
	if s.found == nil {
		err := s.merge(&o.celled)
		s.held += o.held
		s.added = math.MaxInt
		s.pack()
		return err
	}
	s.base.merge(&o.base)
	for p, r := range o.cells.byPlace {
		s.refiner(p).merge(r)
	}
	return nil
}

// LoadState loads what a state of the same pass encoded.
func (s *tokensState) LoadState(src []byte) error {
	if err := s.celled.LoadState(src); err != nil || s.found == nil {
		return err
	}
	loaded := s.cells.byPlace
	s.cells.byPlace = nil
	for p, pool := range loaded {
		s.refiner(p).merge(pool)
	}
	return nil
}

func (s *tokensState) Size() int64 {
	n := s.cells.size()
	if s.found != nil {
		n += s.found.cells.size()
	}
	return n
}

// Next asks for another pass where windows could not be placed yet, where chunks
// are of counted tokens in some requests and of one each in others, or where a
// quantile is not exact.
func (s *tokensState) Next(facts *Facts) bool {
	if s.learn(facts) {
		return true
	}
	if s.found != nil {
		return false
	}
	if s.size(facts) {
		return true
	}
	for _, p := range s.cells.byPlace {
		for _, d := range p.digests {
			if d.Missing(s.def.Quantile) {
				s.pass(facts)
				return true
			}
		}
	}
	return false
}

// size adds to facts which runs are sized, and reports whether that is news.
func (s *tokensState) size(facts *Facts) (news bool) {
	for run, info := range s.runs {
		for _, x := range info.sides {
			if x != nil && x.single && x.told {
				for int(run) >= len(facts.Runs) {
					facts.Runs = append(facts.Runs, RunFacts{})
				}
				f := &facts.Runs[run]
				news, f.Sized = news || !f.Sized, true
			}
		}
	}
	return news
}

// pass hands what was found to the next pass.
func (s *tokensState) pass(facts *Facts) {
	for _, p := range s.cells.byPlace {
		p.condense(4096, s.def.Quantile) // what these keep shrinks to their quantiles
	}
	if facts.Private == nil {
		facts.Private = make(map[string][]byte)
	}
	facts.Private[tokens{}.Name()] = s.AppendState(nil)
}

// Overflow returns the number of gaps that are in no window because a report
// holds no more windows.
func (s *tokensState) Overflow() int64 {
	if s.found != nil {
		return s.found.Overflow()
	}
	return s.celled.Overflow()
}

// Cut returns the first window of which something is left out.
func (s *tokensState) Cut() (window int64, capped bool) {
	if s.found != nil {
		return s.found.Cut()
	}
	return s.celled.Cut()
}

func (s *tokensState) Finish(out Output) {
	if s.found != nil {
		for at, r := range s.cells.byPlace {
			if of := s.found.cells.byPlace[at]; of != nil {
				of.refine(r)
			}
		}
		s.found.Finish(out)
		return
	}
	s.cells.prune()
	s.finishingOf(s.cells.places(), func(run int32, info *runInfo, places []place) {
		side := info.latency(s.def)
		for _, t := range s.targets(run, ofRequests(places)) {
			p := s.cells.byPlace[place{t.window, run, t.group, int32(side)}]
			idle := p == nil && (t.window != NoWindow || len(t.from) == 0)
			if p == nil {
				p = s.cells.fresh()
			} else if p.empty() { // of a group that has nothing in the query's interval
				idle = true
			}
			s.put(out.Cell(run, t.group, t.window), p, int(run) < len(s.facts.Runs) && s.facts.Runs[run].Sized, side, t.window == NoWindow && s.only == nil, idle)
		}
	})
}

// put writes the metrics of a cell.
func (s *tokensState) put(c *report.Cell, p *pool, sized bool, side trace.Side, wide, idle bool) {
	gapScale := 1.0
	if s.def.Split == metric.EvenGaps || s.def.Gaps == metric.PaceGaps {
		gapScale = fraction
	}
	for i, m := range [poolDigests]struct {
		name  string
		scale float64
	}{{"chunk_gap", gapScale}, {"token_latency", fraction}, {"tokens_per_chunk", 1}} {
		if !s.only.has(m.name) {
			continue
		}
		out := s.emptyMetric(m.name, side, p.excluded[i], idle)
		out.Requests = p.requests[i]
		out = s.pooled(out, p.digests[i], m.scale, wide)
		if n := p.excluded[i].get(metric.NotRecorded); i != gapDigest && n > 0 && out.N > 0 {
			out.Notes = append(out.Notes, fmt.Sprintf("chunk_tokens: over the %d requests that tell the tokens of each chunk; %d do not", p.requests[i], n))
		}
		setMetric(c, m.name, out)
	}
	if s.only.has("token_latency") && s.plain() && !sized && p.uneven == 0 && p.digests[gapDigest].Moments().N > 0 {
		out := s.emptyMetric("token_latency", side, p.excluded[gapDigest], idle) // each gap is that of one token
		out.Requests = p.requests[gapDigest]
		setMetric(c, "token_latency", s.pooled(out, p.digests[gapDigest], 1, wide))
	}
	if !s.only.has("ttft_upper") {
		return
	}
	m := s.emptyMetric("ttft_upper", side, p.noUpper, idle)
	m = s.distribution(m, &measure{}, stat.SampleOf(p.upper), wide)
	if m.N > 0 {
		if lower := float64(p.lower) / float64(m.N); m.Mean > 1.05*lower {
			m.Notes = append(m.Notes, fmt.Sprintf("role_chunk_possible: TTFT is %s on average if the first event carries a token, %s if it carries only a role",
				unit.Format(unit.Nanosecond, lower), unit.Format(unit.Nanosecond, m.Mean)))
		}
	}
	setMetric(c, "ttft_upper", m)
}

// pooled fills a metric with the statistics of a digest whose values are in
// 1/scale of the metric's unit; scale is a power of two.
func (b *base) pooled(out report.Metric, d *stat.Digest, scale float64, wide bool) report.Metric {
	sums := d.Moments()
	if sums.N == 0 {
		return out
	}
	out.Reason, out.N, out.Exact = "", sums.N, true
	out.Mean, out.Std = sums.Mean()/scale, sums.Std()/scale
	out.Std = b.deviation(out.Std, sums.N)
	out.Min, out.Max = float64(sums.Min)/scale, float64(sums.Max)/scale
	out.Quantiles = make(map[string]float64)
	for _, q := range b.ranks() {
		v, exact := d.Quantile(b.def.Quantile, q)
		out.Quantiles[rankName(q)] = v / scale
		out.Exact = out.Exact && exact
	}
	d.Rest()
	if !out.Exact {
		out.Notes = append(out.Notes, "approx: quantiles come from a histogram and are within 0.4 %")
	}
	if wide {
		out.Notes = append(out.Notes, b.fewValues(sums.N)...)
	}
	return out
}
