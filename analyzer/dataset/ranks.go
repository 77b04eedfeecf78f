package dataset

import (
	"fmt"
	"slices"
	"strconv"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
)

// traced describes the trace of one rank of a deployment.
type traced struct {
	run   *Run
	rank  int64
	world int64
	from  int64 // of its steps
	to    int64
}

// uniteRanks makes one run of the traces of several ranks of one deployment: files
// without a label, each of steps of one rank alone, of as many ranks, of one
// engine and version, that overlap in time.
func uniteRanks(s *Set) {
	var found [][]traced
	for _, t := range tracedRuns(s) {
		at := slices.IndexFunc(found, func(group []traced) bool {
			return !slices.ContainsFunc(group, func(o traced) bool { return !t.with(&o) })
		})
		if at < 0 {
			found = append(found, []traced{t})
			continue
		}
		found[at] = append(found[at], t)
	}
	for _, group := range found {
		if len(group) > 1 {
			unite(s, group)
		}
	}
}

// with reports whether two traces come from ranks of one deployment.
func (t *traced) with(o *traced) bool {
	a, b := t.run.Members[0], o.run.Members[0]
	return t.rank != o.rank && t.world == o.world && t.from <= o.to && o.from <= t.to &&
		a.Format == b.Format && a.Engine == b.Engine && a.Version == b.Version && a.Model == b.Model
}

// tracedRuns lists the runs that are the trace of one rank of several, in order.
func tracedRuns(s *Set) []traced {
	steps := make(map[int32][]*Batch)
	for _, r := range s.Steps {
		steps[r.Slot] = append(steps[r.Slot], r)
	}
	requests := make(map[int32]bool)
	for _, r := range s.Requests {
		requests[r.Slot] = true
	}
	var list []traced
	for _, r := range s.Runs {
		if len(r.Members) != 1 || r.Members[0].Clock.Kind != trace.Wall || requests[r.Slot] {
			continue
		}
		if t, ok := tracedRank(steps[r.Slot]); ok {
			t.run, t.world = r, setting(r.Members[0], "world_size")
			if t.world > 1 {
				list = append(list, t)
			}
		}
	}
	return list
}

// tracedRank returns the rank to which all steps belong, and the span of the steps.
func tracedRank(steps []*Batch) (t traced, ok bool) {
	for _, r := range OpenEach(steps) {
		ranks, at := r.Cols.Ints(trace.StepRank), r.Cols.Ints(trace.StepT)
		for i := range r.Cols.Rows {
			rank, known := ranks.At(i)
			end, timed := at.At(i)
			if !known || !timed || ok && rank != t.rank || r.File.Label != "" {
				return t, false
			}
			if !ok {
				t.from, t.to = end, end
			}
			t.rank, t.from, t.to, ok = rank, min(t.from, end), max(t.to, end), true
		}
	}
	return t, ok
}

// setting returns a whole number among the settings of a run, or 0.
func setting(m *trace.RunMeta, key string) int64 {
	for _, p := range m.Config {
		if p.Key == key {
			n, _ := strconv.ParseInt(p.Value, 10, 64)
			return n
		}
	}
	return 0
}

// unite makes one run of a group, in place of its first.
func unite(s *Set, group []traced) {
	first := group[0].run
	slot := map[int32]int32{}
	for _, t := range group[1:] {
		slot[t.run.Slot] = first.Slot
		first.Members = append(first.Members, t.run.Members...)
		s.Runs = slices.DeleteFunc(s.Runs, func(r *Run) bool { return r == t.run })
	}
	for _, r := range slices.Concat(s.Steps, s.Collectives) {
		if to, ok := slot[r.Slot]; ok {
			r.Slot = to
		}
	}
	first.Label = fmt.Sprintf("%s+%d", first.Label, len(group)-1)
	first.Ranks = len(group)
	for _, m := range first.Members {
		m.Label = first.Label
	}
}

// dropped says that transfer and waiting are not told apart for want of memory.
var linksDropped = diag.Diag{Code: "collectives_dropped", Severity: diag.Notice, Offset: -1, Count: 1,
	Msg: "the communication kernels do not fit in memory: transfer and waiting for the slowest rank are not separated",
	Fix: "raise --memory, or analyze fewer steps"}
