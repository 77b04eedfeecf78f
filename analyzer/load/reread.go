package load

import (
	"context"
	"slices"

	"servescope/analyzer/dataset"
	"servescope/analyzer/trace"
)

// Rereading says how the inputs are read again.
type Rereading struct {
	Table   *trace.Table     // whose batches are wanted
	Ordered bool             // one goroutine reads, in the order of inputs and offsets
	Idle    func(worker int) // called by each goroutine that reads no more; may be nil

	// Wants, if set, reports whether any of the rows [from, to) is wanted, by number;
	// to is -1 for the last. What is not wanted need not be read.
	Wants func(from, to int32) bool
}

// Reread reads the inputs again, with token lists, and calls f with every batch of a
// table; it is valid during the call. worker is the goroutine that calls. An error of
// f ends the reading and is returned. It is an error where an input has changed.
func (l *Loader) Reread(ctx context.Context, how Rereading, f func(worker int, r *Reading) error) error {
	jobs := l.Jobs()
	in := &reading{lists: true, readers: l.readers(jobs), idle: how.Idle}
	if how.Ordered {
		in.readers = 1
		for j := range jobs {
			jobs[j].workers, in.order = l.Opt.Workers, append(in.order, j)
		}
	} else {
		in.order = l.order(jobs)
	}
	wanted := func(j int, from int32) bool {
		to := int32(-1)
		if j+1 < len(jobs) {
			to = l.bases[j+1]
		}
		return how.Wants == nil || how.Wants(from, to)
	}
	if how.Wants != nil {
		in.order = slices.DeleteFunc(in.order, func(j int) bool { return !wanted(j, l.bases[j]) })
	}

	first, enough := make([]int64, len(jobs)), make([]bool, len(jobs))
	_, err := l.read(ctx, jobs, in, func(worker, j int, b *trace.Batch, _ bool) error {
		if b.Table != how.Table {
			return nil
		}
		file := jobs[j].file
		m := file.Metas[b.Run.Key]
		if m == nil {
			return dataset.Changed(file)
		}
		r := &Reading{Origin: dataset.Origin{File: file, Slot: l.Set.Slots.Of(file, b.Run), First: first[j]}, Rows: b, Seen: file.Seen(b, m.View)}
		if how.Table != trace.Requests {
			return f(worker, r)
		}
		r.Number = l.bases[j] + int32(r.First)
		if first[j] += int64(b.Rows); first[j] > l.known[j] {
			return dataset.Changed(file)
		}
		if err := f(worker, r); err != nil {
			return err
		}
		if !wanted(j, r.Number+int32(b.Rows)) {
			enough[j] = true
			return errEnough
		}
		return nil
	})
	if err != nil || how.Table != trace.Requests {
		return err
	}
	for _, j := range in.order {
		if first[j] != l.known[j] && !enough[j] {
			return dataset.Changed(jobs[j].file)
		}
	}
	return nil
}
