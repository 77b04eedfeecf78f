package kernel

import (
	"cmp"
	"fmt"
	"strings"

	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/sorting"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// Steps sums up what engines say of their own steps, by run, group and window.
// It is fed with batches of the steps table alone, in one pass after those of the
// requests, and is none of All, whose kernels fold requests.
var Steps Kernel = steps{}

type steps struct{}

func (steps) Name() string { return "steps" }
func (steps) Lists() bool  { return false }

func (steps) New(q *query.Query, facts *Facts) State {
	return &stepsState{base: newBase(nil, q, facts), series: make(map[seriesKey]*series), other: make(map[int32]int64)}
}

// maxSeries is how many series a report holds: those that are first in order.
const maxSeries = 4096

// seriesKey identifies the rows that one statistic may unite.
type seriesKey struct {
	window                        int64 // start; NoWindow: the whole time
	run, group                    int32 // group -1: all of them
	replica, rank, kind, quantity string
}

// compare orders what is of a whole run before its groups and windows: these are
// dropped first.
func (a seriesKey) compare(b seriesKey) int {
	return cmp.Or(cmp.Compare(a.window, b.window), cmp.Compare(a.group, b.group), cmp.Compare(a.run, b.run), cmp.Compare(a.replica, b.replica), cmp.Compare(a.rank, b.rank),
		cmp.Compare(a.kind, b.kind), cmp.Compare(a.quantity, b.quantity))
}

type stepsState struct {
	base
	series map[seriesKey]*series
	other  map[int32]int64 // rows of the series beyond maxSeries, by run
}

// Update implements State for a batch of the steps table.
func (s *stepsState) Update(v *View) {
	c := stepColumnsOf(v.Batch)
	axes := s.axesOf(v, c.clock)
	var last stepCodes
	var at []*series
	known := make(map[stepCodes][]*series)
	for i := range v.Rows {
		codes := c.codes(i)
		if codes.group = v.Group[i]; codes.group < 0 {
			continue
		}
		codes.window = NoWindow
		if t, ok := c.t.At(i); ok {
			codes.window = axes[codeAt(c.clock, i)+1].window(t)
		}
		if at == nil || codes != last {
			last = codes
			if at = known[codes]; at == nil {
				at = s.places(c.key(v.RunIndex, codes), codes)
				known[codes] = at
			}
		}
		for _, x := range at {
			x.add(c, i)
		}
	}
	if len(s.series) > 2*maxSeries {
		s.prune()
	}
}

// axesOf returns the axis of each clock of a view, by its code + 1; first that
// of the run's.
func (b *base) axesOf(v *View, clocks trace.Dicts) []axis {
	axes := []axis{b.axisOf(v.RunIndex, v.Run.Clock)}
	for _, name := range clocks.Values {
		clock, ok := trace.ParseClock(name)
		if !ok {
			clock = trace.Clock{Kind: trace.RequestClock}
		}
		axes = append(axes, b.axisOf(v.RunIndex, clock))
	}
	return axes
}

// places returns the series that a row with the given codes belongs to: that of
// its run, and those of its group and window if there are any.
func (s *stepsState) places(key seriesKey, codes stepCodes) []*series {
	var list []*series
	windows, groups := []int64{NoWindow}, []int32{-1}
	if codes.window > elsewhere {
		windows = append(windows, codes.window)
	}
	if len(s.q.By) > 0 {
		groups = append(groups, codes.group)
	}
	for _, key.window = range windows {
		for _, key.group = range groups {
			list = append(list, s.at(key))
		}
	}
	return list
}

func (s *stepsState) at(key seriesKey) *series {
	x := s.series[key]
	if x == nil {
		x = new(series)
		s.series[key] = x
	}
	return x
}

// prune drops the series that are last in order but for the number of their
// rows. A series that is among the first at the end always has been, so the
// order of updates and merges does not matter.
func (s *stepsState) prune() {
	if len(s.series) <= maxSeries {
		return
	}
	for _, key := range s.keys()[maxSeries:] {
		s.other[key.run] += s.series[key].n
		delete(s.series, key)
	}
}

// unite puts the rows that state no duration, as the first line of a log, to
// those of the same steps that do, unless there are several such series.
func (s *stepsState) unite() {
	keys := s.keys()
	same := func(i, j int) bool {
		if i >= len(keys) || j >= len(keys) {
			return false
		}
		a, b := keys[i], keys[j]
		a.quantity, b.quantity = "", ""
		return a == b
	}
	for i, key := range keys {
		if key.quantity == "" && same(i, i+1) && !same(i, i+2) {
			s.series[keys[i+1]].merge(s.series[key])
			delete(s.series, key)
		}
	}
}

func (s *stepsState) keys() []seriesKey {
	keys := make([]seriesKey, 0, len(s.series))
	for key := range s.series {
		keys = append(keys, key)
	}
	sorting.By(keys, seriesKey.compare)
	return keys
}

// Merge implements State.
func (s *stepsState) Merge(other State) error {
	o, ok := other.(*stepsState)
	if !ok {
		return errMerge(s, other)
	}
	for key, x := range o.series {
		s.at(key).merge(x)
	}
	for run, n := range o.other {
		s.other[run] += n
	}
	s.prune()
	return nil
}

// AppendState implements State.
func (s *stepsState) AppendState(dst []byte) []byte {
	s.prune()
	dst = appendInts(dst, int64(len(s.series)))
	for _, key := range s.keys() {
		dst = appendInts(dst, key.window, int64(key.group), int64(key.run))
		for _, text := range []string{key.replica, key.rank, key.kind, key.quantity} {
			dst = appendText(dst, text)
		}
		dst = s.series[key].appendTo(dst)
	}
	dst = appendInts(dst, int64(len(s.other)))
	for _, run := range sortedKeys(s.other) {
		dst = appendInts(dst, int64(run), s.other[run])
	}
	return dst
}

// LoadState implements State.
func (s *stepsState) LoadState(src []byte) error {
	r := &reader{src: src}
	s.series, s.other = make(map[seriesKey]*series), make(map[int32]int64)
	for n := r.count(); n > 0 && r.err == nil; n-- {
		key := seriesKey{window: r.int(), group: int32(r.int()), run: int32(r.int()), replica: r.text(), rank: r.text(), kind: r.text(), quantity: r.text()}
		s.at(key).load(r)
	}
	for n := r.count(); n > 0 && r.err == nil; n-- {
		run := int32(r.int())
		s.other[run] = r.int()
	}
	return r.done()
}

// Size implements State.
func (s *stepsState) Size() int64 { return int64(len(s.series)) * 1024 }

// Next implements State: one pass tells all.
func (s *stepsState) Next(*Facts) bool { return false }

// Finish adds the series to their runs.
func (s *stepsState) Finish(out Output) {
	s.prune()
	s.unite()
	for _, key := range s.keys() {
		if out.Run(key.run) != nil {
			c := out.Cell(key.run, key.group, key.window)
			c.Steps = append(c.Steps, s.series[key].steps(key))
		}
	}
}

// Other returns how many rows of the steps of each run are in no series, because
// there are more series than a report holds, and how many those are.
func (s *stepsState) Other() (rows map[int32]int64, most int) { return s.other, maxSeries }

// stepColumns are the columns of a batch of steps.
type stepColumns struct {
	replica, clock, kind, quantity trace.Dicts
	engine                         trace.Dicts
	ranks                          [5]trace.Ints // see rankNames
	t, duration, resolution, count trace.Ints
	running, waiting               trace.Ints
	kv, prompt, generation         trace.Floats
	idle                           trace.Bools
	classes                        [len(stepClasses)]trace.Ints
	runClock                       string
}

var rankNames = [5]string{"dp", "tp", "pp", "ep", "rank"}

// stepClasses are the classes of a profiled interval, which tile it.
var stepClasses = [8]trace.Col{trace.StepCompute, trace.StepSampling, trace.StepCommunication, trace.StepHostTransfer,
	trace.StepLaunchWait, trace.StepScheduling, trace.StepHostExec, trace.StepHostGap}

func stepColumnsOf(b *trace.Batch) *stepColumns {
	c := &stepColumns{
		replica: b.Dicts(trace.StepReplica), clock: b.Dicts(trace.StepClock), kind: b.Dicts(trace.StepKindCol), quantity: b.Dicts(trace.StepQuantity),
		engine: b.Dicts(trace.StepEngine),
		ranks:  [5]trace.Ints{b.Ints(trace.StepDP), b.Ints(trace.StepTP), b.Ints(trace.StepPP), b.Ints(trace.StepEP), b.Ints(trace.StepRank)},
		t:      b.Ints(trace.StepT), duration: b.Ints(trace.StepDuration), resolution: b.Ints(trace.StepResolution), count: b.Ints(trace.StepCount),
		running: b.Ints(trace.StepRunning), waiting: b.Ints(trace.StepWaiting),
		kv: b.Floats(trace.StepKVUsage), prompt: b.Floats(trace.StepPromptTPS), generation: b.Floats(trace.StepGenerationTPS),
		idle: b.Bools(trace.StepAfterIdle), runClock: b.Run.Clock.String(),
	}
	for i, col := range stepClasses {
		c.classes[i] = b.Ints(col)
	}
	return c
}

// stepCodes tells the series of a batch apart; -1 is null.
type stepCodes struct {
	window                  int64
	group                   int32
	replica, kind, quantity int32
	ranks                   [5]int64
}

func (c *stepColumns) codes(i int) stepCodes {
	k := stepCodes{replica: codeAt(c.replica, i), kind: codeAt(c.kind, i), quantity: codeAt(c.quantity, i)}
	for j := range c.ranks {
		k.ranks[j] = -1
		if v, ok := c.ranks[j].At(i); ok {
			k.ranks[j] = v
		}
	}
	return k
}

func codeAt(d trace.Dicts, i int) int32 {
	if code, ok := d.At(i); ok {
		return code
	}
	return -1
}

func nameOf(d trace.Dicts, code int32) string {
	if code < 0 {
		return ""
	}
	return d.Values[code]
}

// key names a series. The data-parallel rank is a replica's name already, where
// there is one.
func (c *stepColumns) key(run int32, k stepCodes) seriesKey {
	key := seriesKey{run: run, replica: nameOf(c.replica, k.replica), kind: nameOf(c.kind, k.kind), quantity: nameOf(c.quantity, k.quantity)}
	var parts []string
	for j, v := range k.ranks {
		if v >= 0 && (j > 0 || k.replica < 0) {
			parts = append(parts, fmt.Sprintf("%s%d", rankNames[j], v))
		}
	}
	key.rank = strings.Join(parts, " ")
	return key
}

// steps returns the series as it is reported.
func (s *series) steps(key seriesKey) report.Steps {
	out := report.Steps{
		Replica: key.replica, Rank: key.rank, Kind: key.kind, Quantity: key.quantity, N: s.n, AfterIdle: s.idle,
		From: report.Null("not_recorded"), To: report.Null("not_recorded"), Resolution: report.KnownInt(max(s.resolution, 1), unit.Nanosecond),
		Duration: s.duration.gauge(1, unit.Nanosecond), Total: report.Null("not_recorded"), Classes: map[string]report.Value{},
		Running: s.running.gauge(1, unit.None), Waiting: s.waiting.gauge(1, unit.None),
		KVUsage:   s.kv.gauge(micro, unit.Ratio),
		PromptTPS: s.prompt.gauge(micro, unit.TokenRate), GenerationTPS: s.generation.gauge(micro, unit.TokenRate),
	}
	switch {
	case s.mixed:
		out.From, out.To = report.Null("clock"), report.Null("clock")
	case s.t.n > 0:
		out.From, out.To = report.KnownInt(s.t.least, unit.Nanosecond), report.KnownInt(s.t.most, unit.Nanosecond)
	}
	if key.quantity == trace.Steps.Fields[trace.StepQuantity].Values[trace.Interval] {
		out.Total = s.duration.sum()
	}
	for i, col := range stepClasses {
		if s.classes[i].n > 0 {
			out.Classes[trace.Steps.Fields[col].Name] = s.classes[i].sum()
		}
	}
	return out
}
