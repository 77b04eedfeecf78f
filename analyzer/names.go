package analyzer

import (
	"maps"
	"slices"

	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// nameRuns finds which models and engines each run is about: those of its requests,
// and those of its records without any. The rows are opened once for all runs.
func (s *Session) nameRuns() {
	cols := [...]trace.Col{trace.Model, trace.EngineCol}
	bySlot := make(map[int32]*[len(cols)]map[string]bool)
	for _, r := range s.runs {
		sets := new([len(cols)]map[string]bool)
		for k, col := range cols {
			sets[k] = make(map[string]bool)
			for _, m := range r.members {
				if m.NoRequests != "" {
					sets[k][m.Default(col)] = true
				}
			}
		}
		bySlot[r.slot] = sets
	}
	for _, b := range open(s.rows) {
		if sets := bySlot[b.slot]; sets != nil {
			for k, col := range cols {
				namesIn(b.batch, col, sets[k])
			}
		}
	}
	for _, r := range s.runs {
		sets := bySlot[r.slot]
		r.models, r.engines = namesOf(sets[0]), namesOf(sets[1])
	}
}

// namesIn adds the values of a dictionary column that rows of b have.
func namesIn(b *trace.Batch, col trace.Col, set map[string]bool) {
	c := b.Dicts(col)
	used, null := make([]bool, len(c.Values)), false
	for i := range b.Rows {
		if code, ok := c.At(i); ok {
			used[code] = true
		} else {
			null = true
		}
	}
	if null {
		set[b.Run.Default(col)] = true
	}
	for code, name := range c.Values {
		set[name] = set[name] || used[code]
	}
}

// namesOf returns the names in a set that are used, sorted.
func namesOf(set map[string]bool) []string {
	maps.DeleteFunc(set, func(name string, used bool) bool { return name == "" || !used })
	return slices.Sorted(maps.Keys(set))
}

// name writes which engine and model a run is about, as its requests say.
func (r *run) name(out *report.Run) {
	switch len(r.engines) {
	case 0:
	case 1:
		out.Engine = r.engines[0]
	default:
		out.Engine = "mixed"
	}
	switch len(r.models) {
	case 0:
	case 1:
		out.Model = r.models[0]
	default:
		out.Models = r.models
	}
}
