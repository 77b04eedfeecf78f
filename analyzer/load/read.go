package load

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"servescope/analyzer/dataset"
	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

// reading is one reading of the inputs.
type reading struct {
	set     *dataset.Set
	opt     *Options
	again   bool             // the inputs have been read before
	readers int              // goroutines that read
	order   []int            // of the jobs, as they are begun
	lists   bool             // token lists are wanted
	keeper  *keeper          // of token lists; nil: none are kept
	fold    *RemoteFold      // what remote readers fold for; nil: nothing
	idle    func(worker int) // called by each goroutine that reads no more; may be nil

	meter *meter
}

// errEnough ends a job early: no further row is wanted.
var errEnough = errors.New("all rows have been found")

// read reads the jobs. Each batch, of whatever table, goes to take, with the numbers
// of the goroutine and the job, in the order of the job's rows; it is valid during
// the call, and may have been folded already. All goroutines have ended when read
// returns. The error is the first that occurred.
func (r *reading) read(ctx context.Context, jobs []job, take func(worker, job int, b *trace.Batch, folded bool) error) ([]jobResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.meter = newMeter(ctx, jobs, r.opt.Progress)
	if r.keeper != nil {
		r.keeper.read = r.meter.read
	}
	results := make([]jobResult, len(jobs))
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range r.readers {
		wg.Go(func() {
			if r.idle != nil {
				defer r.idle(w)
			}
			for {
				n := int(next.Add(1)) - 1
				if n >= len(r.order) || ctx.Err() != nil {
					return
				}
				j := r.order[n]
				err := r.readJob(ctx, w, &jobs[j], &results[j], func(b *trace.Batch, folded bool) error { return take(w, j, b, folded) })
				if err != nil && !errors.Is(err, errEnough) {
					cancel(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return results, context.Cause(ctx)
}

// openJob opens the reader of a job for a goroutine.
func (r *reading) openJob(ctx context.Context, worker int, j *job, opt formats.Options) (formats.Reader, error) {
	if far, err := r.openRemote(ctx, worker, j, opt); far != nil || err != nil {
		return far, err
	}
	return j.file.Format.Open(ctx, &metered{j.file.Source, r.meter, j.file}, j.rng, opt)
}

func (r *reading) readJob(ctx context.Context, worker int, j *job, out *jobResult, take func(b *trace.Batch, folded bool) error) error {
	before, err := j.wait(ctx)
	if err != nil {
		return err
	}
	from, err := r.openJob(ctx, worker, j, formats.Options{
		Workers: j.workers, Block: r.opt.Block, Memory: r.opt.Memory / 2, Scratch: r.opt.Scratch, Now: r.opt.Now, Lists: r.lists,
		Year: given(r.opt.Years, j.file.Label), TZ: given(r.opt.Zones, j.file.Label), After: before, More: j.more,
		Map: r.opt.Map,
	})
	if err != nil {
		return dataset.NameError(j.file, err)
	}
	defer from.Close()
	defer j.end(from)
	var rows int64
	doubts := new(diag.Log)
	for from.Next() {
		if r.set.Yield(); ctx.Err() != nil {
			break
		}
		rows += int64(from.Batch().Rows)
		noteAbsurd(doubts, from.Batch())
		if from.Batch().Table == trace.Requests {
			noteOverCached(doubts, from.Batch())
		}
		if err := take(from.Batch(), from.Folded()); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := from.Err(); err != nil {
		return dataset.NameError(j.file, err)
	}
	if r.again && source.Rewritten(j.file.Source) {
		return dataset.Changed(j.file)
	}
	doubts.Merge(from.Diags())
	*out = jobResult{from.Runs(), doubts, from.Account(), rows}
	for _, m := range out.runs {
		out.read += int64(len(m.Reported))
	}
	return nil
}

// given returns what the caller has said about inputs with a label, or about all.
func given[T any](byLabel map[string]T, label string) T {
	if v, ok := byLabel[label]; ok {
		return v
	}
	return byLabel[""]
}

// openRemote opens a job for one of the goroutines that serve remote readers. It returns
// nil where the job is to be read here.
func (r *reading) openRemote(ctx context.Context, worker int, j *job, opt formats.Options) (formats.Reader, error) {
	f := j.file
	if worker < r.opt.Workers || opt.TZ != nil || opt.Year != 0 || opt.After != nil || !r.opt.Remote.Takes(f.Format, f.Source) {
		return nil, nil
	}
	p := &RemoteJob{Format: f.Format, Source: f.Source, Range: j.rng, Options: opt, Read: r.meter.add, Fold: r.fold, Label: f.Label}
	if r.fold != nil {
		p.Slot, p.Bare = r.set.Slots.Of(f, new(trace.RunMeta)), !r.keeper.wants()
	}
	return r.opt.Remote.Open(ctx, worker-r.opt.Workers, p)
}
