package kernel

import (
	"math"
	"slices"

	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// concurrency computes the number of requests in flight over time, by an exact
// sweep over all of them, and the steady window of a run. 16 bytes a request.
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
	starts, ends []int64
	endless      int64 // requests without an end, left out
	unended      int64 // of all, those without a residence
	residence    stat.Moments
}

func (f *flight) merge(o *flight) {
	f.starts, f.ends = append(f.starts, o.starts...), append(f.ends, o.ends...)
	f.endless += o.endless
	f.unended += o.unended
	f.residence.Merge(&o.residence)
}

func (f *flight) weight() int64 { return 0 } // is never in a window
func (f *flight) size() int64   { return 8 * int64(cap(f.starts)+cap(f.ends)) }

func (f *flight) appendTo(dst []byte) []byte {
	dst = appendValues(appendValues(dst, f.starts), f.ends)
	return f.residence.AppendTo(appendInts(dst, f.endless, f.unended))
}

func (f *flight) load(src *reader) {
	f.starts, f.ends = src.sorted(), src.sorted()
	src.ints(&f.endless, &f.unended)
	rest, err := f.residence.Load(src.src)
	if err != nil || len(f.starts) != len(f.ends) {
		src.fail()
		return
	}
	src.src = rest
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
	case trace.Open: // in flight until the log ends
		end = math.MaxInt64
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
		f.starts, f.ends = append(f.starts, start), append(f.ends, end)
	}
}

type concurrencyState struct {
	celled[flight, *flight]
}

func (s *concurrencyState) Update(v *View) {
	x := s.begin(v)
	for i := range v.Rows {
		if w, selected := x.next(i); selected && !w.sibling {
			s.cells.at(place{NoWindow, x.index, x.group[i], int32(w.side)}, 0).add(w.request(), s.def)
		}
	}
}

func (s *concurrencyState) Merge(other State) error {
	o, ok := other.(*concurrencyState)
	if !ok {
		return errMerge(s, other)
	}
	return s.merge(&o.celled)
}

// Next adds the steady windows to facts.
func (s *concurrencyState) Next(facts *Facts) bool {
	again := s.learn(facts)
	s.finishing(func(run int32, info *runInfo) {
		all := s.flight(run, -1, info.counting())
		if steady, why := steadyOf(stat.NewSweep(all.starts, all.ends), info); why == metric.None {
			f := &facts.Runs[run] // of the same side, unless the query selects another
			f.HasSteady = f.Clock == info.sides[info.counting()].clock
			f.SteadyFrom, f.SteadyTo = steady[0], steady[1]
		}
	})
	return again
}

// flight returns all requests of a group of one side; group -1 is all.
func (s *concurrencyState) flight(run, group int32, side trace.Side) *flight {
	all := new(flight)
	for p, f := range s.cells.byPlace {
		if p.run == run && p.side == int32(side) && (group < 0 || p.group == group) {
			all.merge(f)
		}
	}
	return all
}

// curvePoints is the number of points of a curve.
const curvePoints = 256

func (s *concurrencyState) Finish(out Output) {
	s.finishing(func(run int32, info *runInfo) {
		side := info.counting()
		w := s.over(run)
		windows := s.windows(run)
		groups := []int32{-1}
		for p := range s.cells.byPlace {
			if p.run == run && len(s.q.By) > 0 && !slices.Contains(groups, p.group) {
				groups = append(groups, p.group)
			}
		}
		slices.Sort(groups)
		for _, g := range groups {
			all := s.flight(run, g, side)
			sweep := stat.NewSweep(all.starts, all.ends)
			c := out.Cell(run, g, NoWindow)
			c.Concurrency = concurrencyOf(sweep, &w, all.endless)
			if s.def.Buckets && c.Concurrency.Max.Known {
				c.Concurrency.Max = bucketMax(all.starts, all.ends)
			}
			if w.placed { // a window's part of the curve is in that of its run
				for _, step := range sweep.Curve(w.from, w.to, curvePoints) {
					c.Concurrency.Curve = append(c.Concurrency.Curve, report.Point{T: step.T, V: step.N})
				}
			}
			little(c, all, &w)
			c.Concurrency.SteadyFrom, c.Concurrency.SteadyTo = report.Null(metric.WholeRun.String()), report.Null(metric.WholeRun.String())
			if g < 0 {
				steady(&c.Concurrency, sweep, info)
			}
			for _, window := range windows[:min(len(windows), maxCells/len(groups))] {
				in := s.clip(run, info, w, window)
				c := out.Cell(run, g, window)
				c.Concurrency = concurrencyOf(sweep, &in, all.endless)
				c.Concurrency.SteadyFrom, c.Concurrency.SteadyTo = report.Null(metric.WholeRun.String()), report.Null(metric.WholeRun.String())
				setValue(c, "concurrency_mean", c.Concurrency.Mean)
				setValue(c, "concurrency_little", report.Null(metric.WholeRun.String()))
			}
		}
	})
}

// concurrencyOf returns the concurrency over w.
func concurrencyOf(sweep *stat.Sweep, w *interval, endless int64) report.Concurrency {
	c := report.Concurrency{Curve: []report.Point{}}
	if !w.placed {
		why := w.why
		if why == metric.None {
			why = metric.Clock
		}
		c.Mean, c.Max = report.Null(why.String()), report.Null(why.String())
		return c
	}
	c.Mean = report.Known(sweep.Mean(w.from, w.to), unit.None)
	c.Max = report.Known(float64(sweep.Max(w.from, w.to)), unit.None)
	c.Mean.Note = counting(endless, "1 request without a recorded start or end is left out", "%d requests without a recorded start or end are left out")
	return c
}

// bucketMax returns the greatest number of requests that lie in one second,
// counted from the first start, in full or in part: more than are ever in flight
// at once. Starts and ends are sorted.
func bucketMax(starts, ends []int64) report.Value {
	most, open, j := 0, 0, 0
	for i, t := range starts {
		for ; j < len(ends) && ends[j]-starts[0] < (t-starts[0])/second*second; j++ {
			open--
		}
		open++
		if i+1 == len(starts) || (starts[i+1]-starts[0])/second != (t-starts[0])/second {
			most = max(most, open)
		}
	}
	v := report.KnownInt(int64(most), unit.None)
	v.Note = "by whole seconds, which counts too many"
	return v
}

// little writes the mean by Little's law beside that of the sweep.
func little(c *report.Cell, all *flight, w *interval) {
	setValue(c, "concurrency_mean", c.Concurrency.Mean)
	v := report.Null(w.why.String())
	if w.part { // requests lie partly outside
		v = report.Null(metric.WholeRun.String())
	} else if w.why == metric.None && all.residence.N > 0 {
		v = report.Known(all.residence.Mean()*float64(all.residence.N)/float64(w.dt), unit.None)
		v.Note = joined(w.note, counting(all.unended, "1 request has no recorded start or end and is left out", "%d requests have no recorded start or end and are left out"))
		if m := c.Concurrency.Mean; m.Known && m.V > 0 && w.note == "" && (v.V > 1.01*m.V || v.V < 0.99*m.V) {
			v.Note = joined(v.Note, "trust concurrency_mean: the sweep cuts requests at the ends of W, and holds open ones in flight until then")
		}
	} else if w.why == metric.None {
		v = report.Null(metric.NotRecorded.String())
	}
	setValue(c, "concurrency_little", v)
}
