package tokens

import (
	"fmt"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

func (s *state) Finish(out kernel.Output) {
	if s.found != nil {
		for at, r := range s.Cells.ByPlace {
			if of := s.found.Cells.ByPlace[at]; of != nil {
				of.refine(r)
			}
		}
		s.found.Finish(out)
		return
	}
	s.Cells.Prune()
	s.FinishingOf(s.Cells.Places(), func(run int32, info *cell.Run, places []cell.Place) {
		side := info.LatencySide(s.Def)
		for _, t := range s.Targets(run, cell.OfRequests(places)) {
			p := s.Cells.ByPlace[cell.Place{Window: t.Window, Run: run, Group: t.Group, Side: int32(side)}]
			idle := p == nil && (t.Window != kernel.NoWindow || len(t.From) == 0)
			if p == nil {
				p = s.Cells.Fresh()
			} else if p.empty() { // of a group that has nothing in the query's interval
				idle = true
			}
			s.put(out.Cell(run, t.Group, t.Window), p, int(run) < len(s.Facts.Runs) && s.Facts.Runs[run].Sized, side, t.Window == kernel.NoWindow && s.only == nil, idle)
		}
	})
}

// put writes the metrics of a cell.
func (s *state) put(c *report.Cell, p *pool, sized bool, side trace.Side, wide, idle bool) {
	gapScale := 1.0
	if s.Def.Split == metric.EvenGaps || s.Def.Gaps == metric.PaceGaps {
		gapScale = request.Fraction
	}
	for i, m := range [poolDigests]struct {
		name  string
		scale float64
	}{{"chunk_gap", gapScale}, {"token_latency", request.Fraction}, {"tokens_per_chunk", 1}} {
		if !s.only.Has(m.name) {
			continue
		}
		out := s.EmptyMetric(m.name, side, p.excluded[i], idle)
		out.Requests = p.requests[i]
		out = s.pooled(out, p.digests[i], m.scale, wide)
		if n := p.excluded[i].Get(metric.NotRecorded); i != gapDigest && n > 0 && out.N > 0 {
			out.Notes = append(out.Notes, fmt.Sprintf("chunk_tokens: over the %d requests that tell the tokens of each chunk; %d do not", p.requests[i], n))
		}
		cell.SetMetric(c, m.name, out)
	}
	if s.only.Has("token_latency") && s.plain() && !sized && p.uneven == 0 && p.digests[gapDigest].Moments().N > 0 {
		out := s.EmptyMetric("token_latency", side, p.excluded[gapDigest], idle) // each gap leads to one token
		out.Requests = p.requests[gapDigest]
		cell.SetMetric(c, "token_latency", s.pooled(out, p.digests[gapDigest], 1, wide))
	}
	if !s.only.Has("ttft_upper") {
		return
	}
	m := s.EmptyMetric("ttft_upper", side, p.noUpper, idle)
	m = s.Distribution(m, &request.Measure{}, stat.SampleOf(p.upper), wide)
	if m.N > 0 {
		if lower := float64(p.lower) / float64(m.N); m.Mean > 1.05*lower {
			m.Notes = append(m.Notes, fmt.Sprintf("role_chunk_possible: TTFT is %s on average if the first event carries a token, %s if it carries only a role",
				unit.Format(unit.Nanosecond, lower), unit.Format(unit.Nanosecond, m.Mean)))
		}
	}
	cell.SetMetric(c, "ttft_upper", m)
}

// pooled fills a metric with the statistics of a digest whose values are in
// 1/scale of the metric's unit; scale is a power of two.
func (s *state) pooled(out report.Metric, d *stat.Digest, scale float64, wide bool) report.Metric {
	sums := d.Moments()
	if sums.N == 0 {
		return out
	}
	out.Reason, out.N, out.Exact = "", sums.N, true
	out.Mean, out.Std = sums.Mean()/scale, sums.Std()/scale
	out.Std = s.Deviation(out.Std, sums.N)
	out.Min, out.Max = float64(sums.Min)/scale, float64(sums.Max)/scale
	out.Quantiles = make(map[string]float64)
	for _, q := range s.Ranks() {
		v, exact := d.Quantile(s.Def.Quantile, q)
		out.Quantiles[cell.RankName(q)] = v / scale
		out.Exact = out.Exact && exact
	}
	d.DropUnpacked()
	if !out.Exact {
		out.Notes = append(out.Notes, "approx: quantiles come from a histogram and are within 0.4 %")
	}
	if wide {
		out.Notes = append(out.Notes, s.FewValues(sums.N)...)
	}
	return out
}
