package analyzer

import (
	"context"

	"servescope/analyzer/assemble"
	"servescope/analyzer/diag"
	"servescope/analyzer/fold"
	"servescope/analyzer/kernel"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/selection"
)

// Run answers q. The first call reads the inputs; later ones read again only
// for token data that did not fit the memory. It is cancelled by ctx, and its
// errors are those of the query, of reading, and of ctx.
func (s *Session) Run(ctx context.Context, q *query.Query) (*report.Report, error) {
	e, err := assemble.FiguresOf(q.Definition)
	if err != nil {
		return nil, err
	}
	return s.run(ctx, q, e)
}

// Define computes the metrics of q's requests under the default definition set
// and under those of the given names, and says how they came about and why they
// differ. The definition, the groups and the windows of q are not used.
func (s *Session) Define(ctx context.Context, q *query.Query, names []string) (*report.Definitions, error) {
	return assemble.Define(s.set, q, names, func(q *query.Query, e *assemble.Figures) (*report.Report, error) { return s.run(ctx, q, e) })
}

// Estimate adds to the runs of r, a report of q, and to their groups and windows,
// where the time per output token went, as far as stamps of tokens tell; see
// package estimate. A request is in an interval and a window, as with tpot, if it
// ends there. Requests that q does not select belong to the engine's steps all the
// same. complete says that the caller knows every request of the logged replicas
// to be in the inputs. It returns the number of chunks of tokens that were looked
// at. Errors are those of Rows.
func (s *Session) Estimate(ctx context.Context, q *query.Query, r *report.Report, complete bool) (chunks int64, err error) {
	sel, err := s.choose(ctx, q, true, false)
	if err != nil {
		return 0, err
	}
	return assemble.Estimate(ctx, s.in, sel, r, complete)
}

// run answers q by the figures of e.
func (s *Session) run(ctx context.Context, q *query.Query, e *assemble.Figures) (*report.Report, error) {
	if err := assemble.CheckQuery(q); err != nil {
		return nil, err
	}
	answer := func(q *query.Query, e *assemble.Figures, facts *kernel.Facts) (*assemble.Cells, *kernel.Facts, error) {
		return s.answer(ctx, q, e, facts, new(diag.Log), nil)
	}
	var of assemble.Results

	// the whole without the trim: it knows the steady windows, and stands beside the rest
	facts := new(kernel.Facts)
	if q.Trim != (query.Trim{}) {
		var err error
		if of.Untrimmed, facts, err = answer(untrimmed(q), e, facts); err != nil {
			return nil, err
		}
	}

	// the query itself
	log := new(diag.Log)
	var learned *kernel.Facts
	var err error
	if of.Cells, learned, err = s.answer(ctx, q, e, facts, log, s.tell); err != nil {
		return nil, err
	}
	if of.Untrimmed == nil {
		facts = learned
	}

	// what stands beside it
	if of.Steady, err = assemble.Steady(s.set, q, e, facts, answer); err != nil {
		return nil, err
	}
	if s.audits == nil {
		if s.audits, err = assemble.Audit(s.set, answer); err != nil {
			return nil, err
		}
	}
	of.Audit = s.audits
	r := assemble.Report(s.set, q, e, of, log)
	if err := s.set.Store.Failed(); err != nil {
		return nil, err
	}
	log.Merge(&s.set.Diags)
	log.Merge(s.in.ArchiveFaults())
	for _, f := range s.set.Inputs {
		log.Merge(f.Diags)
	}
	r.Diags = s.lines.Locate(log)
	return r, nil
}

// untrimmed returns q without its trim, and without the groups and windows that
// nothing beside the trimmed figures has.
func untrimmed(q *query.Query) *query.Query {
	whole := *q
	whole.Trim, whole.By, whole.Window = query.Trim{}, nil, 0
	return &whole
}

// answer reads the inputs if that has not been done, selects rows, runs the kernels
// over them and returns their results and what the kernels learned. facts holds the
// steady windows that a steady trim needs. tell, if not nil, may take interim reports.
func (s *Session) answer(ctx context.Context, q *query.Query, e *assemble.Figures, facts *kernel.Facts, log *diag.Log, tell assemble.PartialFunc) (*assemble.Cells, *kernel.Facts, error) {
	defer s.fold.Release()
	first, err := s.read(ctx, q, e, tell)
	if err != nil {
		return nil, nil, err
	}
	sel := selection.Of(s.set, q, e.Metric, facts, false)
	states, learned, err := s.fold.Run(ctx, sel, e.Kernels, first, assemble.Interim(sel, e, tell))
	if err != nil {
		return nil, nil, err
	}
	out := assemble.CellsOf(sel, states, fold.Steps(sel, learned), learned, log)
	return out, learned, s.fold.Failed()
}

// read reads the inputs, if that has not been done. Where q keeps every request its
// kernels fold them on the way: read returns their states, else nil.
func (s *Session) read(ctx context.Context, q *query.Query, e *assemble.Figures, tell assemble.PartialFunc) ([]kernel.State, error) {
	if s.in.Loaded() {
		return nil, nil
	}
	if !selection.Plain(q) || s.set.Joined {
		return nil, s.in.Load(ctx, true, nil)
	}
	first := s.fold.First(q, e.Kernels, assemble.FirstInterim(s.set, q, e, tell, s.in.RemoteReaders()))
	if err := s.in.Load(ctx, true, first); err != nil {
		first.Drop()
		return nil, err
	}
	states, err := first.States()
	if s.set.Multi != nil || s.set.Ends != nil || s.set.Links != nil {
		states = nil // the kernels did not know of these
	}
	return states, err
}

// choose reads the inputs, if that has not been done, and returns the selection
// of q; with sent, of the requests that arrive in its interval.
func (s *Session) choose(ctx context.Context, q *query.Query, lists, sent bool) (*selection.Selection, error) {
	e, err := assemble.FiguresOf(q.Definition)
	if err != nil {
		return nil, err
	}
	if err := assemble.CheckQuery(q); err != nil {
		return nil, err
	}
	facts := new(kernel.Facts)
	if q.Trim.Steady {
		if _, facts, err = s.answer(ctx, untrimmed(q), e, facts, new(diag.Log), nil); err != nil {
			return nil, err
		}
	}
	if !s.in.Loaded() {
		if err := s.in.Load(ctx, lists, nil); err != nil {
			return nil, err
		}
	}
	return selection.Of(s.set, q, e.Metric, facts, sent), nil
}
