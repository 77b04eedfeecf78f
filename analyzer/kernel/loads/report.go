package loads

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// Finish writes what engines log beside the rates of the requests.
func (s *state) Finish(out kernel.Output) {
	for _, run := range slices.Sorted(maps.Keys(s.exist)) {
		all := s.engines(run, -1)
		if len(all) == 0 && !s.full {
			continue
		}
		groups := []int32{-1}
		for _, key := range s.keys() {
			if len(s.Query.By) > 0 && key.run == run && !slices.Contains(groups, key.group) {
				groups = append(groups, key.group)
			}
		}
		w := s.window(out.Cell(run, -1, kernel.NoWindow), run, all)
		for _, group := range groups {
			list := all
			if group >= 0 {
				list = s.engines(run, group)
			}
			s.cells(out, run, group, list, w, cell.MaxCells/len(groups))
		}
	}
}

// loadWindow is W as engines see it.
type loadWindow struct {
	from, to int64
	own      bool // there are no requests: it is the time of the log
	clock    string
	why      metric.Reason // it is unknown
}

// window returns W of a run: W of its requests where it has any.
func (s *state) window(c *report.Cell, run int32, engines []engine) loadWindow {
	t := &c.Throughput
	var f kernel.RunFacts
	if int(run) < len(s.Facts.Runs) {
		f = s.Facts.Runs[run]
	}
	clock, _ := trace.ParseClock(f.Clock)
	w := loadWindow{clock: kernel.Axis(clock)}
	switch {
	case s.full:
		w.why = metric.TooMany
	case t.From.Known && t.To.Known:
		w.from, w.to = t.From.Int, t.To.Int
	case c.Requests.Total > 0 || c.Requests.Filtered > 0:
		w.why = metric.Clock
	default:
		w.own, w.from, w.to = true, request.None, request.None
		for _, e := range engines {
			if list := e.marks.sequences; len(list) > 0 && e.clock == w.clock {
				w.from, w.to = request.Earlier(w.from, list[0].t-list[0].length), max(w.to, list[len(list)-1].t)
			}
		}
		lo, hi := f.Bound(s.Query, clock)
		w.from, w.to = max(w.from, lo), min(w.to, hi)
	}
	return w
}

// cells writes the cell of a group, and the cells of its windows.
func (s *state) cells(out kernel.Output, run, group int32, engines []engine, w loadWindow, most int) {
	c := out.Cell(run, group, kernel.NoWindow)
	p := s.loaded(run, engines, w)
	p.put(c)
	c.Throughput.Engines = p.list()
	clock, _ := trace.ParseClock(w.clock)
	a := s.AxisOf(run, clock)
	if a.Length == 0 || w.why != metric.None {
		return
	}
	for t := a.Window(w.from); t > cell.Elsewhere && t <= w.to && most > 0; most-- {
		in := w
		in.from, in.to = max(t, w.from), min(a.End(t), w.to)
		if p := s.loaded(run, engines, in); !w.own || p.told() {
			p.put(out.Cell(run, group, t))
		}
		if t += a.Length; t < in.from { // beyond the end of time
			return
		}
	}
}

// leastSteps is how many decode-only steps of a batch size tell its length.
const leastSteps = 30

// loaded holds what engines say over W.
type loaded struct {
	w        loadWindow
	engines  []engine
	chosen   []engine  // of each replica the gauge that is its batch
	parts    []holding // of the engines
	filtered bool
	missing  bool // fewer engines log than exist
}

func (s *state) loaded(run int32, engines []engine, w loadWindow) *loaded {
	p := &loaded{w: w, engines: engines, filtered: s.Query.Filter != nil}
	for _, e := range engines {
		var in holding
		if e.clock == w.clock && !e.mixed && w.why == metric.None {
			in = e.marks.batch(w.from, w.to)
		}
		p.parts = append(p.parts, in)
		if n := len(p.chosen); n == 0 || p.chosen[n-1].replica != e.replica {
			p.chosen = append(p.chosen, e)
		}
	}
	p.missing = int64(len(p.chosen)) < s.exist[run] && !slices.ContainsFunc(p.chosen, func(e engine) bool { return e.replica == allEngines })
	return p
}

// told reports whether engines say anything over W.
func (p *loaded) told() bool {
	return slices.ContainsFunc(p.parts, func(in holding) bool { return in.lines > 0 || in.covered > 0 })
}

// batch returns the batch of all engines, and how much of W is covered.
func (p *loaded) batch() (report.Value, float64) {
	switch {
	case p.w.why != metric.None:
		return report.Null(p.w.why.String()), 0
	case p.w.to <= p.w.from:
		return report.Null(metric.NoSpan.String()), 0
	case p.missing:
		return report.Null(metric.Coverage.String()), 0
	}
	sum, covered, gauges := 0.0, 0.0, []string{}
	for _, e := range p.chosen {
		i := slices.IndexFunc(p.engines, func(o engine) bool { return o.loadKey == e.loadKey })
		switch in := p.parts[i]; {
		case e.mixed || e.clock != p.w.clock:
			return report.Null(metric.Clock.String()), 0
		case in.covered == 0:
			return report.Null(metric.Coverage.String()), 0
		default:
			sum += in.mean()
			covered += float64(in.covered)
		}
		if name := gaugeNames[e.gauge]; !slices.Contains(gauges, name) {
			gauges = append(gauges, name)
		}
	}
	v, share := report.Known(sum, unit.None), covered/float64(len(p.chosen))/float64(p.w.to-p.w.from)
	v.Note = "engines log " + strings.Join(gauges, ", ")
	if share < 1 {
		v.Note = cell.Joined(v.Note, coveredNote(share))
	}
	if p.w.own {
		v.Note = cell.Joined(v.Note, "over the time of the log")
	}
	return v, share
}

// put writes the rates of a cell.
func (p *loaded) put(c *report.Cell) {
	b, _ := p.batch()
	cell.SetValue(c, "batch_logged", b)
	tpot, tps := c.Throughput.Values["tpot_weighted"], c.Throughput.Values["tps_decode"]
	cross := p.beside(b, tpot, tps)
	if cross.Known {
		cross = positive(b.V*1e9/tpot.V, tps.V, metric.NoToken)
		cross.Note = b.Note
	}
	cell.SetValue(c, "cross_ratio", cross)
	capacity := p.capacity(c)
	cell.SetValue(c, "decode_capacity", capacity)
	unused := p.beside(capacity, tps)
	if unused.Known {
		unused = report.Known(1-tps.V/capacity.V, unit.Ratio)
		unused.Note = capacity.Note
	}
	cell.SetValue(c, "decode_capacity_unused", unused)
}

// beside returns known where what engines log can be put beside what requests
// tell and all of it is known, else why not.
func (p *loaded) beside(values ...report.Value) report.Value {
	switch {
	case p.w.own:
		return report.Null(metric.NoRequests.String())
	case p.filtered:
		return report.Null(metric.Filtered.String())
	}
	for _, v := range values {
		if !v.Known {
			if v.Reason == "" {
				return report.Null(metric.NotRecorded.String())
			}
			return report.Null(v.Reason)
		}
	}
	return report.Known(1, unit.None)
}

// capacity returns the greatest decode rate of all engines.
func (p *loaded) capacity(c *report.Cell) report.Value {
	if p.w.why == metric.TooMany {
		return report.Null(p.w.why.String())
	}
	sum, n, elapsed := 0.0, 0, false
	for _, e := range p.engines {
		if e.gauge != activeGauge {
			continue
		}
		best, _, quantity := e.capacity()
		if best == 0 {
			return report.Null(metric.FewSteps.String())
		}
		sum, n, elapsed = sum+best, n+1, elapsed || quantity == int(trace.Elapsed)
	}
	r := c.Throughput.Values["replicas"]
	switch {
	case n == 0:
		return report.Null(metric.NotRecorded.String())
	case n < len(p.chosen), p.missing, r.Known && r.V != float64(n):
		return report.Null(metric.Coverage.String())
	}
	v := report.Known(sum, unit.TokenRate)
	if elapsed {
		v.Note = "of elapsed times, which lack what lies between steps: the capacity is less"
	}
	return v
}

// list returns what each engine says.
func (p *loaded) list() []report.EngineLoad {
	var out []report.EngineLoad
	for i, e := range p.engines {
		x := report.EngineLoad{Replica: e.replica, Gauge: gaugeNames[e.gauge], Lines: p.parts[i].lines}
		unknown := p.w.why
		if unknown == metric.None && (e.mixed || e.clock != p.w.clock) {
			unknown = metric.Clock
		}
		x.Batch, x.Max, x.Coverage = shareOf(&p.parts[i], &p.w, unknown, unit.None)
		x.Interval = report.Null(metric.FewSteps.String())
		if e.marks.interval > 0 {
			x.Interval = report.KnownInt(e.marks.interval, unit.Nanosecond)
		}
		x.Tokens = e.rate(e.marks.generation, &p.w, unknown)
		x.Prompts = e.rate(e.marks.prompted, &p.w, unknown)
		x.Capacity, x.Best = report.Null(metric.NotRecorded.String()), report.Null(metric.NotRecorded.String())
		if e.gauge == activeGauge {
			x.Capacity, x.Best = report.Null(metric.FewSteps.String()), report.Null(metric.FewSteps.String())
			if rate, g, quantity := e.capacity(); rate > 0 {
				x.Capacity, x.Best = report.Known(rate, unit.TokenRate), report.KnownInt(g, unit.None)
				x.Quantity = trace.Steps.Fields[trace.StepQuantity].Values[quantity]
			}
		}
		out = append(out, x)
	}
	return out
}

func coveredNote(share float64) string {
	return fmt.Sprintf("over the %s of the time that their lines cover", unit.Format(unit.Ratio, share))
}

// positive returns a/b, or null where b is 0.
func positive(a, b float64, why metric.Reason) report.Value {
	if b <= 0 {
		return report.Null(why.String())
	}
	return report.Known(a/b, unit.Ratio)
}

// shareOf returns the mean and the greatest of what is said over W, and how much
// of it that is.
func shareOf(in *holding, w *loadWindow, why metric.Reason, u unit.Unit) (mean, most, coverage report.Value) {
	if why == metric.None && w.to <= w.from {
		why = metric.NoSpan
	}
	if why != metric.None {
		none := report.Null(why.String())
		return none, none, none
	}
	coverage = report.Known(float64(in.covered)/float64(w.to-w.from), unit.Ratio)
	if in.covered == 0 {
		none := report.Null(metric.Coverage.String())
		return none, none, coverage
	}
	return report.Known(in.mean(), u), report.Known(in.most, u), coverage
}
