package kernel

import (
	"math"
	"slices"

	"servescope/analyzer/join"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// concurrency computes the number of requests in flight over time, by an exact
// sweep over all of them, and the steady window of a run. Some 6 bytes a request.
type concurrency struct{ def *metric.Definition }

func (concurrency) Name() string { return "concurrency" }
func (concurrency) Lists() bool  { return false }
func (k concurrency) New(q *query.Query, facts *Facts) State {
	s := new(concurrencyState)
	s.base = newBase(k.def, q, facts)
	return s
}

// flight holds the requests of a place as intervals from send to end.
type flight struct {
	starts, ends stat.Instants
	open         []int64 // when the requests that the log leaves open were last seen; they have a start and no end
	endless      int64   // requests without an end, left out
	unended      int64   // of all, those without a residence
	residence    stat.Moments
}

func (f *flight) merge(o *flight) {
	f.starts.Merge(&o.starts)
	f.ends.Merge(&o.ends)
	f.open = append(f.open, o.open...)
	f.endless += o.endless
	f.unended += o.unended
	f.residence.Merge(&o.residence)
}

func (f *flight) weight() int64 { return 0 } // is never in a window
func (f *flight) size() int64   { return f.starts.Size() + f.ends.Size() + 8*int64(cap(f.open)) }

func (f *flight) appendTo(dst []byte) []byte {
	dst = appendValues(f.ends.AppendTo(f.starts.AppendTo(dst)), f.open)
	return f.residence.AppendTo(appendInts(dst, f.endless, f.unended))
}

func (f *flight) load(src *reader) {
	src.part(f.starts.Load)
	src.part(f.ends.Load)
	f.open = src.sorted()
	src.ints(&f.endless, &f.unended)
	src.moments(&f.residence)
	if f.starts.N() != f.ends.N()+int64(len(f.open)) {
		src.fail()
	}
}

// add adds a request.
func (f *flight) add(w *row, def *metric.Definition) {
	start, end := w.enter, or(w.finish, w.last)
	d, why := between(start, end)
	if def.OKOnly {
		d, why = between(w.start, w.end(def))
	}
	switch {
	case def.OKOnly && w.cohort(def) != metric.None: // tools forget them
	case why != metric.None, w.status == trace.Open, w.status == trace.HeadMissing:
		f.unended++
	default:
		f.residence.AddN(d, 1)
	}
	switch w.status {
	case trace.Open: // in flight until the log ends, or until an engine's log says that it is not
		if start != none && w.placed {
			f.starts.Add(start)
			f.open = append(f.open, max(start, w.event, w.token, w.last))
		}
		if start == none {
			f.endless++
		}
		return
	case trace.HeadMissing: // in flight since before it began
		start = math.MinInt64 + 1
	}
	if start == none || end == none || end < start {
		f.endless++
		return
	}
	if def.Buckets && w.cohort(def) != metric.None {
		return
	}
	if w.placed {
		f.starts.Add(start)
		f.ends.Add(end)
	}
}

type concurrencyState struct {
	celled[flight, *flight]
	swept map[int32]*swept  // by run, of those asked for since the state last changed
	byRun map[int32][]place // the cells, since the state last changed; nil: nobody has asked
}

func (s *concurrencyState) Update(v *View) {
	s.swept, s.byRun = nil, nil
	x := s.begin(v)
	for i := range v.Rows {
		if w, selected := x.next(i); selected && !w.sibling && w.role != join.Linked {
			s.cells.at(place{NoWindow, x.index, x.group[i], w.slot()}, 0).add(w.request(), s.def)
		}
	}
}

func (s *concurrencyState) Merge(other State) error {
	o, ok := other.(*concurrencyState)
	if !ok {
		return errMerge(s, other)
	}
	s.swept, s.byRun = nil, nil
	return s.merge(&o.celled)
}

func (s *concurrencyState) LoadState(src []byte) error {
	s.swept, s.byRun = nil, nil
	return s.celled.LoadState(src)
}

// Next adds the steady windows to facts.
func (s *concurrencyState) Next(facts *Facts) bool {
	again := s.learn(facts)
	s.finishing(func(run int32, info *runInfo) {
		if p := s.sweep(run, info).plateau; p.why == metric.None {
			f := &facts.Runs[run] // of the same side, unless the query selects another
			f.HasSteady = f.Clock == info.side(int(info.counting())).clock
			f.SteadyFrom, f.SteadyTo = p.window[0], p.window[1]
		}
	})
	return again
}

// places returns the cells of a run.
func (s *concurrencyState) places(run int32) []place {
	if s.byRun == nil {
		s.byRun = make(map[int32][]place, len(s.runs))
		for p := range s.cells.byPlace {
			s.byRun[p.run] = append(s.byRun[p.run], p)
		}
	}
	return s.byRun[run]
}

// flight returns all requests of a group of one side; group -1 is all. What is
// in one place is not copied.
func (s *concurrencyState) flight(run, group int32, side trace.Side) *flight {
	var list []*flight
	for _, p := range s.places(run) {
		if p.side == int32(side) && (group < 0 || p.group == group) {
			list = append(list, s.cells.byPlace[p])
		}
	}
	if len(list) == 1 {
		return list[0]
	}
	all := new(flight)
	for _, f := range list {
		all.merge(f)
	}
	return all
}

// sweep returns the number of requests in flight. Those that the log leaves open
// are so until the end of time, or until the engines are idle.
func (f *flight) sweep(idle Idle) *stat.Sweep {
	if len(f.open) == 0 {
		return stat.NewSweep(&f.starts, &f.ends)
	}
	ends := new(stat.Instants)
	ends.Merge(&f.ends)
	for _, seen := range f.open {
		end, ok := idle.End(seen)
		if !ok {
			end = math.MaxInt64
		}
		ends.Add(end)
	}
	return stat.NewSweep(&f.starts, ends)
}

// inferred returns how many requests end by what engines say, and the last of
// these ends.
func (f *flight) inferred(idle Idle) (n, last int64) {
	last = none
	for _, seen := range f.open {
		if end, ok := idle.End(seen); ok {
			n, last = n+1, max(last, end)
		}
	}
	return n, last
}

// curvePoints is the number of points of a curve.
const curvePoints = 256

func (s *concurrencyState) Finish(out Output) {
	s.finishing(func(run int32, info *runInfo) {
		groups := []int32{-1}
		for _, p := range s.places(run) {
			if len(s.q.By) > 0 && !slices.Contains(groups, p.group) {
				groups = append(groups, p.group)
			}
		}
		slices.Sort(groups)
		for _, g := range groups {
			s.put(out, run, g, info, maxCells/len(groups))
		}
	})
}

// put writes the concurrency of a group, and of most windows of it.
func (s *concurrencyState) put(out Output, run, group int32, info *runInfo, most int) {
	w := s.over(run)
	all := s.flight(run, group, info.counting())
	var idle Idle
	if x, ok := out.(Idler); ok && len(all.open) > 0 {
		idle = x.Idle(run)
	}
	sweep := all.sweep(idle)
	n, last := all.inferred(idle)
	c := out.Cell(run, group, NoWindow)
	in := info.inFlight(w, last)
	over := s.sweep(run, info).over
	if group >= 0 || len(all.open) > 0 {
		over = in.over(sweep, curvePoints)
	}
	c.Concurrency = concurrencyOf(over, in, all, n)
	for _, step := range over.Curve { // a window's part of it is in that of its run
		c.Concurrency.Curve = append(c.Concurrency.Curve, report.Point{T: step.T, V: step.N})
	}
	if s.def.Buckets && c.Concurrency.Max.Known {
		c.Concurrency.Max = report.KnownInt(stat.NewSweep(&all.starts, &all.ends).MaxTouching(second), unit.None)
		c.Concurrency.Max.Note = "by whole seconds, which counts too many" // more than are ever in flight at once
	}
	little(c, all, &w)
	c.Concurrency.SteadyFrom, c.Concurrency.SteadyTo = report.Null(metric.WholeRun.String()), report.Null(metric.WholeRun.String())
	if group < 0 { // the steady window is the same that a trim takes, which knows of requests alone
		steady(&c.Concurrency, s.sweep(run, info).plateau)
	}
	windows := s.windows(run)
	for _, window := range windows[:min(len(windows), most)] {
		in := s.clip(run, info, w, window)
		c := out.Cell(run, group, window)
		c.Concurrency = concurrencyOf(in.over(sweep, 0), in, all, n)
		c.Concurrency.SteadyFrom, c.Concurrency.SteadyTo = report.Null(metric.WholeRun.String()), report.Null(metric.WholeRun.String())
		setValue(c, "concurrency_mean", c.Concurrency.Mean)
		setValue(c, "concurrency_little", report.Null(metric.WholeRun.String()))
	}
}

// inFlight returns what a run's concurrency is over: W, and where no token is
// recorded the time from the first send to the last inferred end.
func (r *runInfo) inFlight(w interval, last int64) interval {
	x := &r.side(int(r.counting())).selected
	if w.placed || w.why != metric.NoToken || last == none || x.firstSend == none || last <= x.firstSend {
		return w
	}
	return interval{from: x.firstSend, to: last, placed: true, dt: last - x.firstSend, note: "from the first send to the last inferred end, since no token is recorded"}
}

// over returns what a sweep tells of w, nothing where it is not placed.
func (w *interval) over(sweep *stat.Sweep, limit int) (o stat.Over) {
	if w.placed {
		o = sweep.Over(w.from, w.to, limit)
	}
	return o
}

// concurrencyOf returns the concurrency over w; inferred requests end by what
// engines say.
func concurrencyOf(over stat.Over, w interval, all *flight, inferred int64) report.Concurrency {
	c := report.Concurrency{Curve: []report.Point{}, Inferred: inferred}
	if !w.placed {
		why := w.why
		if why == metric.None {
			why = metric.Clock
		}
		c.Mean, c.Max = report.Null(why.String()), report.Null(why.String())
		return c
	}
	c.Mean = report.Known(over.Mean, unit.None)
	c.Max = report.Known(float64(over.Max), unit.None)
	c.Mean.Note = joined(w.note,
		counting(all.endless, "1 request without a recorded start or end is left out", "%d requests without a recorded start or end are left out"),
		counting(inferred, "the end of 1 request is inferred: the engine says that nothing runs or waits", "the ends of %d requests are inferred: the engines say that nothing runs or waits"))
	return c
}

// little writes both sides of Little's law.
func little(c *report.Cell, all *flight, w *interval) {
	setValue(c, "concurrency_mean", c.Concurrency.Mean)
	why := w.why
	switch {
	case w.part: // requests lie partly outside
		setValue(c, "concurrency_little", report.Null(metric.WholeRun.String()))
		return
	case why == metric.None && all.residence.N == 0:
		why = metric.NotRecorded
	}
	none := report.Null(why.String())
	l := &report.Little{InFlight: c.Concurrency.Mean, Rate: none, Residence: none, Product: none, Difference: none}
	if why == metric.None {
		n := float64(all.residence.N)
		l.Rate = report.Known(n*1e9/float64(w.dt), unit.PerSecond)
		l.Residence = report.Known(all.residence.Mean(), unit.Nanosecond)
		l.Product = report.Known(all.residence.Mean()*n/float64(w.dt), unit.None)
		l.Product.Note = joined(w.note, counting(all.unended, "1 request without a recorded start or end is left out", "%d requests without a recorded start or end are left out"))
		l.Difference = report.Null(c.Concurrency.Mean.Reason)
		if m := c.Concurrency.Mean; m.Known {
			l.Difference = report.Known(m.V-l.Product.V, unit.None)
			if m.V > 0 && w.note == "" && (l.Product.V > 1.01*m.V || l.Product.V < 0.99*m.V) {
				l.Product.Note = joined(l.Product.Note, "trust concurrency_mean: the sweep cuts requests at the ends of W, and holds open ones in flight until then")
			}
		}
	}
	c.Concurrency.Little = l
	setValue(c, "concurrency_little", l.Product)
}
