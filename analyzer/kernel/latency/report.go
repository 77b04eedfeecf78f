package latency

import (
	"fmt"
	"strconv"
	"strings"

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
	if s.wanted != nil {
		s.completed().Finish(out)
		return
	}
	s.Cells.Prune()
	s.FinishingOf(s.Cells.Places(), func(run int32, info *cell.Run, places []cell.Place) {
		if info.Multiple() {
			s.sides(out.Run(run), run, places)
		}
		for _, t := range s.Targets(run, cell.OfRequests(places)) {
			c := out.Cell(run, t.Group, t.Window)
			bySide := s.unite(t.From)
			main := info.LatencySide(s.Def)
			wide, idle := t.Window == kernel.NoWindow && s.only == nil, len(t.From) == 0
			lack := new(samples) // says what sides lack
			if of := bySide[info.CountingSide()]; of != nil {
				lack = of
			}
			for slot := range request.Measures {
				side := main
				if request.Measures[slot].FromClient() && bySide[trace.Client] != nil {
					side = trace.Client
				}
				s.put(c, request.Measures[slot].Name, slot, side, bySide[side], lack, wide, idle)
			}
			s.put(c, "ttft_client", request.MeasureTTFT, trace.Client, bySide[trace.Client], lack, wide, idle)
			s.put(c, "ttft_server", request.MeasureTTFT, trace.Server, bySide[trace.Server], lack, wide, idle)
			engine := trace.Engine
			if bySide[engine] == nil && bySide[trace.Decode] != nil {
				engine = trace.Decode
			}
			s.put(c, "ttft_engine", request.MeasureTTFTEngine, engine, bySide[engine], lack, wide, idle)
			s.notes(c, info, main, bySide[main])
		}
	})
}

// unite returns the samples of the given places by side; nil where there are none.
func (s *state) unite(places []cell.Place) (bySide [request.NumSlots]*samples) {
	for _, p := range places {
		cell := s.Cells.ByPlace[p]
		switch all := bySide[p.Side]; {
		case len(places) == 1:
			bySide[p.Side] = cell
		case all == nil:
			bySide[p.Side] = new(samples)
			bySide[p.Side].unite(cell)
		default:
			all.unite(cell)
		}
	}
	return bySide
}

// put writes one metric. Idle cells hold no request at all; lack tells how many
// requests of the cell have no row of the side.
func (s *state) put(c *report.Cell, name string, slot int, side trace.Side, of, lack *samples, wide, idle bool) {
	if !s.only.Has(name) {
		return
	}
	if of == nil {
		of = new(samples)
	}
	excluded := of.excluded[slot]
	if n := lack.unjoined[side]; n > 0 {
		excluded = excluded.With(metric.NotJoined, n)
	}
	m := s.EmptyMetric(name, side, excluded, idle)
	if slot == request.MeasureTPOT && len(of.tpots) > 0 {
		cell.SetMetric(c, name, of.tpots.distribution(m, &s.Base, wide))
		return
	}
	m = s.Distribution(m, &request.Measures[slot], &of.values[slot], wide)
	if mayBeCensored(slot) {
		s.bound(&m, &request.Measures[slot], &of.values[slot], of.censored, wide)
	}
	of.values[slot].DropUnpacked()
	cell.SetMetric(c, name, m)
}

// bound puts beside the quantiles of a TTFT those with n more values at infinity:
// the truth lies between the two.
func (s *state) bound(out *report.Metric, m *request.Measure, values *stat.Sample, n int64, wide bool) {
	if n == 0 || out.N == 0 {
		return
	}
	out.Censored, out.Upper = n, make(map[string]any)
	var texts []string
	for _, q := range s.Ranks() {
		name := "p" + strconv.FormatFloat(q*100, 'g', 10, 64)
		lo, hi, t := s.Def.Quantile.Ranks(out.N+n, q)
		if lo >= out.N || hi >= out.N && t > 0 {
			out.Upper[cell.RankName(q)] = nil
			texts = append(texts, name+" unbounded")
			continue
		}
		hi = min(hi, out.N-1)
		a, exactA := values.At(lo)
		b, exactB := values.At(hi)
		v := stat.Lerp(m.Float(a), m.Float(b), t)
		out.Exact = out.Exact && exactA && exactB
		out.Upper[cell.RankName(q)] = v
		texts = append(texts, name+" "+unit.Format(out.Unit, v))
	}
	if wide {
		out.Notes = append(out.Notes, fmt.Sprintf("censored: %s before the first token; if it never came: %s",
			cell.Counted(n, "1 request was aborted or is open", "%d requests were aborted or are open"), strings.Join(texts, ", ")))
	}
}

// notes says what a reader of the cell's latencies must know.
func (s *state) notes(c *report.Cell, info *cell.Run, main trace.Side, of *samples) {
	if of == nil || s.only != nil {
		return
	}
	add := func(name, format string, args ...any) {
		m := c.Metrics[name]
		if m.N > 0 {
			m.Notes = append(m.Notes, fmt.Sprintf(format, args...))
			c.Metrics[name] = m
		}
	}
	if of.eventOnly > 0 {
		add("ttft", "first_event: %d of %d end at the first event, the only one recorded; see ttft_upper", of.eventOnly, c.Metrics["ttft"].N)
	}
	if of.streamEnd > 0 {
		add("e2e", "stream_end: %d of %d end with the response, since no last token is recorded", of.streamEnd, c.Metrics["e2e"].N)
	}
	if of.tail > 0 {
		add("tpot_from_total", "stream_end: the response ends %s after the last token, on average", unit.Format(unit.Nanosecond, float64(of.tail)/float64(of.tailRows)))
	}
	if of.served > 0 && of.served != of.retokenized {
		add("output_tokens", "client_count: the client counts %s of the server's tokens over %s: the text is degenerate or the tokenizer differs",
			unit.Format(unit.Ratio, float64(of.retokenized)/float64(of.served)), cell.Counted(of.both, "1 request", "%d requests"))
	}
	for s := range request.NumSides {
		if n := info.Side(s).Timed; trace.Side(s) != main && n > 0 && !info.Linked {
			add("ttft", "side: %s stamps; the run also has %s stamped by the %s", request.SideName(main), cell.Counted(n, "1 request", "%d requests"), request.SideName(trace.Side(s)))
		}
	}
	if m := c.Metrics["ttft"]; of.resolution > 0 && m.N > 0 && float64(of.resolution) > m.Mean/20 {
		add("ttft", "resolution: stamps have a step of %s", unit.FormatDuration(of.resolution))
	}
}

// ofSides calls f with all latencies of each side of a run that has any.
func (s *state) ofSides(index int32, places []cell.Place, f func(side trace.Side, all *samples)) {
	var mine []cell.Place
	for _, p := range places {
		if p.Run == index && p.Group >= 0 && p.Window != cell.Elsewhere {
			mine = append(mine, p)
		}
	}
	bySlot := s.unite(mine)
	for side := range trace.Side(request.NumSides) {
		all := new(samples)
		for _, of := range [...]*samples{bySlot[side], bySlot[int(side)+request.NumSides]} {
			if of != nil {
				all.unite(of)
			}
		}
		if all.rows > 0 {
			f(side, all)
		}
	}
}

// sides writes the latencies of each side of a run, over all of its rows.
func (s *state) sides(run *report.Run, index int32, places []cell.Place) {
	s.ofSides(index, places, func(side trace.Side, all *samples) {
		to := cell.SideOf(run, side)
		to.Metrics = make(map[string]report.Metric)
		for slot := range request.Measures {
			m := s.Distribution(s.EmptyMetric(request.Measures[slot].Name, side, all.excluded[slot], false), &request.Measures[slot], &all.values[slot], false)
			all.values[slot].DropUnpacked()
			if m.N > 0 {
				to.Metrics[request.Measures[slot].Name] = m
			}
		}
	})
}
