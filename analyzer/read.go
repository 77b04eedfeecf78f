package analyzer

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
)

// job is a part of an input that one reader reads.
type job struct {
	file    *file
	rng     formats.Range
	workers int // goroutines that the reader itself may use
	chain
}

// part is what the reader of one job knows at its end.
type part struct {
	runs    []*trace.RunMeta
	diags   *diag.Log
	account formats.Account
	read    int64 // rows of any table, and figures that the producer computed
}

// largeSource is the size from which a source that only its reader can cut gets
// all workers, however many inputs there are.
const largeSource = 32 << 20

// jobs cuts the inputs into jobs, in order of input and offset.
func (s *Session) jobs() []job {
	var out []job
	left := s.bytes()
	for _, f := range s.files {
		if f.format == nil {
			continue
		}
		size := f.source.Size()
		if shape := f.format.Shape; shape != formats.Records && shape != formats.Blocks || f.source.At() == nil || size <= s.undivided() {
			out = append(out, job{file: f, rng: formats.Whole, workers: 1})
			left -= max(size, 0)
			continue
		}
		for from := int64(0); from < size; {
			n := min(s.step(left), size-from)
			rng := formats.Range{From: from, To: from + n}
			if from, left = rng.To, left-n; from == size {
				rng.To = -1
			}
			out = append(out, job{file: f, rng: rng, workers: 1})
		}
	}
	for i := range out {
		if size := out[i].file.source.Size(); out[i].rng == formats.Whole && (size < 0 || size > largeSource) {
			out[i].workers = s.opt.Workers
		} else {
			out[i].workers = max(1, s.opt.Workers/len(out))
		}
	}
	return out
}

// undivided is the length up to which an input is read in one go.
func (s *Session) undivided() int64 {
	if s.opt.Elsewhere == nil {
		return s.cut
	}
	return s.cut / 4
}

// step returns the length of the next range where so many bytes are left. Those who
// read in other places take several ranges at a time, so that the last ones are short:
// nobody waits long for others.
func (s *Session) step(left int64) int64 {
	if s.opt.Elsewhere == nil {
		return s.cut
	}
	return min(s.cut, max(left/int64(2*s.places()), s.cut/64, 1))
}

// reading is one reading of the inputs.
type reading struct {
	meter  *meter
	lists  bool    // token lists are wanted
	fold   *Fold   // what folds requests elsewhere; nil: nothing does
	keeper *keeper // of their lists; nil: none are kept
}

// read reads the jobs on the session's readers, who are the crew. Each batch, of
// whatever table, goes to take, with the numbers of the goroutine and the job, in
// the order of the job's rows; it is valid during the call, and may have been folded
// already. All goroutines have ended when read returns. The error is the first that
// occurred.
func (s *Session) read(ctx context.Context, jobs []job, r *reading, c *crew, take func(worker, job int, b *trace.Batch, folded bool) error) ([]part, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.meter = newMeter(ctx, jobs, s.opt.Progress)
	if r.keeper != nil {
		r.keeper.read = r.meter.read
	}
	parts := make([]part, len(jobs))
	order := s.chain(jobs)
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range c.size {
		wg.Go(func() {
			defer c.help(w)
			for {
				n := int(next.Add(1)) - 1
				if n >= len(jobs) || ctx.Err() != nil {
					return
				}
				j := order[n]
				err := s.readJob(ctx, w, &jobs[j], &parts[j], r, func(b *trace.Batch, folded bool) error { return take(w, j, b, folded) })
				if err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return parts, context.Cause(ctx)
}

// openJob opens the reader of a job for a goroutine.
func (s *Session) openJob(ctx context.Context, worker int, j *job, r *reading, opt formats.Options) (formats.Reader, error) {
	if far, err := s.openElsewhere(ctx, worker, j, r, opt); far != nil || err != nil {
		return far, err
	}
	return j.file.format.Open(ctx, &metered{j.file.source, r.meter, j.file}, j.rng, opt)
}

func (s *Session) readJob(ctx context.Context, worker int, j *job, out *part, in *reading, take func(b *trace.Batch, folded bool) error) error {
	before, err := j.wait(ctx)
	if err != nil {
		return err
	}
	r, err := s.openJob(ctx, worker, j, in, formats.Options{
		Workers: j.workers, Block: s.opt.Block, Memory: s.opt.Memory / 2, Scratch: s.opt.Scratch, Now: s.opt.Now, Lists: in.lists,
		Year: given(s.opt.Years, j.file.label), TZ: given(s.opt.Zones, j.file.label), After: before, More: j.more,
		Map: s.opt.Map,
	})
	if err != nil {
		return named(j.file, err)
	}
	defer r.Close()
	defer j.end(r)
	var rows int64
	doubts := new(diag.Log)
	far, _ := r.(interface{ Folded() bool })
	for r.Next() {
		if s.yield(); ctx.Err() != nil {
			break
		}
		rows += int64(r.Batch().Rows)
		noteAbsurd(doubts, r.Batch())
		if r.Batch().Table == trace.Requests {
			noteOverCached(doubts, r.Batch())
		}
		if err := take(r.Batch(), far != nil && far.Folded()); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := r.Err(); err != nil {
		return named(j.file, err)
	}
	if s.loaded && formats.Rewritten(j.file.source) {
		return changed(j.file)
	}
	doubts.Merge(r.Diags())
	*out = part{r.Runs(), doubts, r.Account(), rows}
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

// noteAbsurd records the token counts of a batch that were not believed.
func noteAbsurd(log *diag.Log, b *trace.Batch) {
	if b.Absurd.Count > 0 {
		log.Add(diag.Diag{
			Code: "absurd_count", Severity: diag.DataLoss, File: b.File, Offset: b.Absurd.Offset, Count: b.Absurd.Count,
			Msg: "a number of tokens is negative or beyond 10^10: it counts as unknown",
			Fix: "leave out what is not known, or write null",
		})
	}
}

// noteOverCached records the requests of a batch with more cached tokens than
// their prompt has.
func noteOverCached(log *diag.Log, b *trace.Batch) {
	if !b.Has(trace.CachedTokens) || !b.Has(trace.PromptTokens) {
		return
	}
	cached, prompts, offsets := b.Ints(trace.CachedTokens), b.Ints(trace.PromptTokens), b.Ints(trace.Offset)
	d := diag.Diag{
		Code: "cached_over_prompt", Severity: diag.DataLoss, File: b.File, Offset: -1,
		Msg: "more tokens of the prompt are cached than it has: the request's cached tokens count as unknown",
		Fix: "write the tokens of the prompt that were found in the cache, not those that the cache holds",
	}
	for i := range b.Rows {
		k, ok := cached.At(i)
		n, known := prompts.At(i)
		if !ok || !known || k <= n {
			continue
		}
		if off, ok := offsets.At(i); ok && (d.Count == 0 || off < d.Offset) {
			d.Offset = off
		}
		d.Count++
	}
	if d.Count > 0 {
		log.Add(d)
	}
}

// named puts the name of the input before an error that lacks it.
func named(f *file, err error) error {
	if strings.Contains(err.Error(), f.source.Name()) {
		return err
	}
	return fmt.Errorf("%s: %w", f.source.Name(), err)
}
