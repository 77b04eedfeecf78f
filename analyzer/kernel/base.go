package kernel

import (
	"slices"

	"servescope/analyzer/join"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// base is what all states share: the question, what earlier passes learned, and
// what is known of each run.
type base struct {
	q     *query.Query
	def   *metric.Definition
	facts *Facts
	runs  map[int32]*runInfo
	late  bool // a run's windows cannot be placed without facts that are missing
	batch batch
}

func newBase(def *metric.Definition, q *query.Query, facts *Facts) base {
	return base{q: q, def: def, facts: facts, runs: make(map[int32]*runInfo)}
}

// batch is a view that a state is about to fold.
type batch struct {
	*rows
	base  *base
	read  []row  // the rows, or nil where each is read when it is asked for
	row   row    // the one last read so
	index int32  // of the run
	axes  []axis // by code of the clock + 1; first that of rows without one
	axis  axis   // of the row last read
	code  int32  // of its clock
	timed bool   // the query is about an interval or windows
}

// begin prepares to fold v.
func (b *base) begin(v *View) *batch {
	run := b.runs[v.RunIndex]
	if run == nil {
		run = newRunInfo()
		b.runs[v.RunIndex] = run
	}
	run.meet(v)
	v.share()
	x := &b.batch
	*x = batch{rows: v.rows, read: v.read, base: b, index: v.RunIndex, axes: x.axes[:0], code: -1}
	run.learn(v.summary(b.def))
	x.axes = append(x.axes, b.axisOf(v.RunIndex, v.Run.Clock))
	for _, name := range x.rows.clock.Values {
		clock, ok := trace.ParseClock(name)
		if !ok {
			clock = trace.Clock{Kind: trace.RequestClock}
		}
		x.axes = append(x.axes, b.axisOf(v.RunIndex, clock))
	}
	for _, a := range x.axes {
		b.late = b.late || a.late
	}
	x.timed = b.q.Window > 0 || b.q.Timed()
	x.axis = x.axes[0]
	return x
}

// next returns row i; it is valid until the next call, and must not be changed. selected is false for rows that the query removed.
func (x *batch) next(i int) (w *row, selected bool) {
	if x.read != nil {
		w = &x.read[i]
	} else {
		x.row = x.at(i)
		w = &x.row
	}
	if w.role == join.Repeats { // another row says it all
		w.sibling = true
		return w, false
	}
	code, own := x.rows.clock.At(i)
	if !own {
		code = -1
	}
	if x.code != code {
		x.code, x.axis = code, x.axes[code+1]
	}
	if w.role == join.Linked && x.timed {
		x.follow(i)
	}
	return w, x.group[i] >= 0
}

// place returns the place of the row last read at time t. What has no time is
// in no window, and in the query's interval if the row's arrival is.
func (x *batch) place(w *row, group int32, t int64) place {
	p := place{NoWindow, x.index, group, w.slot()}
	switch {
	case x.axis.fixed:
		p.window = x.axis.at
	case !w.placed:
	case t != none:
		p.window = x.axis.window(t)
	case w.arrival() != none && x.axis.window(w.arrival()) == elsewhere:
		p.window = elsewhere
	}
	return p
}

func (b *base) merge(o *base) {
	b.late = b.late || o.late
	for i, r := range o.runs {
		if mine := b.runs[i]; mine != nil {
			mine.merge(r)
		} else {
			b.runs[i] = r
		}
	}
}

func (b *base) appendTo(dst []byte) []byte {
	late := int64(0)
	if b.late {
		late = 1
	}
	dst = appendInts(dst, late, int64(len(b.runs)))
	for _, i := range sortedKeys(b.runs) {
		dst = b.runs[i].appendTo(appendInts(dst, int64(i)))
	}
	return dst
}

func (b *base) load(src *reader) {
	b.late = src.int() != 0
	b.runs = make(map[int32]*runInfo)
	for n := src.count(); n > 0 && src.err == nil; n-- {
		r := newRunInfo()
		i := src.int()
		r.load(src)
		if i < 0 || i > maxRuns {
			src.fail()
			return
		}
		b.runs[int32(i)] = r
	}
}

// maxRuns is the greatest index of a run that an encoding may name.
const maxRuns = 1 << 24

// learn adds what is known of the runs to facts and reports whether their
// windows wait for it.
func (b *base) learn(facts *Facts) bool {
	for i, r := range b.runs {
		for int(i) >= len(facts.Runs) {
			facts.Runs = append(facts.Runs, RunFacts{})
		}
		if f := r.facts(); f.HasTimes {
			old := &facts.Runs[i]
			f.SteadyFrom, f.SteadyTo, f.HasSteady, f.Bounds, f.Sized = old.SteadyFrom, old.SteadyTo, old.HasSteady, old.Bounds, old.Sized
			*old = f
		}
	}
	return b.late
}

// Late reports whether windows could not be placed: another pass places them.
func (b *base) Late() bool { return b.late }

// ranks returns the quantiles that are asked for.
func (b *base) ranks() []float64 {
	if len(b.q.Ranks) == 0 {
		return query.DefaultRanks
	}
	return b.q.Ranks
}

// target is a cell of the report and the places whose contents it unites.
type target struct {
	group  int32
	window int64
	from   []place
}

// targets returns the cells of a run that unite the given places: the whole run,
// each group, each window, each group in each window; and the other windows of
// the run's interval, so that idle time shows. A group that has nothing in the
// query's interval has a cell all the same, with nothing in it.
func (b *base) targets(run int32, places []place) []target {
	list := []target{{group: -1, window: NoWindow}}
	index := map[[2]int64]int{{-1, NoWindow}: 0}
	add := func(group int32, window int64) *target {
		key := [2]int64{int64(group), window}
		i, ok := index[key]
		if !ok {
			i = len(list)
			index[key] = i
			list = append(list, target{group: group, window: window})
		}
		return &list[i]
	}
	for _, p := range places {
		if p.run != run {
			continue
		}
		if p.window == elsewhere { // what the group has there is not in its cell
			if len(b.q.By) > 0 && p.group >= 0 {
				add(p.group, NoWindow)
			}
			continue
		}
		for _, group := range []int32{-1, p.group} {
			for _, window := range []int64{NoWindow, p.window} {
				if group >= 0 && len(b.q.By) == 0 {
					continue
				}
				t := add(group, window)
				if n := len(t.from); n == 0 || t.from[n-1] != p {
					t.from = append(t.from, p)
				}
			}
		}
	}
	groups := []int32{-1}
	for _, t := range list {
		if t.window == NoWindow && t.group >= 0 {
			groups = append(groups, t.group)
		}
	}
	windows := b.windows(run)
	for _, window := range windows[:min(len(windows), maxCells/len(groups))] {
		for _, group := range groups {
			add(group, window)
		}
	}
	return list
}

// finishing calls f for every run that the state has seen, in order.
func (b *base) finishing(f func(run int32, info *runInfo)) {
	for _, i := range sortedKeys(b.runs) {
		f(i, b.runs[i])
	}
}

// finishingOf calls f for every run that the state has seen, in order, with those of
// the places that are in it.
func (b *base) finishingOf(places []place, f func(run int32, info *runInfo, places []place)) {
	if len(b.runs) == 1 {
		b.finishing(func(run int32, info *runInfo) { f(run, info, places) })
		return
	}
	byRun := make(map[int32][]place, len(b.runs))
	for _, p := range places {
		byRun[p.run] = append(byRun[p.run], p)
	}
	b.finishing(func(run int32, info *runInfo) { f(run, info, byRun[run]) })
}

// setMetric puts a metric into a cell.
func setMetric(c *report.Cell, name string, m report.Metric) {
	if c.Metrics == nil {
		c.Metrics = make(map[string]report.Metric)
	}
	c.Metrics[name] = m
}

// setValue puts a rate into a cell.
func setValue(c *report.Cell, name string, v report.Value) {
	if c.Throughput.Values == nil {
		c.Throughput.Values = make(map[string]report.Value)
	}
	c.Throughput.Values[name] = v
}

// within returns the places of a side.
func within(places []place, side trace.Side) []place {
	return slices.DeleteFunc(slices.Clone(places), func(p place) bool { return p.side != int32(side) })
}
