package steptime

import (
	"cmp"
	"maps"
	"slices"

	"servescope/analyzer/decompose"
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
)

// Finish adds the decompositions to the cells that have steps. Those of windows
// are without the tables by rank, kind and batch size.
func (s *state) Finish(out kernel.Output) {
	byRun := make(map[int32][]*decompose.Timeline)
	for _, key := range s.keys() {
		t := s.ranks[key]
		t.Kernels = s.links[linkKey{key.run, t.Place}]
		byRun[key.run] = append(byRun[key.run], t)
	}
	for _, run := range slices.Sorted(maps.Keys(byRun)) {
		if out.Run(run) == nil {
			continue
		}
		steps := decompose.NewSteps(byRun[run])
		for _, c := range s.cells(steps.Timelines()) {
			cell := out.Cell(run, c.group, c.window)
			cell.Decompositions = append(cell.Decompositions, steps.Decompositions(c.steps, c.window == kernel.NoWindow)...)
			s.engineStep(cell, steps.Timelines(), c.steps, c.window == kernel.NoWindow)
		}
	}
}

// stepCell is the steps of a group (-1: all) in a window.
type stepCell struct {
	window int64
	group  int32
	steps  decompose.Selection
}

// cells returns the cells that selected steps are in, whole runs first, not more
// than a report holds.
func (s *state) cells(timelines []*decompose.Timeline) []*stepCell {
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
			if len(s.Query.By) == 0 {
				groups = groups[:1]
			}
			for _, group := range groups {
				add(at, i, key{kernel.NoWindow, group})
				if k.Window > cell.Elsewhere {
					add(at, i, key{k.Window, group})
				}
			}
		}
	}
	list := make([]*stepCell, 0, len(seen))
	for _, c := range seen {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *stepCell) int {
		return cmp.Or(cmp.Compare(a.window, b.window), cmp.Compare(a.group, b.group))
	})
	return list[:min(len(list), cell.MaxSeries)]
}

// engineStep writes the metric engine_step of a cell: the intervals of its steps.
// Ranks of one engine take the same steps, so the first that has any stands for
// all. The metric is the product's own under every definition.
func (s *state) engineStep(c *report.Cell, timelines []*decompose.Timeline, in decompose.Selection, wide bool) {
	var values []int64
	var sum stat.Moments
	others := int64(0) // steps whose lengths are no intervals
	done := make(map[string]bool)
	for at, t := range timelines {
		if done[t.Replica] || len(in[at]) == 0 {
			continue
		}
		for _, i := range in[at] {
			k := &t.Steps[i]
			switch {
			case k.Duration < 0 || k.Kind == trace.StepDummy:
			case k.Quantity != trace.Interval:
				others++
			default:
				done[t.Replica] = true
				values = append(values, k.Duration)
				sum.AddN(k.Duration, 1)
			}
		}
	}
	if len(values) == 0 && others == 0 {
		return
	}
	m, _ := metric.Lookup("engine_step")
	out := metric.Default.Null(m, metric.NotRecorded.String())
	out.Side = request.SideName(trace.Engine)
	if others > 0 {
		out.Excluded = map[string]int64{metric.NotRecorded.String(): others}
	}
	if n := int64(len(values)); n > 0 {
		stat.Sort(values)
		out.Reason, out.N, out.Exact = "", n, true
		out.Mean, out.Std = sum.Mean(), sum.Std()
		out.Min, out.Max = float64(values[0]), float64(values[n-1])
		out.Quantiles = make(map[string]float64)
		for _, q := range s.Base.Ranks() {
			lo, hi, f := metric.Default.Quantile.Ranks(n, q)
			out.Quantiles[cell.RankName(q)] = stat.Lerp(float64(values[lo]), float64(values[hi]), f)
		}
		if wide {
			out.Notes = append(out.Notes, s.FewValues(n)...)
		}
	}
	cell.SetMetric(c, m.Name, out)
}
