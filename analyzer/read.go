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
	for _, f := range s.files {
		if f.format == nil {
			continue
		}
		size := f.source.Size()
		if shape := f.format.Shape; shape != formats.Records && shape != formats.Blocks || f.source.At() == nil || size <= s.cut {
			out = append(out, job{file: f, rng: formats.Whole, workers: 1})
			continue
		}
		for from := int64(0); from < size; from += s.cut {
			to := from + s.cut
			if to >= size {
				to = -1
			}
			out = append(out, job{file: f, rng: formats.Range{From: from, To: to}, workers: 1})
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

// read reads the jobs on the session's workers, who are the crew. Each batch, of
// whatever table, goes to take, with the numbers of the goroutine and the job, in
// the order of the job's rows; it is valid during the call. All goroutines have
// ended when read returns. The error is the first that occurred.
func (s *Session) read(ctx context.Context, jobs []job, lists bool, c *crew, take func(worker, job int, b *trace.Batch) error) ([]part, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	meter := newMeter(ctx, jobs, s.opt.Progress)
	parts := make([]part, len(jobs))
	order := s.chain(jobs)
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range s.opt.Workers {
		wg.Go(func() {
			defer c.help(w)
			for {
				n := int(next.Add(1)) - 1
				if n >= len(jobs) || ctx.Err() != nil {
					return
				}
				j := order[n]
				err := s.readJob(ctx, &jobs[j], &parts[j], meter, lists, func(b *trace.Batch) error { return take(w, j, b) })
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

// openJob opens the reader of a job.
func (s *Session) openJob(ctx context.Context, j *job, m *meter, opt formats.Options) (formats.Reader, error) {
	src := &metered{j.file.source, m, j.file}
	if s.opt.Open != nil {
		if r, err := s.opt.Open(ctx, j.file.format, j.file.source, src, j.rng, opt, m.add); r != nil || err != nil {
			return r, err
		}
	}
	return j.file.format.Open(ctx, src, j.rng, opt)
}

func (s *Session) readJob(ctx context.Context, j *job, out *part, m *meter, lists bool, take func(*trace.Batch) error) error {
	before, err := j.wait(ctx)
	if err != nil {
		return err
	}
	r, err := s.openJob(ctx, j, m, formats.Options{
		Workers: j.workers, Block: s.opt.Block, Memory: s.opt.Memory / 2, Scratch: s.opt.Scratch, Now: s.opt.Now, Lists: lists,
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
	for r.Next() {
		if s.yield(); ctx.Err() != nil {
			break
		}
		rows += int64(r.Batch().Rows)
		noteAbsurd(doubts, r.Batch())
		if r.Batch().Table == trace.Requests {
			noteOverCached(doubts, r.Batch())
		}
		if err := take(r.Batch()); err != nil {
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
		if off, ok := offsets.At(i); ok && d.Count == 0 {
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
