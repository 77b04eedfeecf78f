package analyzer

import (
	"slices"

	"servescope/analyzer/kernel"
	"servescope/analyzer/trace"
)

// stepFacts returns facts with the origin of the windows of runs that have steps
// and no requests: their first step.
func stepFacts(set *Set, facts *kernel.Facts) *kernel.Facts {
	out := *facts
	out.Runs = slices.Clone(facts.Runs)
	for _, r := range set.steps {
		for int(r.slot) >= len(out.Runs) {
			out.Runs = append(out.Runs, kernel.RunFacts{})
		}
		f := &out.Runs[r.slot]
		if int(r.slot) < len(facts.Runs) && facts.Runs[r.slot].HasTimes {
			continue
		}
		b := r.open()
		at, names := b.Ints(trace.StepT), stepClocks(b)
		for i := range b.Rows {
			t, ok := at.At(i)
			if clock := names.at(i); ok && (!f.HasTimes || clock == f.Clock && t < f.FirstSend) {
				f.HasTimes, f.Clock, f.FirstSend = true, clock, t
			}
		}
	}
	return &out
}

// Steps runs the kernels of steps over the rows that sel selects, with what the kernels
// of requests learned. The last of their states is that of loads.
func Steps(sel *Selection, facts *kernel.Facts) []kernel.State {
	set := sel.set
	q := *sel.q
	if !sel.steps.grouped {
		q.By = nil
	}
	facts = stepFacts(set, facts)
	selected := q // as Loads asks for it: a filter that is told of steps has chosen them already
	if q.Filter != nil && tellsSteps(set, q.Filter.Names()) {
		selected.Filter = nil
	}
	steps, times, loads := kernel.Steps.New(&q, facts), kernel.StepTime.New(&q, facts), kernel.Loads.New(&selected, facts)
	var zeros []int32
	for i, r := range open(set.steps) {
		zeros = slices.Grow(zeros[:0], r.cols.Rows)[:r.cols.Rows]
		for _, x := range []struct {
			state kernel.State
			group []int32
		}{{steps, sel.steps.of(i, false)}, {times, sel.steps.of(i, false)}, {loads, sel.steps.of(i, true)}} {
			if x.group == nil {
				x.group = zeros
			}
			x.state.Update(&kernel.View{Batch: r.cols, RunIndex: r.slot, Group: x.group})
		}
	}
	several := set.severalRanks()
	for _, r := range set.collectives {
		if several[r.slot] {
			times.Update(&kernel.View{Batch: r.held, RunIndex: r.slot})
		}
	}
	return []kernel.State{steps, times, loads}
}
