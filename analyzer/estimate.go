package analyzer

import (
	"context"

	"servescope/analyzer/decompose/estimate"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// Estimate adds to the runs of r, a report of q, where the time per output token
// of the requests that arrive in its interval went, as far as stamps of tokens
// tell; see package estimate. Requests that q does not select belong to the
// engine's steps all the same. complete says that the caller knows every request
// of the logged replicas to be in the inputs. It returns the number of chunks of
// tokens that were looked at. Errors are those of Rows.
func (s *Session) Estimate(ctx context.Context, q *query.Query, r *report.Report, complete bool) (chunks int64, err error) {
	sel, err := s.arrivals(ctx, q, true)
	if err != nil {
		return 0, err
	}
	logs := make(map[int32]*stamped)
	for _, run := range s.runs {
		logs[run.slot] = new(stamped)
	}
	err = s.walk(ctx, sel, true, func(slot int32, b *trace.Batch, group []int32) error {
		l := logs[slot]
		l.Add(b)
		for i := range b.Rows {
			l.selected = append(l.selected, group == nil || group[i] >= 0)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for _, rows := range s.steps {
		logs[rows.slot].AddSteps(rows.batch)
	}
	for i, run := range s.runs {
		l := logs[run.slot]
		if len(l.selected) == 0 {
			continue
		}
		result := l.Estimate(complete)
		chunks += result.Chunks
		sum := result.Summary(func(row int64) bool { return l.selected[row] })
		d := result.Decomposition(sum)
		d.Gaps = s.gaps(run.slot, sum.Long.Top)
		r.Runs[i].Decompositions = append(r.Runs[i].Decompositions, d)
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
	}
	return chunks, nil
}

// stamped is the rows of one run.
type stamped struct {
	estimate.Log
	selected []bool
}

// gaps names the requests of gaps, whose rows are numbered within a run.
func (s *Session) gaps(slot int32, top []estimate.Gap) (out []report.Gap) {
	for _, g := range top {
		gap := report.Gap{At: report.KnownInt(g.At, unit.Nanosecond), Duration: g.Length}
		row := g.Row
		for _, r := range s.rows {
			if r.slot != slot {
				continue
			}
			if n := int64(r.batch.Rows); row >= n {
				row -= n
				continue
			}
			if id, ok := r.batch.Texts(trace.RequestID).At(int(row)); ok {
				gap.Request = string(id)
			}
			break
		}
		out = append(out, gap)
	}
	return out
}
