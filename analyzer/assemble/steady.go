package assemble

import (
	"slices"

	"servescope/analyzer/dataset"
	"servescope/analyzer/kernel"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
)

// Steady returns, by slot, the figures of the steady window of each run that has one, to
// show them beside the figures of the whole run. It answers only queries about the whole
// time, because an interval is never extended. Where the token lists are not resident
// the inputs are not read again: rates of tokens need --trim steady then.
func Steady(set *dataset.Set, q *query.Query, e *Figures, facts *kernel.Facts, answer Answer) (map[int32]*report.Cell, error) {
	if q.From != nil || q.To != nil || q.Trim.Steady || !slices.ContainsFunc(facts.Runs, func(f kernel.RunFacts) bool { return f.HasSteady }) {
		return nil, nil
	}
	inside, near := *q, *e
	inside.Trim, inside.By, inside.Window = query.Trim{Steady: true}, nil, 0
	if !set.Lists {
		near.Kernels = slices.DeleteFunc(slices.Clone(e.Kernels), kernel.Kernel.Lists)
	}
	out, _, err := answer(&inside, &near, facts)
	if err != nil {
		return nil, err
	}
	cells := make(map[int32]*report.Cell)
	for slot, run := range out.runs {
		if int(slot) < len(facts.Runs) && facts.Runs[slot].HasSteady {
			cells[slot] = &run.Cell
			if !set.Lists {
				e.complete(cells[slot], "not_resident")
			}
		}
	}
	return cells, nil
}
