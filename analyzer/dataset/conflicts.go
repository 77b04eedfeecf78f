package dataset

import (
	"fmt"
	"strings"

	"servescope/analyzer/decompose"
	"servescope/analyzer/diag"
	"servescope/analyzer/join"
	"servescope/analyzer/trace"
)

// checkConflicts says of every run of how many requests two sources state different
// times of one stage. Sources are never averaged.
func checkConflicts(s *Set) {
	type found struct {
		n      int64
		stages decompose.Set
		at     diag.Diag
	}
	bySlot := make(map[int32]*found)
	columns := make(map[*trace.Batch]*decompose.Columns)
	var rows []decompose.Row
	add := func(b *trace.Batch, i int, side trace.Side) {
		if columns[b] == nil {
			columns[b] = decompose.ColumnsOf(b)
		}
		rows = append(rows, decompose.Row{})
		r := &rows[len(rows)-1]
		columns[b].Row(i, r)
		r.Side = side
	}
	for _, r := range OpenEach(s.Requests) {
		clear(columns) // batches may be opened for one turn
		alone := statesStages(r.Cols)
		for i := range r.Cols.Rows {
			n := r.Number + int32(i)
			rows = rows[:0]
			linked := linkedOnce(s, n)
			switch {
			case len(linked) > 1 && linked[0] == n:
				for _, m := range linked {
					b, k := s.Links.At(m)
					add(b, k, s.Links.Side(m))
				}
			case len(linked) <= 1 && alone:
				side := r.Cols.Run.Side
				if code, ok := r.Cols.Dicts(trace.SideCol).At(i); ok {
					side = trace.Side(code)
				}
				add(r.Cols, i, side)
			default:
				continue
			}
			if stages := decompose.Differ(rows); stages != 0 {
				f := bySlot[r.Slot]
				if f == nil {
					off, _ := r.Cols.Ints(trace.Offset).At(i)
					f = &found{at: diag.Diag{Code: "sources_differ", Severity: diag.Notice, File: r.Cols.File, Offset: off}}
					bySlot[r.Slot] = f
				}
				f.n, f.stages = f.n+1, f.stages|stages
			}
		}
	}
	for _, run := range s.Runs {
		if f := bySlot[run.Slot]; f != nil {
			f.at.Count = f.n
			f.at.Msg = fmt.Sprintf("two sources of a request state different times of %s, by more than the steps of both: stamps of the engine count before spans, these before fields of a log", strings.Join(f.stages.Names(), ", "))
			s.Diags.Add(f.at)
		}
	}
}

// linkedOnce returns the rows that are linked to row n as one sequence of a
// request each: nothing where two of a source are choices of it.
func linkedOnce(s *Set, n int32) []int32 {
	if s.Links == nil {
		return nil
	}
	list := s.Links.Rows(n)
	for _, m := range list {
		if _, _, several := s.Links.Sequence(m); several || s.Links.Side(m) >= trace.Prefill && s.Links.Role(m) != join.Repeats {
			return nil
		}
	}
	return list
}

// statesStages reports whether rows of b may have both stamps and durations of
// stages.
func statesStages(b *trace.Batch) bool {
	stamps, own := 0, false
	for _, c := range [...]trace.Col{trace.Received, trace.Dispatched, trace.Queued, trace.Admitted, trace.PrefillEnd, trace.FirstToken} {
		if b.Has(c) {
			stamps++
		}
	}
	for l := range trace.Leaves {
		own = own || b.Has(trace.DProxy+trace.Col(l))
	}
	return own && stamps > 1
}
