package assemble

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"servescope/analyzer/dataset"
	"servescope/analyzer/join"
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// Steps of an engine bear no request's name: they are joined by time, with the
// requests of their replica on their clock.

// stretch is the time [from, to] of a request or a step.
type stretch struct {
	from, to int64
	replica  string
}

// joinSteps says, for each input and clock, which rows of steps overlap requests
// of the run.
func joinSteps(set *dataset.Set, r *dataset.Run) []report.JoinSteps {
	var out []report.JoinSteps
	requests := make(map[string][]stretch) // by axis
	for _, x := range stepStretches(set, r) {
		of, ok := requests[x.axis]
		if !ok {
			of = requestStretches(set, r, x.axis)
			requests[x.axis] = of
		}
		out = append(out, overlaps(set, &x, of))
	}
	return out
}

// timed is the steps of one input on one clock.
type timed struct {
	file  *dataset.Input
	clock string
	axis  string
	list  []stretch
}

// stepStretches returns the times of the steps of a run by input and clock, in
// order. A step or window without a length begins where the one before it on its
// replica ends.
func stepStretches(set *dataset.Set, r *dataset.Run) (out []timed) {
	for _, b := range dataset.OpenEach(set.Steps) {
		if b.Slot != r.Slot {
			continue
		}
		at, length, names, replicas := b.Cols.Ints(trace.StepT), b.Cols.Ints(trace.StepDuration), dataset.StepClocks(b.Cols), b.Cols.Dicts(trace.StepReplica)
		quantity := b.Cols.Dicts(trace.StepQuantity)
		for i := range b.Cols.Rows {
			t, ok := at.At(i)
			if !ok {
				continue
			}
			k := slices.IndexFunc(out, func(x timed) bool { return x.file == b.File && x.clock == names.At(i) })
			if k < 0 {
				k = len(out)
				c, _ := trace.ParseClock(names.At(i))
				out = append(out, timed{file: b.File, clock: names.At(i), axis: kernel.Axis(c)})
			}
			step := stretch{from: t, to: t, replica: dictAt(replicas, i)}
			if d, ok := length.At(i); ok && d > 0 && (len(quantity.Codes) == 0 || !isMean(quantity, i)) {
				step.from = t - d
			} else if before := lastOf(out[k].list, step.replica); before != nil {
				step.from = min(before.to, t)
			}
			out[k].list = append(out[k].list, step)
		}
	}
	return out
}

func isMean(quantity trace.Dicts, i int) bool {
	code, ok := quantity.At(i)
	return ok && trace.Quantity(code) == trace.Mean
}

// lastOf returns the last stretch of a replica among the few dozen last ones:
// replicas take turns.
func lastOf(list []stretch, replica string) *stretch {
	for i := len(list) - 1; i >= max(0, len(list)-64); i-- {
		if list[i].replica == replica {
			return &list[i]
		}
	}
	return nil
}

func dictAt(c trace.Dicts, i int) string {
	if code, ok := c.At(i); ok {
		return c.Values[code]
	}
	return ""
}

// requestStretches returns the times of the requests of a run on an axis: of each
// the longest that one of its rows tells.
func requestStretches(set *dataset.Set, r *dataset.Run, axis string) (out []stretch) {
	for _, b := range dataset.OpenEach(set.Requests) {
		if b.Slot != r.Slot {
			continue
		}
		starts, names, replicas := request.ArrivalsOf(b.Cols), dataset.ClocksOf(b.Cols), b.Cols.Dicts(trace.Replica)
		last, end := b.Cols.Ints(trace.LastToken), b.Cols.Ints(trace.Finished)
		for i := range b.Cols.Rows {
			if c, ok := trace.ParseClock(names.At(i)); !ok || c.Kind == trace.RequestClock || kernel.Axis(c) != axis || linkedBefore(set, b.Number+int32(i), axis) {
				continue
			}
			from, ok := starts.At(i)
			to, done := end.At(i)
			if !done {
				to, done = last.At(i)
			}
			if ok && done && to >= from {
				out = append(out, stretch{from, to, dictAt(replicas, i)})
			}
		}
	}
	return out
}

// linkedBefore reports whether another row on the axis stands for the request of
// row n: one farther out, or with a smaller number.
func linkedBefore(set *dataset.Set, n int32, axis string) bool {
	if set.Links.Role(n) == join.Repeats {
		return true
	}
	for _, m := range set.Links.Rows(n) {
		if m == n {
			return false
		}
		b, i := set.Links.At(m)
		names := dataset.ClocksOf(b)
		if c, ok := trace.ParseClock(names.At(i)); ok && kernel.Axis(c) == axis {
			return true
		}
	}
	return false
}

// overlaps counts the steps that overlap requests, and the requests that overlap
// steps.
func overlaps(set *dataset.Set, x *timed, requests []stretch) report.JoinSteps {
	out := report.JoinSteps{Input: set.ShortName(x.file), Clock: x.clock, N: int64(len(x.list)), Requests: int64(len(requests))}
	named := replicasOf(x.list, requests)
	out.Within = meeting(x.list, requests, named)
	out.Covered = meeting(requests, x.list, named)
	switch {
	case len(requests) == 0:
		out.Note = "no request has a start and an end on this clock"
	case out.Within == 0:
		out.Note = apart(x.list, requests)
	}
	return out
}

// replicasOf reports whether steps and requests name the same replicas: only then does
// a step belong to the requests of its own replica.
func replicasOf(steps, requests []stretch) bool {
	known := make(map[string]bool)
	for _, r := range requests {
		known[r.replica] = true
	}
	return !known[""] && !slices.ContainsFunc(steps, func(x stretch) bool { return !known[x.replica] })
}

// meeting counts the stretches of list that overlap one of others, of the same
// replica if these are named.
func meeting(list, others []stretch, named bool) (n int64) {
	by := make(map[string][]stretch)
	for _, o := range others {
		if !named {
			o.replica = ""
		}
		by[o.replica] = append(by[o.replica], o)
	}
	for name := range by {
		by[name] = disjoint(by[name])
	}
	for _, x := range list {
		if !named {
			x.replica = ""
		}
		all := by[x.replica]
		if k := sort.Search(len(all), func(k int) bool { return all[k].to >= x.from }); k < len(all) && all[k].from <= x.to {
			n++
		}
	}
	return n
}

// disjoint returns the union of stretches as disjoint ones in order.
func disjoint(list []stretch) (out []stretch) {
	slices.SortFunc(list, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	for _, x := range list {
		if n := len(out); n > 0 && x.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, x.to)
			continue
		}
		out = append(out, x)
	}
	return out
}

// apart says how far steps and requests are from each other. Whole half hours
// look like a zone that was assumed.
func apart(steps, requests []stretch) string {
	a, b := extent(steps), extent(requests)
	d, side := b.from-a.from, "before"
	if d < 0 {
		d, side = -d, "after"
	}
	const half, near, widest = 1800e9, 300e9, 15 * 3600e9
	whole := d
	if d > 60e9 {
		whole = (d + 5e8) / 1e9 * 1e9
	}
	text := fmt.Sprintf("they begin %s %s the requests", unit.FormatDuration(whole), side)
	if rest := (d + near) % half; near < d && d < widest && rest < 2*near {
		zone := (d + near) / half * half / 60e9 // in minutes
		sign := map[string]string{"before": "-", "after": "+"}[side]
		text += fmt.Sprintf(": the logs may be in different time zones; try --tz %s%02d:%02d", sign, zone/60, zone%60)
	}
	return text
}

func extent(list []stretch) stretch {
	x := list[0]
	for _, o := range list[1:] {
		x.from, x.to = min(x.from, o.from), max(x.to, o.to)
	}
	return x
}
