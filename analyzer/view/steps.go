package view

import (
	"cmp"
	"math"
	"slices"

	"servescope/analyzer/dataset"
	"servescope/analyzer/selection"
	"servescope/analyzer/trace"
)

// maxSteps is how many steps a chart shows one by one.
const maxSteps = 20000

// showSteps shows what the engine says of its own steps or windows of time: when
// they end, on which clock, replica and kind, and the named columns of the table
// of steps. Where there are more than Limit it shows equal parts of the time, and
// of each column the mean, the least and the greatest value in them (X, X.min,
// X.max).
func showSteps(v *viewer, out *Columns) error {
	cols := make([]trace.Col, 0, len(v.p.Columns))
	for _, name := range v.p.Columns {
		col, ok := trace.Steps.Lookup(name)
		if f := &trace.Steps.Fields[col]; !ok || f.Type == trace.Text || f.Type == trace.Dict || f.Type == trace.List {
			return viewError("there is no column of numbers " + name + " of steps")
		}
		cols = append(cols, col)
	}
	list := []Column{{Name: "t"}, {Name: "clock"}, {Name: "replica", Text: true}, {Name: "kind", Text: true}}
	for _, name := range v.p.Columns {
		list = append(list, Column{Name: name})
	}
	for i, r := range dataset.OpenEach(v.set.Steps) {
		if r.Slot == v.run.Slot {
			v.set.Yield()
			addSteps(v, list, cols, r, v.sel.Steps.Of(i, false))
		}
	}
	out.Facts["n"] = float64(len(list[0].Floats))
	if limit := cmp.Or(max(v.p.Limit, 0), maxSteps); len(list[0].Floats) > limit {
		list = thinned(list, limit)
		out.Mode = "bins"
	}
	out.List = list
	return nil
}

// addSteps adds the selected rows of a batch that are in the viewport's time.
func addSteps(v *viewer, list []Column, cols []trace.Col, r dataset.Opened, group []int32) {
	names, stamps := dataset.StepClocks(r.Cols), r.Cols.Ints(trace.StepT)
	for i := range r.Cols.Rows {
		if group != nil && group[i] < 0 {
			continue
		}
		t, clock := math.NaN(), math.NaN()
		if at, ok := stamps.At(i); ok {
			t = v.sinceOf(names.At(i), at)
		}
		if v.p.From < v.p.To && !(t >= float64(v.p.From) && t < float64(v.p.To)) {
			continue
		}
		if n, ok := v.index[selection.ClockKeyOf(r.Slot, names.At(i))]; ok {
			clock = float64(n)
		}
		list[0].Floats, list[1].Floats = append(list[0].Floats, t), append(list[1].Floats, clock)
		for k, col := range []trace.Col{trace.StepReplica, trace.StepKindCol} {
			c, code := &list[2+k], int32(-1)
			if at, ok := r.Cols.Dicts(col).At(i); ok {
				name := r.Cols.Dicts(col).Values[at]
				if code = int32(slices.Index(c.Values, name)); code < 0 {
					code = int32(len(c.Values))
					c.Values = append(c.Values, name)
				}
			}
			c.Codes = append(c.Codes, code)
		}
		for k, col := range cols {
			list[4+k].Floats = append(list[4+k].Floats, stepNumber(r.Cols, col, i))
		}
	}
}

// stepNumber returns a value of a column of steps, NaN where it is null.
func stepNumber(b *trace.Batch, col trace.Col, i int) float64 {
	switch trace.Steps.Fields[col].Type {
	case trace.Float64:
		if f, ok := b.Floats(col).At(i); ok {
			return f
		}
	case trace.Bool:
		switch yes, ok := b.Bools(col).At(i); {
		case ok && yes:
			return 1
		case ok:
			return 0
		}
	default:
		if n, ok := b.Ints(col).At(i); ok {
			return float64(n)
		}
	}
	return math.NaN()
}

// thinned sums steps up in n equal parts of the time; parts without steps are
// left out, and so are steps without a time.
func thinned(list []Column, n int) []Column {
	t := list[0].Floats
	low, high := math.Inf(1), math.Inf(-1)
	for _, at := range t {
		if isNumber(at) {
			low, high = min(low, at), max(high, at)
		}
	}
	out := []Column{{Name: "t"}, {Name: "count"}}
	length := max((high-low)/float64(n), 0)
	at := func(i int) int {
		if length <= 0 {
			return 0
		}
		return min(int((t[i]-low)/length), n-1)
	}
	counts, place := make([]float64, n), make([]int, n)
	for i := range t {
		if isNumber(t[i]) {
			counts[at(i)]++
		}
	}
	for b, count := range counts {
		if place[b] = len(out[0].Floats); count > 0 {
			out[0].Floats = append(out[0].Floats, low+float64(float64(b)*length))
			out[1].Floats = append(out[1].Floats, count)
		}
	}
	for _, c := range list[4:] {
		out = append(out, summed(c, t, len(out[0].Floats), func(i int) int { return place[at(i)] })...)
	}
	return out
}

// summed returns the mean, the least and the greatest value of a column in n parts.
func summed(c Column, t []float64, n int, at func(int) int) []Column {
	null := func() []float64 { return slices.Repeat([]float64{math.NaN()}, n) }
	sum, least, most, known := make([]float64, n), null(), null(), make([]float64, n)
	for i, f := range c.Floats {
		if !isNumber(t[i]) || !isNumber(f) {
			continue
		}
		b := at(i)
		sum[b] += f
		if known[b]++; known[b] == 1 {
			least[b], most[b] = f, f
		}
		least[b], most[b] = min(least[b], f), max(most[b], f)
	}
	for b := range sum {
		if sum[b] /= known[b]; known[b] == 0 {
			sum[b] = math.NaN()
		}
	}
	return []Column{{Name: c.Name, Floats: sum}, {Name: c.Name + ".min", Floats: least}, {Name: c.Name + ".max", Floats: most}}
}
