package selection

import (
	"slices"

	"servescope/analyzer/dataset"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
)

// Steps is the verdict of a query on the rows of the steps table. A step
// is in W by its end, and in a group where all that the query groups by is told
// of steps too. A filter that asks for more than that says nothing of steps: they
// all stay.
type Steps struct {
	rows    [][]int32 // group by resident batch and row; nil when the query keeps everything in one group
	always  [][]int32 // the same, whenever a step ends; nil without an interval and a trim
	Grouped bool      // steps have the groups of requests
	Whole   bool      // the filter uses columns that steps do not have: it removes no step
}

// Of returns the groups of the rows of resident batch i of steps, nil for all in
// one; with always, of those outside of W as well.
func (sel *Steps) Of(i int, always bool) []int32 {
	switch {
	case sel.rows == nil:
		return nil
	case always && sel.always != nil:
		return sel.always[i]
	}
	return sel.rows[i]
}

// stepNames lists the columns of requests that steps have as well, and the names of the
// run and the input.
var stepNames = []string{"replica", "engine", "model", "side", "clock", "run", "file"}

// TellsSteps reports whether all of names is known of a step. Steps have the
// model of their run: where requests name models of their own a step may be about
// any of these.
func TellsSteps(set *dataset.Set, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		return !slices.Contains(stepNames, name) ||
			name == "model" && slices.ContainsFunc(set.Requests, func(r *dataset.Batch) bool { return r.Has(trace.Model) })
	})
}

// asRequests returns steps as rows of the requests table with the columns that
// both have, so that filters and groups take them.
func asRequests(b *trace.Batch) *trace.Batch {
	out := trace.NewBatch(trace.Requests, b.Run, b.File, b.Rows)
	out.Share(trace.Replica, b, trace.StepReplica)
	out.Share(trace.EngineCol, b, trace.StepEngine)
	out.Share(trace.ClockCol, b, trace.StepClock)
	return out
}

// chooseSteps applies the query of sel to the resident steps. Its groups are not
// finished yet.
func chooseSteps(sel *Selection) {
	q := sel.Query
	sel.Steps.Grouped = len(q.By) > 0 && TellsSteps(sel.Set, q.By)
	var x *query.Evaluator
	if q.Filter != nil {
		if sel.Steps.Whole = !TellsSteps(sel.Set, q.Filter.Names()); !sel.Steps.Whole {
			x = q.Filter.Evaluator(nil) // steps tell no metric of requests
		}
	}
	var keep []bool
	var ids []int32
	for _, r := range dataset.OpenEach(sel.Set.Steps) {
		as, group := asRequests(r.Cols), make([]int32, r.Cols.Rows)
		if sel.Steps.Grouped {
			sel.Groups.of(as, r.File, group, &ids, linkedValues{})
		}
		if x != nil {
			keep = slices.Grow(keep[:0], as.Rows)[:as.Rows]
			x.Eval(as, keep)
			for i, k := range keep {
				if !k {
					group[i] = -1
				}
			}
		}
		if sel.ClockRanges != nil {
			sel.Steps.always = append(sel.Steps.always, slices.Clone(group))
			chooseStepTime(sel, r, group)
		}
		n := sel.Removed[r.Slot]
		for _, g := range group {
			if g < 0 {
				n.Steps++
			}
		}
		sel.Removed[r.Slot] = n
		sel.Steps.rows = append(sel.Steps.rows, group)
	}
}

// chooseStepTime removes the steps that end outside of W, and those without a
// place in time.
func chooseStepTime(sel *Selection, r dataset.Opened, group []int32) {
	at, names := r.Cols.Ints(trace.StepT), dataset.StepClocks(r.Cols)
	var name string
	var e ClockRange
	for i := range group {
		if clock := names.At(i); clock != name || i == 0 {
			name, e = clock, sel.ClockRanges[ClockKeyOf(r.Slot, clock)]
		}
		if t, ok := at.At(i); !ok || !e.Holds(t) {
			group[i] = -1
		}
	}
}

// addStepClockRanges adds the clocks that steps are on and no request.
func addStepClockRanges(sel *Selection) {
	for _, r := range dataset.OpenEach(sel.Set.Steps) {
		at, names := r.Cols.Ints(trace.StepT), dataset.StepClocks(r.Cols)
		var name string
		var key ClockKey
		for i := range r.Cols.Rows {
			t, ok := at.At(i)
			if !ok {
				continue
			}
			if clock := names.At(i); clock != name || name == "" {
				name, key = clock, ClockKeyOf(r.Slot, clock)
			}
			if e, known := sel.ClockRanges[key]; !known || e.steps && t < e.First {
				clock, _ := trace.ParseClock(key.Axis)
				sel.ClockRanges[key] = ClockRange{Kind: clock.Kind, First: t, steps: true}
			}
		}
	}
}
