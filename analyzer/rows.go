package analyzer

import (
	"context"
	"maps"
	"slices"

	"servescope/analyzer/diag"
	"servescope/analyzer/kernel"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
)

// Rows calls f with the requests that q selects, in the order of inputs and
// offsets; with lists, their token lists are there too. A batch is valid during
// the call; its Run has the label of the report. An error of f ends the walk
// and is returned.
func (s *Session) Rows(ctx context.Context, q *query.Query, lists bool, f func(*trace.Batch) error) error {
	sel, err := s.arrivals(ctx, q, lists)
	if err != nil {
		return err
	}
	var keep []bool
	return s.walk(ctx, sel, lists, func(_, _ int32, b *trace.Batch, group []int32) error {
		if group != nil {
			keep = keep[:0]
			for _, g := range group {
				keep = append(keep, g >= 0)
			}
			b = b.Select(keep)
		}
		if b.Rows == 0 {
			return nil
		}
		return f(b)
	})
}

// arrivals reads the inputs, if that has not been done, and returns the selection
// of the requests that arrive in the interval of q, without its groups.
func (s *Session) arrivals(ctx context.Context, q *query.Query, lists bool) (*selection, error) {
	ungrouped := *q
	ungrouped.By = nil
	return s.chosen(ctx, &ungrouped, lists, true)
}

// chosen reads the inputs, if that has not been done, and returns the selection
// of q; with sent, of the requests that arrive in its interval.
func (s *Session) chosen(ctx context.Context, q *query.Query, lists, sent bool) (*selection, error) {
	e, err := engineFor(q.Definition)
	if err != nil {
		return nil, err
	}
	if err := checkQuery(q); err != nil {
		return nil, err
	}
	facts := new(kernel.Facts)
	if q.Trim.Steady {
		whole := *q
		whole.Trim, whole.By, whole.Window = query.Trim{}, nil, 0
		if _, facts, err = s.answer(ctx, &whole, e, facts, new(diag.Log), false); err != nil {
			return nil, err
		}
	}
	if !s.loaded {
		if _, err := s.load(ctx, lists, nil); err != nil {
			return nil, err
		}
	}
	return s.choose(q, e.metric, facts, sent), nil
}

// walk calls f with all requests in the order of inputs and offsets: the slot of
// their run, the number of the first, a batch that is valid during the call, and
// the group of each row, -1 for those that sel removes; nil where it keeps all.
func (s *Session) walk(ctx context.Context, sel *selection, lists bool, f func(slot, base int32, b *trace.Batch, group []int32) error) error {
	if lists && !s.lists {
		return s.walkInputs(ctx, sel, f)
	}
	var u unpacker
	for i, r := range open(s.rows) {
		s.yield()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b := r.batch
		if lists {
			b = u.batch(r)
		}
		if err := f(r.slot, r.number, s.linked(b, r.number), sel.of(i)); err != nil {
			return err
		}
	}
	return s.store.failed()
}

// walkInputs reads the inputs again, one after the other, for their lists.
func (s *Session) walkInputs(ctx context.Context, sel *selection, f func(slot, base int32, b *trace.Batch, group []int32) error) error {
	jobs := s.jobs()
	in := &reading{meter: newMeter(ctx, jobs, s.opt.Progress), lists: true}
	var c chooser
	for i := range jobs {
		jobs[i].workers = s.opt.Workers
		var first int64
		var end part
		err := s.readJob(ctx, 0, &jobs[i], &end, in, func(b *trace.Batch, _ bool) error {
			if b.Table != trace.Requests {
				return nil
			}
			file := jobs[i].file
			m := file.metas[b.Run.Key]
			if m == nil {
				return changed(file)
			}
			own, slot := file.seen(b, m.view), s.slots.of(file, b.Run)
			var group []int32
			base := s.bases[i] + int32(first)
			if first+int64(b.Rows) > s.known[i] {
				return changed(file)
			}
			switch {
			case sel.rows == nil:
			case s.together():
				group = s.groupsOf(sel, base, b.Rows)
			default:
				group = c.again(sel, own, place{file, slot, first})
			}
			first += int64(b.Rows)
			return f(slot, base, s.linked(own, base), group)
		})
		if err == nil && first != s.known[i] {
			err = changed(jobs[i].file)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Table calls f with the rows of a table other than requests, in the order of
// inputs and offsets: no query selects among them. A batch is valid during the
// call; its Run has the label of the report. An error of f ends the walk and is
// returned.
func (s *Session) Table(ctx context.Context, t *trace.Table, f func(*trace.Batch) error) error {
	if !s.loaded {
		if _, err := s.load(ctx, false, nil); err != nil {
			return err
		}
	}
	if t == trace.ReportedTable {
		return s.reported(f)
	}
	jobs := s.jobs()
	in := &reading{meter: newMeter(ctx, jobs, s.opt.Progress), lists: true}
	for i := range jobs {
		jobs[i].workers = s.opt.Workers
		var end part
		err := s.readJob(ctx, 0, &jobs[i], &end, in, func(b *trace.Batch, _ bool) error {
			if b.Table != t {
				return nil
			}
			m := jobs[i].file.metas[b.Run.Key]
			if m == nil {
				return changed(jobs[i].file)
			}
			return f(jobs[i].file.seen(b, m.view))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// reported calls f with the figures that the producers of the runs claim.
func (s *Session) reported(f func(*trace.Batch) error) error {
	for _, file := range s.files {
		for _, key := range slices.Sorted(maps.Keys(file.metas)) {
			if b := file.metas[key].view.ReportedBatch(file.source.Name()); b.Rows > 0 {
				if err := f(b); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
