package assemble

import (
	"cmp"
	"slices"

	"servescope/analyzer/dataset"
	"servescope/analyzer/diag"
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/loads"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/selection"
)

// Cells collects the cells that kernels fill; it implements kernel.Output. Runs are
// numbered by the slots of the session.
type Cells struct {
	q     *query.Query
	names []map[string]string // of the groups
	runs  map[int32]*report.Run
	cells map[cellKey]*report.Cell
	loads kernel.State // of loads.New(), complete
	idle  map[int32]kernel.Idle
}

type cellKey struct {
	run, group int32
	window     int64
}

func newCells(sel *selection.Selection, runs []*dataset.Run) *Cells {
	o := &Cells{q: sel.Query, runs: make(map[int32]*report.Run), cells: make(map[cellKey]*report.Cell), idle: make(map[int32]kernel.Idle)}
	if sel.Groups != nil {
		o.names = sel.Groups.Names
	}
	for _, r := range runs {
		o.runs[r.Slot] = new(report.Run)
	}
	return o
}

// CellsOf lets the final states of kernels, kernels of steps included, fill the cells of
// the runs of sel's set. learned holds the facts that the kernels learned. CellsOf adds
// diagnostics about the limits of cells to log. The states must not be used afterwards.
func CellsOf(sel *selection.Selection, states, steps []kernel.State, learned *kernel.Facts, log *diag.Log) *Cells {
	out := newCells(sel, sel.Set.Runs)
	out.loads = steps[len(steps)-1]
	out.finish(append(states, steps...))
	windowDiags(sel, out, learned, log)
	stepDiags(sel.Set, steps, log)
	if len(sel.Query.By) > 0 && !sel.Steps.Grouped {
		out.ungroupedSteps()
	}
	if sel.Steps.Whole {
		for _, r := range out.runs {
			if len(r.Steps) > 0 {
				r.Notes = append(r.Notes, "steps_unfiltered: the filter asks for what is not told of engine steps: it removes none of them")
			}
		}
	}
	for slot, n := range sel.Removed {
		out.runs[slot].Removed = report.Removed{Filter: n.Filter, Interval: n.Time, Trim: n.Trim, Steps: n.Steps}
	}
	selectionDiags(sel, log)
	return out
}

// Cell implements kernel.Output. Without dimensions there are no groups: the cell of a
// group is the cell of the run.
func (o *Cells) Cell(run, group int32, window int64) *report.Cell {
	if len(o.q.By) == 0 {
		group = -1
	}
	if group < 0 && window == kernel.NoWindow {
		return &o.runs[run].Cell
	}
	key := cellKey{run, group, window}
	c := o.cells[key]
	if c == nil {
		c = new(report.Cell)
		o.cells[key] = c
	}
	return c
}

// Run implements kernel.Output.
func (o *Cells) Run(run int32) *report.Run { return o.runs[run] }

// Idle implements kernel.Output.
func (o *Cells) Idle(run int32) kernel.Idle {
	idle, ok := o.idle[run]
	if !ok {
		idle = loads.IdleOf(o.loads, run)
		o.idle[run] = idle
	}
	return idle
}

// finish lets the kernels write their results and puts groups and windows into
// their runs, sorted. A window that is beyond what any kernel keeps is left out:
// part of its figures would be missing.
func (o *Cells) finish(states []kernel.State) {
	cut, capped := cutOf(states)
	for i, s := range states {
		s.Finish(o)
		states[i] = nil
	}
	keys := make([]cellKey, 0, len(o.cells))
	for k := range o.cells {
		if !capped || k.window < cut {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b cellKey) int { // NoWindow is the smallest window
		return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.group, b.group), cmp.Compare(a.window, b.window))
	})
	for i, k := range keys {
		r, c := o.runs[k.run], o.cells[k]
		list := &r.Windows
		if k.group >= 0 {
			if o.silent(k.run, k.group) {
				continue
			}
			if i == 0 || keys[i-1].run != k.run || keys[i-1].group != k.group {
				r.Groups = append(r.Groups, report.Group{By: o.names[k.group]})
			}
			g := &r.Groups[len(r.Groups)-1]
			if k.window == kernel.NoWindow {
				g.Cell = *c
				continue
			}
			list = &g.Windows
		}
		*list = append(*list, report.Window{From: k.window, To: k.window + o.q.Window, Cell: *c})
	}
}

// OfEngines are the rates that need what engines log.
var OfEngines = [...]string{"batch_logged", "cross_ratio", "decode_capacity", "decode_capacity_unused"}

// ungroupedSteps notes, where requests are grouped by a dimension that engine steps do
// not have, that the logs of engines cover the requests of all groups.
func (o *Cells) ungroupedSteps() {
	for _, r := range o.runs {
		if len(r.Steps) == 0 {
			continue
		}
		set := func(c *report.Cell) {
			if c.Throughput.Values == nil {
				c.Throughput.Values = make(map[string]report.Value)
			}
			for _, name := range OfEngines {
				c.Throughput.Values[name] = report.Null(metric.Filtered.String())
			}
		}
		for i := range r.Groups {
			set(&r.Groups[i].Cell)
			for k := range r.Groups[i].Windows {
				set(&r.Groups[i].Windows[k].Cell)
			}
		}
	}
}

// silent reports whether a group has nothing in the query's interval: neither a
// request that is sent or under way in it nor a token or a step.
func (o *Cells) silent(run, group int32) bool {
	c := o.cells[cellKey{run, group, kernel.NoWindow}]
	return o.q.Timed() && c != nil && c.Requests.Total == 0 && c.Concurrency.Max.V == 0 && c.Throughput.Values["tps"].V == 0 && len(c.Steps) == 0
}
