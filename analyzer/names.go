package analyzer

import (
	"maps"
	"slices"

	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// nameRuns finds which models and engines the requests of each run name.
func (s *Session) nameRuns() {
	for _, r := range s.runs {
		r.models, r.engines = s.names(r, trace.Model), s.names(r, trace.EngineCol)
	}
}

// names returns the values of a dictionary column in a run, sorted: those of its
// requests, and those of its records without any.
func (s *Session) names(r *run, col trace.Col) []string {
	set := make(map[string]bool)
	for _, m := range r.members {
		if m.NoRequests != "" {
			set[m.Default(col)] = true
		}
	}
	for _, b := range open(s.rows) {
		if b.slot != r.slot {
			continue
		}
		c := b.batch.Dicts(col)
		used, null := make([]bool, len(c.Values)), false
		for i := range b.batch.Rows {
			if code, ok := c.At(i); ok {
				used[code] = true
			} else {
				null = true
			}
		}
		if null {
			set[b.batch.Run.Default(col)] = true
		}
		for code, name := range c.Values {
			set[name] = set[name] || used[code]
		}
	}
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
