package concurrency

import (
	"slices"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/stat"
	"servescope/analyzer/unit"
)

// curvePoints is the number of points of a curve.
const curvePoints = 256

func (s *state) Finish(out kernel.Output) {
	s.Finishing(func(run int32, info *cell.Run) {
		groups := []int32{-1}
		for _, p := range s.places(run) {
			if len(s.Query.By) > 0 && !slices.Contains(groups, p.Group) {
				groups = append(groups, p.Group)
			}
		}
		slices.Sort(groups)
		for _, g := range groups {
			s.put(out, run, g, info, cell.MaxCells/len(groups))
		}
	})
}

// put writes the concurrency of a group, and of most windows of it.
func (s *state) put(out kernel.Output, run, group int32, info *cell.Run, most int) {
	w := s.Over(run)
	all := s.flight(run, group, info.CountingSide())
	var idle kernel.Idle
	if len(all.open) > 0 {
		idle = out.Idle(run)
	}
	sweep := all.sweep(idle)
	n, last := all.inferred(idle)
	c := out.Cell(run, group, kernel.NoWindow)
	in := inFlight(info, w, last)
	over := s.sweep(run, info).over
	if group >= 0 || len(all.open) > 0 {
		over = overOf(&in, sweep, curvePoints)
	}
	c.Concurrency = concurrencyOf(over, in, all, n)
	for _, step := range over.Curve { // a window's part of it is in the curve of its run
		c.Concurrency.Curve = append(c.Concurrency.Curve, report.Point{T: step.T, V: step.N})
	}
	if s.Def.Buckets && c.Concurrency.Max.Known {
		c.Concurrency.Max = report.KnownInt(stat.NewSweep(&all.starts, &all.ends).MaxTouching(request.Second), unit.None)
		c.Concurrency.Max.Note = "by whole seconds, which counts too many" // more than are ever in flight at once
	}
	little(c, all, &w)
	c.Concurrency.SteadyFrom, c.Concurrency.SteadyTo = report.Null(metric.WholeRun.String()), report.Null(metric.WholeRun.String())
	if group < 0 { // the steady window is the same that a trim takes, which knows of requests alone
		steady(&c.Concurrency, s.sweep(run, info).plateau)
	}
	windows := s.Windows(run)
	for _, window := range windows[:min(len(windows), most)] {
		in := s.Clip(run, info, w, window)
		c := out.Cell(run, group, window)
		c.Concurrency = concurrencyOf(overOf(&in, sweep, 0), in, all, n)
		c.Concurrency.SteadyFrom, c.Concurrency.SteadyTo = report.Null(metric.WholeRun.String()), report.Null(metric.WholeRun.String())
		cell.SetValue(c, "concurrency_mean", c.Concurrency.Mean)
		cell.SetValue(c, "concurrency_little", report.Null(metric.WholeRun.String()))
	}
}

// inFlight returns what a run's concurrency is over: W, and where no token is
// recorded the time from the first send to the last inferred end.
func inFlight(r *cell.Run, w cell.Interval, last int64) cell.Interval {
	x := &r.Side(int(r.CountingSide())).Selected
	if w.Placed || w.Reason != metric.NoToken || last == request.None || x.FirstSend == request.None || last <= x.FirstSend {
		return w
	}
	return cell.Interval{From: x.FirstSend, To: last, Placed: true, Length: last - x.FirstSend, Note: "from the first send to the last inferred end, since no token is recorded"}
}

// overOf returns what a sweep tells of w, nothing where it is not placed.
func overOf(w *cell.Interval, sweep *stat.Sweep, limit int) (o stat.Summary) {
	if w.Placed {
		o = sweep.Summarize(w.From, w.To, limit)
	}
	return o
}

// concurrencyOf returns the concurrency over w; inferred requests end by what
// engines say.
func concurrencyOf(over stat.Summary, w cell.Interval, all *flight, inferred int64) report.Concurrency {
	c := report.Concurrency{Curve: []report.Point{}, Inferred: inferred}
	if !w.Placed {
		why := w.Reason
		if why == metric.None {
			why = metric.Clock
		}
		c.Mean, c.Max = report.Null(why.String()), report.Null(why.String())
		return c
	}
	c.Mean = report.Known(over.Mean, unit.None)
	c.Max = report.Known(float64(over.Max), unit.None)
	c.Mean.Note = cell.Joined(w.Note,
		cell.Counted(all.endless, "1 request without a recorded start or end is left out", "%d requests without a recorded start or end are left out"),
		cell.Counted(inferred, "the end of 1 request is inferred: the engine says that nothing runs or waits", "the ends of %d requests are inferred: the engines say that nothing runs or waits"))
	return c
}

// little writes both sides of Little's law.
func little(c *report.Cell, all *flight, w *cell.Interval) {
	cell.SetValue(c, "concurrency_mean", c.Concurrency.Mean)
	why := w.Reason
	switch {
	case w.Part: // requests lie partly outside
		cell.SetValue(c, "concurrency_little", report.Null(metric.WholeRun.String()))
		return
	case why == metric.None && all.residence.N == 0:
		why = metric.NotRecorded
	}
	none := report.Null(why.String())
	l := &report.Little{InFlight: c.Concurrency.Mean, Rate: none, Residence: none, Product: none, Difference: none}
	if why == metric.None {
		n := float64(all.residence.N)
		l.Rate = report.Known(n*1e9/float64(w.Length), unit.PerSecond)
		l.Residence = report.Known(all.residence.Mean(), unit.Nanosecond)
		l.Product = report.Known(all.residence.Mean()*n/float64(w.Length), unit.None)
		l.Product.Note = cell.Joined(w.Note, cell.Counted(all.unended, "1 request without a recorded start or end is left out", "%d requests without a recorded start or end are left out"))
		l.Difference = report.Null(c.Concurrency.Mean.Reason)
		if m := c.Concurrency.Mean; m.Known {
			l.Difference = report.Known(m.V-l.Product.V, unit.None)
			if m.V > 0 && w.Note == "" && (l.Product.V > 1.01*m.V || l.Product.V < 0.99*m.V) {
				l.Product.Note = cell.Joined(l.Product.Note, "trust concurrency_mean: the sweep cuts requests at the ends of W, and holds open ones in flight until then")
			}
		}
	}
	c.Concurrency.Little = l
	cell.SetValue(c, "concurrency_little", l.Product)
}
