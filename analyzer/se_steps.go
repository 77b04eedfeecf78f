package analyzer

import (
	"slices"

	"servescope/analyzer/query"
	"servescope/analyzer/trace"
)

// stepSelection is the verdict of a query on the rows of the steps table. A step
// is in W by its end, and in a group where all that the query groups by is told
// of steps too. A filter that asks for more than that says nothing of steps: they
// all stay.
type stepSelection struct {
	rows    [][]int32 // group by resident batch and row; nil when the query keeps everything in one group
	always  [][]int32 // the same, whenever a step ends; nil without an interval and a trim
	grouped bool      // the groups are those of requests
	whole   bool      // the filter asks for what is not told of steps: it removes none
}

// of returns the groups of the rows of resident batch i of steps, nil for all in
// one; with always, of those outside of W as well.
func (sel *stepSelection) of(i int, always bool) []int32 {
	switch {
	case sel.rows == nil:
		return nil
	case always && sel.always != nil:
		return sel.always[i]
	}
	return sel.rows[i]
}

// stepNames are the columns of requests that steps have as well, and what is
// known of the input and the run of both.
var stepNames = []string{"replica", "engine", "model", "side", "clock", "run", "file"}

// tellsSteps reports whether all of names is known of a step. Steps have the
// model of their run: where requests name models of their own a step may be about
// any of these.
func tellsSteps(set *Set, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		return !slices.Contains(stepNames, name) ||
			name == "model" && slices.ContainsFunc(set.requests, func(r *Batch) bool { return r.has(trace.Model) })
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
func (sel *Selection) chooseSteps() {
	q := sel.q
	sel.steps.grouped = len(q.By) > 0 && tellsSteps(sel.set, q.By)
	var x *query.Evaluator
	if q.Filter != nil {
		if sel.steps.whole = !tellsSteps(sel.set, q.Filter.Names()); !sel.steps.whole {
			x = q.Filter.Evaluator(nil) // steps tell no metric of requests
		}
	}
	var keep []bool
	var ids []int32
	for _, r := range open(sel.set.steps) {
		as, group := asRequests(r.cols), make([]int32, r.cols.Rows)
		if sel.steps.grouped {
			sel.groups.of(as, r.file, group, &ids, others{})
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
		if sel.edges != nil {
			sel.steps.always = append(sel.steps.always, slices.Clone(group))
			chooseStepTime(sel, r, group)
		}
		n := sel.removed[r.slot]
		for _, g := range group {
			if g < 0 {
				n.steps++
			}
		}
		sel.removed[r.slot] = n
		sel.steps.rows = append(sel.steps.rows, group)
	}
}

// chooseStepTime removes the steps that end outside of W, and those without a
// place in time.
func chooseStepTime(sel *Selection, r opened, group []int32) {
	at, names := r.cols.Ints(trace.StepT), stepClocks(r.cols)
	var name string
	var e edge
	for i := range group {
		if clock := names.at(i); clock != name || i == 0 {
			name, e = clock, sel.edges[edgeOf(r.slot, clock)]
		}
		if t, ok := at.At(i); !ok || !e.interval.placed || !e.trimmed.placed || !e.interval.holds(t) || !e.trimmed.holds(t) {
			group[i] = -1
		}
	}
}

// findStepEdges adds the clocks that steps are on and no request.
func (sel *Selection) findStepEdges() {
	for _, r := range open(sel.set.steps) {
		at, names := r.cols.Ints(trace.StepT), stepClocks(r.cols)
		var name string
		var key edgeKey
		for i := range r.cols.Rows {
			t, ok := at.At(i)
			if !ok {
				continue
			}
			if clock := names.at(i); clock != name || name == "" {
				name, key = clock, edgeOf(r.slot, clock)
			}
			if e, known := sel.edges[key]; !known || e.steps && t < e.first {
				clock, _ := trace.ParseClock(key.axis)
				sel.edges[key] = edge{kind: clock.Kind, first: t, steps: true}
			}
		}
	}
}
