package view

import (
	"cmp"
	"math"
	"slices"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
)

// Defaults of viewports.
const (
	maxPoints   = 20000 // of a scatter chart
	curvePoints = 1000  // of an ecdf
	trendBins   = 24
)

// showScatter shows requests as points, or where they are too many as counts in
// scatterCells of equal size; and with either the median and the 95th percentile of y
// in up to 24 bins of x that hold equally many, but for requests of equal x,
// which share a bin.
func showScatter(v *viewer, out *Columns) error {
	names := []string{"row", v.p.X, v.p.Y}
	if v.p.Color != "" {
		names = append(names, v.p.Color)
	}
	list, err := v.named(names)
	if err != nil {
		return err
	}
	if len(list) != len(names) || list[1].Text || list[2].Text {
		return viewError("x and y are columns of numbers")
	}
	x, y := list[1].Floats, list[2].Floats
	var known []int32
	for i := range x {
		if isNumber(x[i]) && isNumber(y[i]) {
			known = append(known, int32(i))
		}
	}
	out.Facts["n"], out.Facts["nulls"] = float64(len(known)), float64(len(x)-len(known))
	out.List = trend(x, y, known)
	limit := v.p.Limit
	if limit <= 0 {
		limit = maxPoints
	}
	if len(known) > limit {
		out.Mode = "bins"
		scatterCells(v, out, x, y, known)
		return nil
	}
	out.Mode = "points"
	for i, name := range []string{"row", "x", "y", "color"}[:len(list)] {
		c := Column{Name: name, Text: list[i].Text, Values: list[i].Values}
		for _, k := range known {
			if c.Text {
				c.Codes = append(c.Codes, list[i].Codes[k])
			} else {
				c.Floats = append(c.Floats, list[i].Floats[k])
			}
		}
		out.List = append(out.List, c)
	}
	return nil
}

// scatterCells counts points in a grid over their extent; its last row and column hold
// the greatest values too. Empty cells are left out.
func scatterCells(v *viewer, out *Columns, x, y []float64, known []int32) {
	nx, ny := v.bins(160, 100)
	x0, dx := grid(x, known, nx)
	y0, dy := grid(y, known, ny)
	counts := make([]float64, nx*ny)
	for _, k := range known {
		i, j := min(int((x[k]-x0)/dx), nx-1), min(int((y[k]-y0)/dy), ny-1)
		counts[i*ny+j]++
	}
	cx, cy, n := Column{Name: "x"}, Column{Name: "y"}, Column{Name: "count"}
	for at, count := range counts {
		if count > 0 {
			cx.Floats = append(cx.Floats, x0+float64(float64(at/ny)*dx))
			cy.Floats = append(cy.Floats, y0+float64(float64(at%ny)*dy))
			n.Floats = append(n.Floats, count)
		}
	}
	out.Facts["dx"], out.Facts["dy"] = dx, dy
	out.List = append(out.List, cx, cy, n)
}

// grid returns the least of values and the width of n cells up to the greatest.
func grid(values []float64, known []int32, n int) (from, width float64) {
	from, to := values[known[0]], values[known[0]]
	for _, k := range known {
		from, to = min(from, values[k]), max(to, values[k])
	}
	if width = (to - from) / float64(n); width <= 0 {
		width = 1
	}
	return from, width
}

// trend returns the course of y over bins of x.
func trend(x, y []float64, known []int32) []Column {
	order := slices.Clone(known)
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(x[a], x[b]), cmp.Compare(a, b)) })
	out := []Column{{Name: "trend_from"}, {Name: "trend_to"}, {Name: "trend_n"}, {Name: "trend_median"}, {Name: "trend_p95"}}
	var values []float64
	for from, bin := 0, 1; from < len(order); bin++ {
		to := max(from+1, len(order)*bin/trendBins)
		for to < len(order) && x[order[to]] == x[order[to-1]] {
			to++
		}
		values = values[:0]
		for _, k := range order[from:to] {
			values = append(values, y[k])
		}
		slices.Sort(values)
		at := func(n int) float64 { return values[n] }
		for i, f := range []float64{x[order[from]], x[order[to-1]], float64(to - from), QuantileOf(len(values), 0.5, at), QuantileOf(len(values), 0.95, at)} {
			out[i].Floats = append(out[i].Floats, f)
		}
		from = to
	}
	return out
}

// showECDF shows how many requests (gaps, for chunk_gap) have at most a value, at
// chosen values: all where they are few, else by equal steps of rank and every
// one of the hundred smallest and greatest. Counts are exact. For gaps the values
// are the upper ends of buckets 2⁻⁸ wide.
func showECDF(v *viewer, out *Columns) error {
	points := cmp.Or(max(v.p.Limit, 0), curvePoints)
	value, count := Column{Name: "value"}, Column{Name: "count"}
	if v.p.Metric == "chunk_gap" {
		h, err := countGaps(v, out)
		if err != nil {
			return err
		}
		sum := 0.0
		for at, n := range h {
			if n > 0 {
				sum += float64(n)
				value.Floats = append(value.Floats, float64(gapScale.edge(int64(at)+1)-1))
				count.Floats = append(count.Floats, sum)
			}
		}
		out.List = []Column{value, count}
		return nil
	}
	c, err := v.column(v.p.Metric)
	if err != nil {
		return err
	}
	if c.Text {
		return viewError(v.p.Metric + " is a text")
	}
	var sorted []float64
	for _, f := range c.Floats {
		if isNumber(f) {
			sorted = append(sorted, f)
		}
	}
	slices.Sort(sorted)
	out.Facts["n"], out.Facts["nulls"] = float64(len(sorted)), float64(len(c.Floats)-len(sorted))
	for i := 0; i < len(sorted); i++ {
		if last := i+1 == len(sorted) || sorted[i+1] != sorted[i]; last && chosen(i, len(sorted), points) {
			value.Floats = append(value.Floats, sorted[i])
			count.Floats = append(count.Floats, float64(i+1))
		}
	}
	out.List = []Column{value, count}
	return nil
}

// chosen reports whether the i-th of n sorted values is a point of a curve of
// about so many points.
func chosen(i, n, points int) bool {
	const ends = 100
	if n <= points || i < ends || i >= n-ends {
		return true
	}
	step := n / points
	return step <= 1 || i%step == 0
}

// gapScale are the buckets of gaps in an ecdf.
var gapScale = logScale{8}

// countGaps counts the gaps of the selected requests in the buckets of gapScale.
func countGaps(v *viewer, out *Columns) ([]int64, error) {
	h := make([]int64, gapScale.bucket(math.MaxInt64)+1)
	n, without, negative := 0, 0, 0
	err := v.each(true, true, func(k *kernel.View, rows []int32) {
		chunks := request.ChunksOf(k, metric.Default)
		for _, i := range rows {
			_, gaps, _, _, ok := chunks.At(int(i))
			if !ok {
				without++
				continue
			}
			for _, g := range gaps {
				if g < 0 {
					negative++
					continue
				}
				h[gapScale.bucket(g)]++
				n++
			}
		}
	})
	out.Facts["n"], out.Facts["nulls"], out.Facts["negative"] = float64(n), float64(without), float64(negative)
	return h, err
}
