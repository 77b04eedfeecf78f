package view

import (
	"cmp"
	"math"
	"slices"

	"servescope/analyzer/dataset"
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/trace"
)

// maxBuckets bounds a series that names the length of its buckets.
const maxBuckets = 100_000

// showSeries shows the run by equal buckets of time on its first clock: how many
// showRequests arrive, end and end badly in each; the mean and the greatest number
// between arrival and end, and the mean between queueing and admission where both
// are stamped; prompt tokens of those that arrive; and with TokenTimes the output
// tokens emitted in it. Requests without a stamp are counted as unplaced, those
// with an arrival and no end as open: they are in no number of running ones.
func showSeries(v *viewer, out *Columns) error {
	arrival, err := v.column("arrival")
	if err != nil {
		return err
	}
	end, err := v.column("end")
	if err != nil {
		return err
	}
	clock, err := v.column("clock")
	if err != nil {
		return err
	}
	b := bucketsOf(v, arrival.Floats, end.Floats, clock.Floats)
	out.Facts["bucket"], out.Facts["n"] = float64(b.length), float64(b.n)
	x := newSeries(b)
	for _, fill := range []func(*viewer, *seriesColumns) error{fillSeries, fillWaiting, fillTokens} {
		if err := fill(v, x); err != nil {
			return err
		}
	}
	out.List = x.list(b)
	out.Facts["unplaced"], out.Facts["open"] = x.unplaced, x.open
	if v.p.TokenTimes {
		out.Facts["tokens_spread"], out.Facts["tokens_unplaced"] = x.spread, x.unplacedTokens
	}
	return nil
}

// bucketsOf are equal parts of the time, from from on.
type buckets struct {
	from, length int64
	n            int
}

func (b buckets) at(t int64) (int, bool) {
	if t < b.from {
		return 0, false
	}
	i := (t - b.from) / b.length
	return int(i), i < int64(b.n)
}

// bucketsOf chooses the buckets of a series: the buckets of the viewport, or else buckets
// over all stamps.
func bucketsOf(v *viewer, arrival, end, clock []float64) buckets {
	from, to := v.p.From, v.p.To
	if from >= to {
		low, high := math.Inf(1), math.Inf(-1)
		for i := range arrival {
			if clock[i] != 0 {
				continue
			}
			for _, t := range [...]float64{arrival[i], end[i]} {
				if isNumber(t) {
					low, high = min(low, t), max(high, t)
				}
			}
		}
		if low > high {
			low, high = 0, 0
		}
		from, to = int64(low), int64(high)+1
	}
	length := v.p.Bucket
	if length <= 0 {
		n := int64(min(cmp.Or(max(v.p.XBins, 0), 300), maxBuckets))
		length = max((to-from+n-1)/n, 1)
	}
	length = max(length, (to-from+maxBuckets-1)/maxBuckets)
	return buckets{from, length, int((to - from + length - 1) / length)}
}

// seriesColumns are the columns of a series. Sums are whole numbers, which
// float64 holds exactly below 2^53.
type seriesColumns struct {
	buckets
	arrivals, ends, failures []float64
	running, waiting         []float64 // ns of requests
	most                     []float64
	prompt, output           []float64
	stamped                  bool // some request has both ends of its wait
	prompts, tokens          bool // likewise
	unplaced, open           float64
	spread, unplacedTokens   float64
}

func newSeries(b buckets) *seriesColumns {
	x := &seriesColumns{buckets: b}
	for _, c := range []*[]float64{&x.arrivals, &x.ends, &x.failures, &x.running, &x.waiting, &x.most, &x.prompt, &x.output} {
		*c = make([]float64, b.n)
	}
	return x
}

// cover adds the time from a to b to the buckets that it lies in.
func (x *seriesColumns) cover(to []float64, a, b int64) {
	a, b = max(a, x.from), min(b, x.from+x.length*int64(x.n))
	for a < b {
		i, _ := x.at(a)
		end := min(b, x.from+x.length*int64(i+1))
		to[i] += float64(end - a)
		a = end
	}
}

func fillSeries(v *viewer, x *seriesColumns) error {
	var starts, stops []int64
	err := v.each(false, false, func(k *kernel.View, rows []int32) {
		arrivals, leavings, names := request.ArrivalsOf(k.Batch), request.LeavingsOf(k.Batch), dataset.ClocksOf(k.Batch)
		status, prompt := k.Dicts(trace.StatusCol), k.Ints(trace.PromptTokens)
		for _, row := range rows {
			i := int(row)
			from, ok := arrivals.At(i)
			if !ok || !v.onFirstClock(names.At(i)) {
				x.unplaced++
				continue
			}
			from -= v.clocks[0].Origin
			if at, in := x.at(from); in {
				x.arrivals[at]++
				if n, ok := prompt.At(i); ok {
					x.prompt[at] += float64(n)
					x.prompts = true
				}
			}
			to, ok := leavings.At(i)
			if !ok {
				x.open++
				continue
			}
			to -= v.clocks[0].Origin
			if at, in := x.at(to); in {
				x.ends[at]++
				if code, ok := status.At(i); ok && (trace.Status(code) == trace.Failed || trace.Status(code) == trace.Aborted) {
					x.failures[at]++
				}
			}
			x.cover(x.running, from, to)
			starts, stops = append(starts, from), append(stops, to)
		}
	})
	x.sweep(starts, stops)
	return err
}

// sweep finds the greatest number of requests in each bucket: of [start, stop)
// those that begin at the end of another do not meet it.
func (x *seriesColumns) sweep(starts, stops []int64) {
	slices.Sort(starts)
	slices.Sort(stops)
	i, j := 0, 0
	for b := range x.n {
		begin, end := x.from+x.length*int64(b), x.from+x.length*int64(b+1)
		for ; j < len(stops) && stops[j] <= begin; j++ {
		}
		for ; i < len(starts) && starts[i] <= begin; i++ {
		}
		most := i - j
		for i < len(starts) && starts[i] < end {
			t := starts[i]
			for ; j < len(stops) && stops[j] <= t; j++ {
			}
			for ; i < len(starts) && starts[i] == t; i++ {
			}
			most = max(most, i-j)
		}
		x.most[b] = float64(most)
	}
}

func fillWaiting(v *viewer, x *seriesColumns) error {
	return v.each(false, false, func(k *kernel.View, rows []int32) {
		queued, admitted, names := k.Ints(trace.Queued), k.Ints(trace.Admitted), dataset.ClocksOf(k.Batch)
		for _, row := range rows {
			from, ok := queued.At(int(row))
			to, also := admitted.At(int(row))
			if ok && also && v.onFirstClock(names.At(int(row))) {
				x.stamped = true
				x.cover(x.waiting, from-v.clocks[0].Origin, to-v.clocks[0].Origin)
			}
		}
	})
}

func fillTokens(v *viewer, x *seriesColumns) error {
	if !v.p.TokenTimes || len(v.clocks) == 0 {
		return nil
	}
	return v.each(true, true, func(k *kernel.View, rows []int32) {
		chunks, names, counts := request.ChunksOf(k, metric.Default), dataset.ClocksOf(k.Batch), k.Ints(trace.OutputTokens)
		for _, row := range rows {
			n, spread := int64(0), false
			if v.onFirstClock(names.At(int(row))) {
				n, spread = chunks.Emit(int(row), v.clocks[0].Origin+x.from, x.length, func(start, n int64) bool {
					if at, in := x.at(start - v.clocks[0].Origin); in {
						x.output[at] += float64(n)
					}
					return true
				})
			}
			x.tokens = x.tokens || n > 0
			if spread {
				x.spread += float64(n)
			}
			if all, ok := counts.At(int(row)); ok && all > n {
				x.unplacedTokens += float64(all - n)
			}
		}
	})
}

func (x *seriesColumns) list(b buckets) []Column {
	t := Column{Name: "t"}
	for i := range b.n {
		t.Floats = append(t.Floats, float64(b.from+b.length*int64(i)))
	}
	mean := func(sums []float64) []float64 {
		for i := range sums {
			sums[i] /= float64(b.length)
		}
		return sums
	}
	unless := func(known bool, c []float64) []float64 {
		if known {
			return c
		}
		for i := range c {
			c[i] = math.NaN()
		}
		return c
	}
	return []Column{
		t, {Name: "arrivals", Floats: x.arrivals}, {Name: "ends", Floats: x.ends}, {Name: "failures", Floats: x.failures},
		{Name: "running_mean", Floats: mean(x.running)}, {Name: "running_max", Floats: x.most},
		{Name: "waiting_mean", Floats: unless(x.stamped, mean(x.waiting))},
		{Name: "prompt_tokens", Floats: unless(x.prompts, x.prompt)}, {Name: "output_tokens", Floats: unless(x.tokens, x.output)},
	}
}
