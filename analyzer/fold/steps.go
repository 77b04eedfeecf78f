package fold

import (
	"slices"

	"servescope/analyzer/dataset"
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/loads"
	"servescope/analyzer/kernel/steps"
	"servescope/analyzer/kernel/steptime"
	"servescope/analyzer/selection"
	"servescope/analyzer/trace"
)

// stepFacts returns facts with the origin of the windows of runs that have steps
// and no requests: their first step.
func stepFacts(set *dataset.Set, facts *kernel.Facts) *kernel.Facts {
	out := *facts
	out.Runs = slices.Clone(facts.Runs)
	for _, r := range set.Steps {
		for int(r.Slot) >= len(out.Runs) {
			out.Runs = append(out.Runs, kernel.RunFacts{})
		}
		f := &out.Runs[r.Slot]
		if int(r.Slot) < len(facts.Runs) && facts.Runs[r.Slot].HasTimes {
			continue
		}
		b := r.Open()
		at, names := b.Ints(trace.StepT), dataset.StepClocks(b)
		for i := range b.Rows {
			t, ok := at.At(i)
			if clock := names.At(i); ok && (!f.HasTimes || clock == f.Clock && t < f.FirstSend) {
				f.HasTimes, f.Clock, f.FirstSend = true, clock, t
			}
		}
	}
	return &out
}

// Steps runs the kernels of steps over the rows that sel selects, with the facts that
// the kernels of requests learned. The last state belongs to the kernel of loads.
func Steps(sel *selection.Selection, facts *kernel.Facts) []kernel.State {
	set := sel.Set
	q := *sel.Query
	if !sel.Steps.Grouped {
		q.By = nil
	}
	facts = stepFacts(set, facts)
	selected := q // as Loads asks for it: a filter that is told of steps has chosen them already
	if q.Filter != nil && selection.TellsSteps(set, q.Filter.Names()) {
		selected.Filter = nil
	}
	steps, times, loads := steps.New().New(&q, facts), steptime.New().New(&q, facts), loads.New().New(&selected, facts)
	var zeros []int32
	for i, r := range dataset.OpenEach(set.Steps) {
		zeros = slices.Grow(zeros[:0], r.Cols.Rows)[:r.Cols.Rows]
		for _, x := range []struct {
			state kernel.State
			group []int32
		}{{steps, sel.Steps.Of(i, false)}, {times, sel.Steps.Of(i, false)}, {loads, sel.Steps.Of(i, true)}} {
			if x.group == nil {
				x.group = zeros
			}
			x.state.Update(&kernel.View{Batch: r.Cols, RunIndex: r.Slot, Group: x.group})
		}
	}
	several := set.SeveralRanks()
	for _, r := range set.Collectives {
		if several[r.Slot] {
			times.Update(&kernel.View{Batch: r.Columns, RunIndex: r.Slot})
		}
	}
	return []kernel.State{steps, times, loads}
}
