package cell

import (
	"maps"
	"slices"

	"servescope/analyzer/kernel"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
)

// Base holds what all states share: the query, the facts of earlier passes, and
// figures of each run.
type Base struct {
	kernel.Defaults
	Query   *query.Query
	Def     *metric.Definition
	Facts   *kernel.Facts
	Runs    map[int32]*Run
	Pending bool // a run's windows cannot be placed without facts that are missing
	batch   Batch
}

// NewBase returns the base of a state for the pass that facts belongs to.
func NewBase(def *metric.Definition, q *query.Query, facts *kernel.Facts) Base {
	return Base{Query: q, Def: def, Facts: facts, Runs: make(map[int32]*Run)}
}

// Begin prepares to fold v.
func (b *Base) Begin(v *kernel.View) *Batch {
	run := b.Runs[v.RunIndex]
	if run == nil {
		run = newRunInfo()
		b.Runs[v.RunIndex] = run
	}
	run.meet(v)
	rows, read := v.Share()
	x := &b.batch
	*x = Batch{Rows: rows, Read: read, base: b, RunIndex: v.RunIndex, axes: x.axes[:0], code: -1}
	run.learn(v.Summary(b.Def))
	x.axes = append(x.axes, b.AxisOf(v.RunIndex, v.Run.Clock))
	for _, name := range x.Rows.Clock.Values {
		clock, ok := trace.ParseClock(name)
		if !ok {
			clock = trace.Clock{Kind: trace.RequestClock}
		}
		x.axes = append(x.axes, b.AxisOf(v.RunIndex, clock))
	}
	for _, a := range x.axes {
		b.Pending = b.Pending || a.late
	}
	x.timed = b.Query.Window > 0 || b.Query.Timed()
	x.Axis = x.axes[0]
	return x
}

func (b *Base) MergeRuns(o *Base) {
	b.Pending = b.Pending || o.Pending
	for i, r := range o.Runs {
		if mine := b.Runs[i]; mine != nil {
			mine.Merge(r)
		} else {
			b.Runs[i] = r
		}
	}
}

func (b *Base) AppendRuns(dst []byte) []byte {
	dst = AppendInts(dst, Flag(b.Pending), int64(len(b.Runs)))
	for _, i := range slices.Sorted(maps.Keys(b.Runs)) {
		dst = b.Runs[i].AppendTo(AppendInts(dst, int64(i)))
	}
	return dst
}

func (b *Base) LoadRuns(src *Reader) {
	b.Pending = src.Int() != 0
	b.Runs = make(map[int32]*Run)
	for n := src.Count(); n > 0 && src.Err == nil; n-- {
		r := newRunInfo()
		i := src.Int()
		r.Load(src)
		if i < 0 || i > maxRuns {
			src.Fail()
			return
		}
		b.Runs[int32(i)] = r
	}
}

// maxRuns is the greatest index of a run that an encoding may name.
const maxRuns = 1 << 24

// Learn adds what is known of the runs to facts and reports whether their
// windows wait for it.
func (b *Base) Learn(facts *kernel.Facts) bool {
	for i, r := range b.Runs {
		for int(i) >= len(facts.Runs) {
			facts.Runs = append(facts.Runs, kernel.RunFacts{})
		}
		if f := r.facts(); f.HasTimes {
			old := &facts.Runs[i]
			f.SteadyFrom, f.SteadyTo, f.HasSteady, f.Bounds, f.Sized = old.SteadyFrom, old.SteadyTo, old.HasSteady, old.Bounds, old.Sized
			*old = f
		}
	}
	return b.Pending
}

// Late reports whether windows could not be placed: another pass places them.
func (b *Base) Late() bool { return b.Pending }

// Ranks returns the quantiles that are asked for.
func (b *Base) Ranks() []float64 {
	if len(b.Query.Ranks) == 0 {
		return query.DefaultRanks
	}
	return b.Query.Ranks
}

// AxesOf returns the axis of each clock of a view, by its code + 1; first that
// of the run's.
func (b *Base) AxesOf(v *kernel.View, clocks trace.Dicts) []axis {
	axes := []axis{b.AxisOf(v.RunIndex, v.Run.Clock)}
	for _, name := range clocks.Values {
		clock, ok := trace.ParseClock(name)
		if !ok {
			clock = trace.Clock{Kind: trace.RequestClock}
		}
		axes = append(axes, b.AxisOf(v.RunIndex, clock))
	}
	return axes
}

// Finishing calls f for every run that the state has seen, in order.
func (b *Base) Finishing(f func(run int32, info *Run)) {
	for _, i := range slices.Sorted(maps.Keys(b.Runs)) {
		f(i, b.Runs[i])
	}
}

// FinishingOf calls f for every run that the state has seen, in order, with the places
// of the run.
func (b *Base) FinishingOf(places []Place, f func(run int32, info *Run, places []Place)) {
	if len(b.Runs) == 1 {
		b.Finishing(func(run int32, info *Run) { f(run, info, places) })
		return
	}
	byRun := make(map[int32][]Place, len(b.Runs))
	for _, p := range places {
		byRun[p.Run] = append(byRun[p.Run], p)
	}
	b.Finishing(func(run int32, info *Run) { f(run, info, byRun[run]) })
}
