package cell

import (
	"math"

	"servescope/analyzer/kernel"
	"servescope/analyzer/metric"
	"servescope/analyzer/trace"
)

// target is a cell of the report and the places whose contents it unites.
type target struct {
	Group  int32
	Window int64
	From   []Place
}

// Targets returns the cells of a run that unite the given places: the whole run,
// each group, each window, each group in each window; and the other windows of
// the run's interval, so that idle time shows. A group that has nothing in the
// query's interval has a cell all the same, with nothing in it.
func (b *Base) Targets(run int32, places []Place) []target {
	list := []target{{Group: -1, Window: kernel.NoWindow}}
	index := map[[2]int64]int{{-1, kernel.NoWindow}: 0}
	add := func(group int32, window int64) *target {
		key := [2]int64{int64(group), window}
		i, ok := index[key]
		if !ok {
			i = len(list)
			index[key] = i
			list = append(list, target{Group: group, Window: window})
		}
		return &list[i]
	}
	for _, p := range places {
		if p.Run != run {
			continue
		}
		if p.Window == Elsewhere { // what the group has there is not in its cell
			if len(b.Query.By) > 0 && p.Group >= 0 {
				add(p.Group, kernel.NoWindow)
			}
			continue
		}
		for _, group := range []int32{-1, p.Group} {
			for _, window := range []int64{kernel.NoWindow, p.Window} {
				if group >= 0 && len(b.Query.By) == 0 {
					continue
				}
				t := add(group, window)
				if n := len(t.From); n == 0 || t.From[n-1] != p {
					t.From = append(t.From, p)
				}
			}
		}
	}
	groups := []int32{-1}
	for _, t := range list {
		if t.Window == kernel.NoWindow && t.Group >= 0 {
			groups = append(groups, t.Group)
		}
	}
	windows := b.Windows(run)
	for _, window := range windows[:min(len(windows), MaxCells/len(groups))] {
		for _, group := range groups {
			add(group, window)
		}
	}
	return list
}

// AxisOf returns the axis of a clock of a run. A clock that is not the run's has
// no windows.
func (b *Base) AxisOf(run int32, clock trace.Clock) axis {
	var f kernel.RunFacts
	if int(run) < len(b.Facts.Runs) {
		f = b.Facts.Runs[run]
	}
	a := axis{}
	a.From, a.To = f.Bound(b.Query, clock)
	if b.Query.Window <= 0 || clock.Kind == trace.RequestClock {
		return a
	}
	if clock.Kind != trace.Wall {
		if !f.HasTimes || clock.String() != f.Clock {
			a.late = !f.HasTimes && b.Facts.Pass == 0
			return a
		}
		a.Origin = f.FirstSend
	}
	a.Length = b.Query.Window
	return a
}

// Over returns W of a run: the part of its interval that the query is about.
func (b *Base) Over(run int32) Interval { return b.OverSpan(run, b.Def.Span) }

// OverSpan returns W with the length of the given span, where the query is about
// the whole run.
func (b *Base) OverSpan(run int32, span metric.Span) Interval {
	info := b.Runs[run]
	w := info.over(b.Def, span)
	if !b.Query.Timed() {
		return w
	}
	if w.Part = true; !w.Placed {
		if w.Reason == metric.None { // the duration covers the whole run
			w = Interval{Reason: metric.Clock, Part: true}
		}
		return w
	}
	a := b.axisOfSide(run, info)
	in := w.clip(a.From, a.To)
	if x := &info.Side(int(info.CountingSide())).Selected; !in.Placed && (a.To <= w.From || a.From > w.To) {
		in.Reason = metric.NoToken // requests may be sent behind the last token of all
		if a.To <= w.From || a.From > x.LastSend {
			in.Reason = metric.NoRequests
		}
	}
	return in
}

// axisOfSide returns the axis of the side that counts a run's requests.
func (b *Base) axisOfSide(run int32, info *Run) axis {
	clock, _ := trace.ParseClock(info.Side(int(info.CountingSide())).Clock)
	return b.AxisOf(run, clock)
}

// Clip returns the part of W that a window covers.
func (b *Base) Clip(run int32, info *Run, w Interval, window int64) Interval {
	if !w.Placed {
		return w
	}
	a := b.axisOfSide(run, info)
	return w.clip(window, a.End(window))
}

// Windows returns the starts of the windows that W of a run covers, the
// earliest maxCells of them.
func (b *Base) Windows(run int32) []int64 {
	w := b.Over(run)
	if !w.Placed {
		return nil
	}
	a := b.axisOfSide(run, b.Runs[run])
	if a.Length == 0 {
		return nil
	}
	var list []int64
	first, last := a.Window(w.From), min(w.To, a.To-1)
	for t := first; t > Elsewhere && t <= last && len(list) < MaxCells; t += a.Length {
		list = append(list, t)
		if t > math.MaxInt64-a.Length {
			break
		}
	}
	return list
}
