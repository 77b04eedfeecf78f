package dataset

import (
	"maps"
	"servescope/analyzer/trace"
	"slices"
	"strings"
)

// nameRuns finds the models and engines of each run: the ones that its requests name,
// and the ones that its records without requests name. The rows are opened once for all
// runs.
func nameRuns(s *Set) {
	cols := [...]trace.Col{trace.Model, trace.EngineCol}
	bySlot := make(map[int32]*[len(cols)]map[string]bool)
	for _, r := range s.Runs {
		sets := new([len(cols)]map[string]bool)
		for k, col := range cols {
			sets[k] = make(map[string]bool)
			for _, m := range r.Members {
				if m.NoRequests != "" {
					sets[k][m.Default(col)] = true
				}
			}
		}
		bySlot[r.Slot] = sets
	}
	for _, b := range OpenEach(s.Requests) {
		if sets := bySlot[b.Slot]; sets != nil {
			for k, col := range cols {
				namesIn(b.Cols, col, sets[k])
			}
		}
	}
	for _, r := range s.Runs {
		sets := bySlot[r.Slot]
		r.Models, r.Engines = namesOf(sets[0]), namesOf(sets[1])
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

// slashed returns the path of an input with slashes alone.
func slashed(f *Input) string { return strings.ReplaceAll(f.Source.Name(), "\\", "/") }

// tailsOf returns how many of the paths of files, which may be thousands, end with
// some of their last parts, or are these.
func tailsOf(files []*Input) map[string]int {
	tails := make(map[string]int)
	seen := make(map[string]bool)
	for _, f := range files {
		name := slashed(f)
		if seen[name] {
			continue
		}
		seen[name] = true
		tails[name]++
		for i := range name {
			if name[i] == '/' {
				tails[name[i+1:]]++
			}
		}
	}
	return tails
}
