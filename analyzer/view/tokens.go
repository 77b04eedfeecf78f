package view

import (
	"math"

	"servescope/analyzer/dataset"
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
)

// showHeatmap counts chunk gaps in cells of time (the time of the chunk at their end) by
// length. The cells of one column of the map are adjacent, shortest gaps first. Gaps in
// no cell are counted: below and above the lengths, outside of the time, without a time,
// and negative.
func showHeatmap(v *viewer, out *Columns) error {
	nx, ny := v.bins(200, 64)
	from, to, low, high, err := gapExtent(v)
	if err != nil {
		return err
	}
	y := logScaleFor(low, high, ny)
	y0 := y.bucket(low)
	ny = int(y.bucket(high)-y0) + 1
	x := timeScale{from, to, nx}
	counts := make([]float64, nx*ny)
	var n, below, above, outside, unplaced, negative float64
	err = eachGap(v, func(at, gap int64, placed bool) {
		n++
		switch {
		case gap < 0:
			negative++
		case !placed:
			unplaced++
		case at < from || at >= to:
			outside++
		case gap < low:
			below++
		case gap > high:
			above++
		default:
			counts[x.bin(at)*ny+int(y.bucket(gap)-y0)]++
		}
	})
	if err != nil {
		return err
	}
	xs, ys := Column{Name: "x"}, Column{Name: "y"}
	for i := range nx + 1 {
		xs.Floats = append(xs.Floats, float64(x.edge(i)))
	}
	for j := range ny + 1 {
		ys.Floats = append(ys.Floats, float64(y.edge(y0+int64(j))))
	}
	out.List = []Column{{Name: "count", Floats: counts}, xs, ys}
	for name, f := range map[string]float64{
		"n": n, "below": below, "above": above, "outside": outside, "unplaced": unplaced, "negative": negative, "xbins": float64(nx), "ybins": float64(ny),
	} {
		out.Facts[name] = f
	}
	return nil
}

// maxCells bounds the numbers that a chart of cells or lanes holds: 32 MB of them.
const maxCells = 4 << 20

// timeScale divides the time from from to to into n bins of whole nanoseconds,
// as equal as they can be.
type timeScale struct {
	from, to int64
	n        int
}

// edge returns where bin i begins.
func (s timeScale) edge(i int) int64 {
	d := s.to - s.from
	q, r := d/int64(s.n), d%int64(s.n)
	return s.from + q*int64(i) + r*int64(i)/int64(s.n)
}

// bin returns the bin of t, which is in the time.
func (s timeScale) bin(t int64) int {
	i := min(int(float64(float64(t-s.from)/float64(s.to-s.from))*float64(s.n)), s.n-1)
	for i > 0 && t < s.edge(i) {
		i--
	}
	for i+1 < s.n && t >= s.edge(i+1) {
		i++
	}
	return i
}

// eachGap calls f with each chunk gap and the time of the chunk at its end, on the run's
// first clock since its origin; placed is false for a chunk without a time on it.
func eachGap(v *viewer, f func(at, gap int64, placed bool)) error {
	return v.each(true, true, func(k *kernel.View, rows []int32) {
		chunks, names := request.ChunksOf(k, metric.Default), dataset.ClocksOf(k.Batch)
		for _, i := range rows {
			at, gaps, _, known, ok := chunks.At(int(i))
			if !ok {
				continue
			}
			placed := known && v.onFirstClock(names.At(int(i)))
			if placed {
				at -= v.clocks[0].Origin
			}
			for _, g := range gaps {
				at += g
				f(at, g, placed)
			}
		}
	})
}

// gapExtent returns the viewport's interval of time and of lengths, or the interval of
// all gaps where the viewport sets none.
func gapExtent(v *viewer) (from, to, low, high int64, err error) {
	from, to, low, high = v.p.From, v.p.To, v.p.Low, v.p.High
	if from < to && low < high {
		return from, to, low, high, nil
	}
	t0, t1, g0, g1 := int64(math.MaxInt64), int64(math.MinInt64), int64(math.MaxInt64), int64(math.MinInt64)
	err = eachGap(v, func(at, gap int64, placed bool) {
		if placed && gap >= 0 {
			t0, t1, g0, g1 = min(t0, at), max(t1, at), min(g0, gap), max(g1, gap)
		}
	})
	if t0 > t1 {
		t0, t1, g0, g1 = 0, 0, 0, 0
	}
	if from >= to {
		from, to = t0, t1+1
	}
	if low >= high {
		low, high = g0, g1
	}
	return from, to, low, high, err
}
