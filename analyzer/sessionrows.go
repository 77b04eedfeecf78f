package analyzer

import (
	"context"

	"servescope/analyzer/fold"
	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/analyzer/selection"
	"servescope/analyzer/trace"
	"servescope/analyzer/view"
)

// Rows calls f with the requests that q selects, in the order of inputs and
// offsets; with lists, their token lists are there too. A batch is valid during
// the call; its Run has the label of the report. An error of f ends the walk
// and is returned.
func (s *Session) Rows(ctx context.Context, q *query.Query, lists bool, f func(*trace.Batch) error) error {
	sel, err := s.chooseArrivals(ctx, q, lists)
	if err != nil {
		return err
	}
	var keep []bool
	return fold.Walk(ctx, s.in, sel, lists, func(_, _ int32, b *trace.Batch, group []int32) error {
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

// chooseArrivals reads the inputs, if that has not been done, and returns the selection
// of the requests that arrive in the interval of q, without its groups.
func (s *Session) chooseArrivals(ctx context.Context, q *query.Query, lists bool) (*selection.Selection, error) {
	ungrouped := *q
	ungrouped.By = nil
	return s.choose(ctx, &ungrouped, lists, true)
}

// Table calls f with the rows of a table other than requests, in the order of
// inputs and offsets: no query selects among them. A batch is valid during the
// call; its Run has the label of the report. An error of f ends the walk and is
// returned.
func (s *Session) Table(ctx context.Context, t *trace.Table, f func(*trace.Batch) error) error {
	if !s.in.Loaded() {
		if err := s.in.Load(ctx, false, nil); err != nil {
			return err
		}
	}
	if t == trace.ReportedTable {
		return s.set.Reported(f)
	}
	return s.in.Reread(ctx, load.Rereading{Table: t, Ordered: true}, func(_ int, r *load.Reading) error { return f(r.Seen) })
}

// View returns what a chart shows of the requests of one run that q selects, as Rows
// does: those that arrive in its interval. The first call reads the inputs if Run has
// not; later ones read again only for token lists that are not in memory. Errors are
// those of Rows, and *query.Error for a viewport that makes no sense. See package view
// for kinds and columns.
func (s *Session) View(ctx context.Context, q *query.Query, p view.Viewport) (*view.Columns, error) {
	return s.views.View(ctx, q, p, func() (*selection.Selection, error) { return s.chooseArrivals(ctx, q, true) })
}
