package view

import (
	"cmp"
	"slices"

	"servescope/analyzer/dataset"
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/selection"
)

// maxGaps is how many chunk gaps a chart shows one by one.
const maxGaps = 500_000

// chunkGap is a chunk gap of the request that row is counted with.
type chunkGap struct {
	row      int32
	end, gap int64 // ns, end since the origin of the request's clock
}

// showGaps lists chunk gaps one by one: those from Low to High long that end in the
// viewport's time, with the row of their request and when they end. Where there are
// more than Limit these are the longest: then low is the length from which on the
// list is complete. Total counts them all. Gaps without a time are in neither.
func showGaps(v *viewer, out *Columns) error {
	limit := cmp.Or(max(v.p.Limit, 0), maxGaps)
	low, total := v.p.Low, 0
	var list []chunkGap
	err := v.each(true, true, func(k *kernel.View, rows []int32) {
		chunks, names := request.ChunksOf(k, metric.Default), dataset.ClocksOf(k.Batch)
		for _, i := range rows {
			at, gaps, _, known, ok := chunks.At(int(i))
			clock, placed := v.index[selection.ClockKeyOf(v.run.Slot, names.At(int(i)))]
			if !ok || !known || !placed {
				continue
			}
			at -= v.clocks[clock].Origin
			row := v.countedWith(k.Base + i)
			for _, g := range gaps {
				at += g
				if g < v.p.Low || g < 0 || v.p.Low < v.p.High && g > v.p.High || v.p.From < v.p.To && (at < v.p.From || at >= v.p.To) {
					continue
				}
				if total++; g >= low {
					list = append(list, chunkGap{row, at, g})
				}
			}
			if len(list) >= 2*limit {
				list, low = longestGaps(list, limit, low)
			}
		}
	})
	if err != nil {
		return err
	}
	if len(list) > limit {
		list, low = longestGaps(list, limit, low)
	}
	out.List = []Column{{Name: "row"}, {Name: "end"}, {Name: "gap"}}
	for i := range out.List {
		out.List[i].Floats = make([]float64, len(list))
	}
	for i, g := range list {
		out.List[0].Floats[i], out.List[1].Floats[i], out.List[2].Floats[i] = float64(g.row), float64(g.end), float64(g.gap)
	}
	out.Facts["n"], out.Facts["total"], out.Facts["low"] = float64(len(list)), float64(total), float64(low)
	return nil
}

// longestGaps keeps at most limit of a list, which is longer, and returns from which
// length on it keeps all. Of gaps of one length it keeps all or none.
func longestGaps(list []chunkGap, limit int, low int64) ([]chunkGap, int64) {
	lengths := make([]int64, len(list))
	for i, g := range list {
		lengths[i] = g.gap
	}
	slices.Sort(lengths)
	low = max(low, lengths[len(lengths)-limit-1]+1)
	return slices.DeleteFunc(list, func(g chunkGap) bool { return g.gap < low }), low
}
