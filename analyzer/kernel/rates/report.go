package rates

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

func (s *state) Finish(out kernel.Output) {
	s.Cells.Prune()
	seconds := make(map[int32][]cell.Place) // by run
	for _, p := range s.seconds.Places() {
		seconds[p.Run] = append(seconds[p.Run], p)
	}
	s.FinishingOf(s.Cells.Places(), func(run int32, info *cell.Run, all []cell.Place) {
		side := info.CountingSide()
		w := s.Over(run)
		namer := s.namer(run, all, info)
		targets := s.Targets(run, cell.Within(all, side))
		wholes := make(map[int32]*flow) // by group
		for _, t := range targets {
			if t.Window == kernel.NoWindow {
				wholes[t.Group] = s.United(t.From)
			}
		}
		for _, t := range targets {
			sum := s.United(t.From)
			c := out.Cell(run, t.Group, t.Window)
			in := w
			if t.Window != kernel.NoWindow {
				in = s.Clip(run, info, w, t.Window)
			}
			all := t.Window == kernel.NoWindow
			p := putter{query: s.Query, def: s.Def, c: c, f: sum, w: &in, lack: sum.lack(all), wide: all && !in.Part, whole: all, prefill: side == trace.Prefill,
				names: sum, side: side, all: wholes[t.Group]}
			p.allNames = p.all
			if from := namer.from[cellKey{t.Group, kernel.NoWindow}]; !p.all.named() && len(from) > 0 {
				p.names, p.allNames, p.side = s.United(namer.from[cellKey{t.Group, t.Window}]), s.United(from), namer.side
			}
			s.put(&p)
			peak := report.Null(metric.WholeRun.String())
			if all {
				peak = s.peak(run, t.Group, side, seconds[run], &p)
			}
			cell.SetValue(c, "tps_peak", peak)
		}
	})
}

// peak returns the greatest number of tokens in a second of the run's clock.
func (s *state) peak(run, group int32, side trace.Side, places []cell.Place, p *putter) report.Value {
	w, f := p.w, p.f
	switch {
	case !w.Placed && w.Reason != metric.None:
		return report.Null(w.Reason.String())
	case !w.Placed:
		return report.Null(metric.Clock.String())
	case w.To-w.From < request.Second && !s.Def.ChunkPeak:
		return report.Null(metric.BucketOverRun.String())
	case f.unlisted > 0:
		return report.Null(metric.NotRecorded.String())
	}
	var sum seconds
	for _, p := range places {
		if p.Run == run && p.Side == int32(side) && (group < 0 || p.Group == group) {
			sum.Merge(s.seconds.ByPlace[p])
		}
	}
	switch most := sum.peak(); {
	case sum.full || f.long > 0:
		return report.Null(metric.TooMany.String())
	case s.Def.ChunkPeak:
		return report.Known(float64(most), unit.TokenRate)
	case f.tokens == 0 && f.unknown > 0:
		return report.Null(metric.NUnknown.String())
	default:
		v := report.Known(float64(most), unit.TokenRate)
		v.Note = p.lacking(f.unknown)
		v.Note = cell.Joined(v.Note, spreadNote(max(f.spread-f.byChunk, 0)))
		if mean := float64(f.tokens) * 1e9 / float64(w.To-w.From); mean > v.V { // W is no whole number of seconds
			v.V = mean
			v.Note = cell.Joined(v.Note, "the mean: no second of the clock holds as much")
		}
		return v
	}
}

// put writes the rates of a cell.
func (s *state) put(p *putter) {
	w, t := p.w, &p.c.Throughput
	t.From, t.To, t.Window = report.Null(metric.Clock.String()), report.Null(metric.Clock.String()), report.Null(w.Reason.String())
	if w.Placed {
		t.From, t.To = report.KnownInt(w.From, unit.Nanosecond), report.KnownInt(w.To, unit.Nanosecond)
	} else if w.Reason != metric.None {
		t.From, t.To = t.Window, t.Window
	}
	if w.Reason == metric.None {
		t.Window = report.KnownInt(w.Length, unit.Nanosecond)
		t.Window.Note = w.Note
	}
	p.requests()
	p.tokens()
	p.totals()
	p.model()
	if len(s.Query.SLO) == 0 {
		p.null("goodput", metric.NoObjective)
	}
}

// cellKey is a cell of a run.
type cellKey struct {
	group  int32
	window int64
}

// namer is a side of a run whose rows name replicas where those of the side that
// counts its requests do not: a client knows no replica, the servers behind it are
// some.
type namer struct {
	side trace.Side
	from map[cellKey][]cell.Place
}

// namer returns the side nearest to the engines that decode.
func (s *state) namer(run int32, all []cell.Place, info *cell.Run) namer {
	for _, side := range [...]trace.Side{trace.Decode, trace.Engine, trace.Server} {
		if side == info.CountingSide() || info.Side(int(side)).Rows == 0 {
			continue
		}
		n := namer{side, make(map[cellKey][]cell.Place)}
		for _, t := range s.Targets(run, cell.Within(all, side)) {
			n.from[cellKey{t.Group, t.Window}] = t.From
		}
		if s.United(n.from[cellKey{-1, kernel.NoWindow}]).named() {
			return n
		}
	}
	return namer{}
}
