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
	readers int              // goroutines that read
	order   []int            // of the jobs, as they are begun
	lists   bool             // token lists are wanted
	keeper  *keeper          // of token lists; nil: none are kept
	fold    *RemoteFold      // what remote readers fold for; nil: nothing
	idle    func(worker int) // called by each goroutine that reads no more; may be nil

	meter *meter
}

// errEnough ends a job whose further rows are not wanted.
var errEnough = errors.New("all rows have been found")

// read reads the jobs. Each batch, of whatever table, goes to take, with the numbers
// of the goroutine and the job, in the order of the job's rows; it is valid during
// the call, and may have been folded already. All goroutines have ended when read
// returns. The error is the first that occurred.
func (l *Loader) read(ctx context.Context, jobs []job, r *reading, take func(worker, job int, b *trace.Batch, folded bool) error) ([]jobResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.meter = newMeter(ctx, jobs, l.Opt.Progress)
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
				err := l.readJob(ctx, w, &jobs[j], &results[j], r, func(b *trace.Batch, folded bool) error { return take(w, j, b, folded) })
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
func (l *Loader) openJob(ctx context.Context, worker int, j *job, r *reading, opt formats.Options) (formats.Reader, error) {
	if far, err := l.openRemote(ctx, worker, j, r, opt); far != nil || err != nil {
		return far, err
	}
	return j.file.Format.Open(ctx, &metered{j.file.Source, r.meter, j.file}, j.Rng, opt)
}

func (l *Loader) readJob(ctx context.Context, worker int, j *job, out *jobResult, in *reading, take func(b *trace.Batch, folded bool) error) error {
	before, err := j.wait(ctx)
	if err != nil {
		return err
	}
	r, err := l.openJob(ctx, worker, j, in, formats.Options{
		Workers: j.workers, Block: l.Opt.Block, Memory: l.Opt.Memory / 2, Scratch: l.Opt.Scratch, Now: l.Opt.Now, Lists: in.lists,
		Year: given(l.Opt.Years, j.file.Label), TZ: given(l.Opt.Zones, j.file.Label), After: before, More: j.more,
		Map: l.Opt.Map,
	})
	if err != nil {
		return dataset.Named(j.file, err)
	}
	defer r.Close()
	defer j.end(r)
	var rows int64
	doubts := new(diag.Log)
	for r.Next() {
		if l.Set.Yield(); ctx.Err() != nil {
			break
		}
		rows += int64(r.Batch().Rows)
		noteAbsurd(doubts, r.Batch())
		if r.Batch().Table == trace.Requests {
			noteOverCached(doubts, r.Batch())
		}
		if err := take(r.Batch(), r.Folded()); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := r.Err(); err != nil {
		return dataset.Named(j.file, err)
	}
	if l.loaded && source.Rewritten(j.file.Source) {
		return dataset.Changed(j.file)
	}
	doubts.Merge(r.Diags())
	*out = jobResult{r.Runs(), doubts, r.Account(), rows}
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
