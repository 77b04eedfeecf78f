package analyzer

import (
	"context"
	"slices"

	"servescope/analyzer/diag"
	"servescope/analyzer/kernel"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
)

// steady returns the figures of the steady window of each run that has one, by
// slot, to stand beside those of the whole: of a query about the whole time, for an
// interval is not made longer. Where the token lists are not resident the inputs
// are not read again for them: rates of tokens need --trim steady then.
func (s *Session) steady(ctx context.Context, q *query.Query, e *engine, facts *kernel.Facts) (map[int32]*report.Cell, error) {
	if q.From != nil || q.To != nil || q.Trim.Steady || !slices.ContainsFunc(facts.Runs, func(f kernel.RunFacts) bool { return f.HasSteady }) {
		return nil, nil
	}
	inside, near := *q, *e
	inside.Trim, inside.By, inside.Window = query.Trim{Steady: true}, nil, 0
	if !s.lists {
		near.kernels = slices.DeleteFunc(slices.Clone(e.kernels), kernel.Kernel.Lists)
	}
	out, _, err := s.answer(ctx, &inside, &near, facts, new(diag.Log), false)
	if err != nil {
		return nil, err
	}
	cells := make(map[int32]*report.Cell)
	for slot, run := range out.runs {
		if int(slot) < len(facts.Runs) && facts.Runs[slot].HasSteady {
			cells[slot] = &run.Cell
			if !s.lists {
				e.complete(cells[slot], "not_resident")
			}
		}
	}
	return cells, nil
}
