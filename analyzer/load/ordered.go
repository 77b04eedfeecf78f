package load

import (
	"cmp"
	"context"
	"slices"

	"servescope/formats"
)

// ordered is one of the jobs of a run that are read one after the other, because each
// job continues where the previous job has stopped.
type ordered struct {
	before *job          // nil: it is the first
	more   bool          // another one follows
	done   chan struct{} // closed when the job has been read
	reader formats.Reader
}

// inOrder links the jobs of inputs that have the same label and a format whose
// sources follow each other in time, and returns the order in which jobs are begun:
// a job is never begun before the one that it waits for.
func inOrder(jobs []job) []int {
	order := make([]int, len(jobs))
	groups := make(map[[2]string][]int)
	var keys [][2]string
	for i := range jobs {
		order[i] = i
		f := jobs[i].file
		if f.Label == "" || f.Format.Begins == nil {
			continue
		}
		key := [2]string{f.Label, f.Format.Name}
		if groups[key] == nil {
			keys = append(keys, key)
		}
		groups[key] = append(groups[key], i)
	}
	for _, key := range keys {
		places := groups[key]
		sorted := slices.Clone(places)
		start := make(map[int]int64, len(places))
		for _, i := range places {
			start[i], _ = jobs[i].file.Format.Begins(jobs[i].file.Source)
		}
		slices.SortStableFunc(sorted, func(a, b int) int { return cmp.Compare(start[a], start[b]) })
		for n, i := range sorted {
			order[places[n]] = i
			jobs[i].done = make(chan struct{})
			if jobs[i].more = n+1 < len(sorted); n > 0 {
				jobs[i].before = &jobs[sorted[n-1]]
			}
		}
	}
	return order
}

// wait waits for the previous job and returns its reader, or nil for the first job.
func (o *ordered) wait(ctx context.Context) (formats.Reader, error) {
	if o.before == nil {
		return nil, nil
	}
	select {
	case <-o.before.done:
		return o.before.reader, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// end lets the job behind begin.
func (o *ordered) end(r formats.Reader) {
	if o.done != nil {
		o.reader = r
		close(o.done)
	}
}
