package kernel

import (
	"cmp"
	"strconv"
	"strings"

	"servescope/analyzer/collective"
	"servescope/analyzer/decompose"
	"servescope/analyzer/query"
	"servescope/analyzer/sorting"
	"servescope/analyzer/trace"
)

// StepTime takes the time per token and the time of engine steps apart, by run,
// group and window. It is fed as Steps is. It holds every step that says how long
// it was, also those that the query removes: what the sequences of a step have
// waited for lies in the steps before.
var StepTime Kernel = stepTime{}

type stepTime struct{}

func (stepTime) Name() string { return "step_time" }
func (stepTime) Lists() bool  { return false }

func (stepTime) New(q *query.Query, facts *Facts) State {
	return &stepTimeState{base: newBase(nil, q, facts), ranks: make(map[rankKey]*decompose.Timeline), links: make(map[linkKey][]collective.Kernel)}
}

// rankKey identifies the steps of one rank whose lengths are the same quantity.
type rankKey struct {
	run           int32
	quantity      trace.Quantity
	replica, rank string
}

func (a rankKey) compare(b rankKey) int {
	return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.quantity, b.quantity), cmp.Compare(a.replica, b.replica), cmp.Compare(a.rank, b.rank))
}

// linkKey identifies the communication kernels of one rank of a run.
type linkKey struct {
	run   int32
	place collective.Place
}

type stepTimeState struct {
	base
	ranks map[rankKey]*decompose.Timeline
	links map[linkKey][]collective.Kernel
}

// Update implements State for batches of the steps table and, where the traces of
// several ranks of a run are at hand, of the collectives table. Rows that are no
// steps, as those of logged windows without a length, are left out.
func (s *stepTimeState) Update(v *View) {
	if v.Table == trace.Collectives {
		by := make(map[collective.Place][]collective.Kernel)
		collective.Collect(by, v.Batch)
		for place, kernels := range by {
			key := linkKey{v.RunIndex, place}
			s.links[key] = append(s.links[key], kernels...)
		}
		return
	}
	c := stepTimeColumnsOf(v.Batch)
	axes := s.axesOf(v, c.clock)
	var last stepCodes
	var at *decompose.Timeline
	for i := range v.Rows {
		code, ok := c.quantity.At(i)
		if !ok {
			continue
		}
		if codes := c.codes(i); at == nil || codes != last {
			last = codes
			key := c.key(v.RunIndex, codes)
			at = s.at(rankKey{v.RunIndex, trace.Quantity(code), key.replica, key.rank}, collective.Place{
				DP: codes.ranks[0], TP: codes.ranks[1], PP: codes.ranks[2], EP: codes.ranks[3], Rank: codes.ranks[4]})
			at.World = max(at.World, worldOf(v.Run))
		}
		k := c.step(i)
		k.Quantity, k.Group, k.Window = trace.Quantity(code), v.Group[i], NoWindow
		if k.End != decompose.Nowhere {
			k.Window = axes[codeAt(c.clock, i)+1].window(k.End)
			at.Clock = sameClock(at.Clock, c.axisAt(i))
		}
		at.Steps = append(at.Steps, k)
		at.Refused = max(at.Refused, v.Run.NoTPOT)
		at.Resolution = max(at.Resolution, optional(c.resolution.At(i)))
	}
}

// optional returns a value, or -1 for null.
func optional(v int64, ok bool) int64 {
	if !ok {
		return -1
	}
	return v
}

// axisAt names the clock of row i.
func (c *stepColumns) axisAt(i int) string {
	clock, ok := trace.ParseClock(c.clockAt(i))
	if !ok {
		return c.clockAt(i)
	}
	return Axis(clock)
}

// sameClock returns the clock that two are, "mixed" if they differ. "" is none.
func sameClock(a, b string) string {
	switch {
	case a == "" || a == b:
		return b
	case b == "":
		return a
	}
	return "mixed"
}

// worldOf returns the number of ranks that a run states, or 0.
func worldOf(run *trace.RunMeta) int64 {
	for _, p := range run.Config {
		if p.Key == "world_size" {
			n, _ := strconv.ParseInt(p.Value, 10, 64)
			return n
		}
	}
	return 0
}

func (s *stepTimeState) at(key rankKey, place collective.Place) *decompose.Timeline {
	t := s.ranks[key]
	if t == nil {
		t = &decompose.Timeline{Name: strings.Join(strings.Fields(key.replica+" "+key.rank), " "), Replica: key.replica, Place: place}
		s.ranks[key] = t
	}
	return t
}

// stepTimeColumns are the columns of a batch of steps.
type stepTimeColumns struct {
	*stepColumns
	index, context, accepted trace.Ints
	classes                  [decompose.StepClasses]trace.Ints
	memos                    [len(decompose.MemoColumns)]trace.Ints
	parts                    bool // there are classes
}

func stepTimeColumnsOf(b *trace.Batch) *stepTimeColumns {
	c := &stepTimeColumns{stepColumns: stepColumnsOf(b), index: b.Ints(trace.StepIndex), context: b.Ints(trace.StepContext), accepted: b.Ints(trace.StepAccepted)}
	for i, col := range decompose.ClassColumns {
		c.classes[i] = b.Ints(col)
		c.parts = c.parts || b.Has(col)
	}
	for i, col := range decompose.MemoColumns {
		c.memos[i] = b.Ints(col)
	}
	return c
}

// step returns row i.
func (c *stepTimeColumns) step(i int) decompose.Step {
	k := decompose.Step{End: decompose.Nowhere, Index: optional(c.index.At(i)), Duration: optional(c.duration.At(i)), Kind: decompose.NoKind,
		Decoding: optional(c.running.At(i)), Context: optional(c.context.At(i)), Emitted: -1}
	if t, ok := c.t.At(i); ok {
		k.End = t
	}
	if code, ok := c.kind.At(i); ok {
		k.Kind = trace.StepKind(code)
	}
	switch n, ok := c.accepted.At(i); {
	case k.Kind == trace.StepPrefill || k.Kind == trace.StepDummy:
		k.Decoding, k.Emitted = 0, 0
	case ok && k.Decoding >= 0:
		k.Emitted = k.Decoding + n
	case k.Kind != trace.StepVerify:
		k.Emitted = k.Decoding
	}
	if !c.parts || k.Duration < 0 {
		return k
	}
	p := new(decompose.StepParts)
	for l := range c.classes {
		if v, ok := c.classes[l].At(i); ok {
			p.Class[l] = v
			p.KnownClass |= 1 << l
		}
	}
	for m := range c.memos {
		if v, ok := c.memos[m].At(i); ok {
			p.Memo[m] = v
			p.KnownMemo |= 1 << m
		}
	}
	if p.KnownClass != 0 {
		k.Parts = p
	}
	return k
}

// Merge implements State.
func (s *stepTimeState) Merge(other State) error {
	o, ok := other.(*stepTimeState)
	if !ok {
		return errMerge(s, other)
	}
	for key, t := range o.ranks {
		mine := s.at(key, t.Place)
		mine.Steps = append(mine.Steps, t.Steps...)
		mine.Refused = max(mine.Refused, t.Refused)
		mine.Clock = sameClock(mine.Clock, t.Clock)
		mine.Resolution, mine.World = max(mine.Resolution, t.Resolution), max(mine.World, t.World)
	}
	for key, kernels := range o.links {
		s.links[key] = append(s.links[key], kernels...)
	}
	return nil
}

// Size implements State.
func (s *stepTimeState) Size() int64 {
	n := int64(0)
	for _, t := range s.ranks {
		n += int64(len(t.Steps)) * 128
	}
	for _, kernels := range s.links {
		n += int64(len(kernels)) * 128
	}
	return n
}

// Next implements State: one pass tells all.
func (s *stepTimeState) Next(*Facts) bool { return false }

func (s *stepTimeState) keys() []rankKey {
	keys := make([]rankKey, 0, len(s.ranks))
	for key := range s.ranks {
		keys = append(keys, key)
	}
	sorting.By(keys, rankKey.compare)
	return keys
}

// Finish adds the decompositions to the cells that have steps. Those of windows
// are without the tables by rank, kind and batch size.
func (s *stepTimeState) Finish(out Output) {
	byRun := make(map[int32][]*decompose.Timeline)
	for _, key := range s.keys() {
		t := s.ranks[key]
		t.Kernels = s.links[linkKey{key.run, t.Place}]
		byRun[key.run] = append(byRun[key.run], t)
	}
	for _, run := range sortedKeys(byRun) {
		if out.Run(run) == nil {
			continue
		}
		steps := decompose.NewSteps(byRun[run])
		for _, c := range s.cells(steps.Timelines()) {
			cell := out.Cell(run, c.group, c.window)
			cell.Decompositions = append(cell.Decompositions, steps.Decompositions(c.steps, c.window == NoWindow)...)
			s.engineStep(cell, steps.Timelines(), c.steps, c.window == NoWindow)
		}
	}
}

// stepCell is the steps of a group (-1: all) in a window.
type stepCell struct {
	window int64
	group  int32
	steps  decompose.Selection
}

// cells returns the cells that selected steps are in, those of whole runs first,
// not more than a report holds.
func (s *stepTimeState) cells(timelines []*decompose.Timeline) []*stepCell {
	type key struct {
		window int64
		group  int32
	}
	seen := make(map[key]*stepCell)
	add := func(at, i int, k key) {
		c := seen[k]
		if c == nil {
			c = &stepCell{k.window, k.group, make(decompose.Selection, len(timelines))}
			seen[k] = c
		}
		c.steps[at] = append(c.steps[at], int32(i))
	}
	for at, t := range timelines {
		for i := range t.Steps {
			k := &t.Steps[i]
			if k.Group < 0 {
				continue
			}
			groups := []int32{-1, k.Group}
			if len(s.q.By) == 0 {
				groups = groups[:1]
			}
			for _, group := range groups {
				add(at, i, key{NoWindow, group})
				if k.Window > elsewhere {
					add(at, i, key{k.Window, group})
				}
			}
		}
	}
	list := make([]*stepCell, 0, len(seen))
	for _, c := range seen {
		list = append(list, c)
	}
	sorting.By(list, func(a, b *stepCell) int {
		return cmp.Or(cmp.Compare(a.window, b.window), cmp.Compare(a.group, b.group))
	})
	return list[:min(len(list), maxSeries)]
}
