package torchtrace

import (
	"cmp"
	"slices"
)

// timeline is the work of one device: what the second part of the analysis,
// the sweep, goes through.
type timeline struct {
	device uint32 // its process
	label  uint32
	steps  []step  // of the label, in order
	ends   []int64 // e_k: end of the last device event of each step, none if it has no event
	graph  []bool  // whether the step replayed a graph
	bounds []bound // the steps that have an interval of their own

	events      int64  // device events
	time        int64  // ns, the sum of their durations
	unlaunched  int64  // events without a launching call
	lostTime    int64  // ns, the sum of their durations
	early       int64  // events launched before the first step
	replayed    int64  // ns, the sum of the durations of events of graph replays
	sampled     bool   // sampling can be told from compute
	merged      int64  // steps that ended no later than the one before
	empty       int64  // steps without a device event
	eager       int64  // steps with attention launched outside of graphs, in inferred steps: see piecewise
	attn        []bool // whether a step has it
	first, last int64  // ns, from the first start to the last end of an event

	refused string // why the steps have no rows, or empty
}

// none is the end of a step without events.
const none = -1 << 63

// bound is the end of a step's interval.
type bound struct {
	end  int64
	step int // index of timeline.steps
}

// folder gives device events to steps.
type folder struct {
	c        *collector
	launches *launches
	steps    []step
	first    []int // of each process: its first step
	scopes   []section
	hint     int // index of the step found last
	inferred bool
}

// newFolder prepares to give events to steps. Where the end of the text is missing
// no step is inferred, because step ranges may be missing too.
func newFolder(c *collector, lost bool) *folder {
	f := &folder{c: c, launches: newLaunches(&c.calls), steps: outermost(c.steps)}
	if len(f.steps) == 0 && !lost {
		f.steps, f.inferred = outermost(c.graphs), true
	}
	f.first = make([]int, len(c.tracks.processes)+1)
	for i, p := 0, 0; p < len(f.first); p++ {
		for i < len(f.steps) && int(f.steps[i].process) < p {
			i++
		}
		f.first[p] = i
	}
	f.scopes = disjoint(c.scopes)
	return f
}

// disjoint sorts sections by thread and start and joins those that overlap.
func disjoint(s []section) []section {
	slices.SortFunc(s, func(a, b section) int {
		return cmp.Or(cmp.Compare(a.thread, b.thread), cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
	out := s[:0]
	for _, x := range s {
		if n := len(out); n > 0 && out[n-1].thread == x.thread && x.start <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, x.end)
			continue
		}
		out = append(out, x)
	}
	return out
}

// launch finds the call that launched an event.
func (f *folder) launch(it *item) (launch, bool) {
	if it.tag&launchBit == 0 {
		return launch{}, false
	}
	return f.launches.find(it.key)
}

// number returns the number of a step within its process, from 0.
func (f *folder) number(step int) int64 { return int64(step - f.first[f.steps[step].process]) }

// step returns the index of the last step of the launching process that began
// at or before the launch, -1 before the first.
func (f *folder) step(l launch) int {
	p := f.c.tracks.owner[l.thread]
	lo, hi := f.first[p], f.first[p+1]
	if i := f.hint; i >= lo && i < hi && f.steps[i].start <= l.at && (i+1 == hi || f.steps[i+1].start > l.at) {
		return i
	}
	from := lo
	for to := hi; from < to; {
		if mid := (from + to) / 2; f.steps[mid].start <= l.at {
			from = mid + 1
		} else {
			to = mid
		}
	}
	if from == lo {
		return -1
	}
	f.hint = from - 1
	return f.hint
}

// sampling reports whether what l launched samples: in a sampling scope, or,
// with vLLM's ranges, behind the range of its step.
func (f *folder) sampling(l launch, step int) bool {
	if s := &f.steps[step]; s.form.vllm() && l.at >= s.end {
		return true
	}
	if len(f.scopes) == 0 {
		return false
	}
	i, _ := slices.BinarySearchFunc(f.scopes, l, func(s section, l launch) int {
		if c := cmp.Compare(s.thread, l.thread); c != 0 {
			return c
		}
		if s.start <= l.at {
			return -1
		}
		return 1
	})
	return i > 0 && f.scopes[i-1].thread == l.thread && l.at < f.scopes[i-1].end
}

// timelines goes through all device events once, in any order, and returns one
// timeline for each device.
func (f *folder) timelines() ([]*timeline, error) {
	byProcess := make([]*timeline, len(f.c.tracks.processes))
	var all []*timeline
	for p := range f.c.tracks.processes {
		if proc := &f.c.tracks.processes[p]; proc.device {
			t := &timeline{device: uint32(p), label: proc.label, first: 1<<63 - 1, last: none}
			byProcess[p] = t
			all = append(all, t)
		}
	}
	for seq, r := range f.c.device.runs {
		c := open(r, seq)
		for c.next() {
			f.count(byProcess[c.it.tag>>deviceShift], &c.it)
		}
		if c.err != nil {
			return nil, c.err
		}
	}
	for _, t := range all {
		t.bind(f)
	}
	return all, f.launches.err
}

// count adds one event to its device's timeline.
func (f *folder) count(t *timeline, it *item) {
	end := it.at + it.dur
	t.events++
	t.time += it.dur
	t.first, t.last = min(t.first, it.at), max(t.last, end)
	l, ok := f.launch(it)
	if !ok {
		t.unlaunched++
		t.lostTime += it.dur
		return
	}
	if l.graph {
		t.replayed += it.dur
	}
	k := f.step(l)
	if k < 0 {
		t.early++
		return
	}
	if t.ends == nil {
		t.ends = make([]int64, len(f.steps))
		t.graph = make([]bool, len(f.steps))
		t.attn = make([]bool, len(f.steps))
		for i := range t.ends {
			t.ends[i] = none
		}
	}
	t.ends[k] = max(t.ends[k], end)
	t.graph[k] = t.graph[k] || l.graph
	if class(it.tag>>classShift&3) == compute && f.sampling(l, k) {
		t.sampled = true
	}
	if f.inferred && it.tag&attnBit != 0 && !l.graph && !t.attn[k] {
		t.attn[k] = true
		t.eager++
	}
}

// bind finds the intervals: one ends with each step, at the end of its last
// event, unless a step before it ends later still.
func (t *timeline) bind(f *folder) {
	t.steps = f.steps
	for k, end := range t.ends {
		switch n := len(t.bounds); {
		case end == none:
			if f.c.tracks.processes[f.steps[k].process].label == t.label {
				t.empty++
			}
		case n > 0 && end <= t.bounds[n-1].end:
			t.merged++
			t.graph[t.bounds[n-1].step] = t.graph[t.bounds[n-1].step] || t.graph[k]
		default:
			t.bounds = append(t.bounds, bound{end, k})
		}
	}
}

// piecewise reports whether inferred steps are parts of steps: most graph
// launches are followed by attention that no graph holds.
func (t *timeline) piecewise() bool { return 2*t.eager > int64(len(t.bounds)) }
