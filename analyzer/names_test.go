package analyzer

import (
	"slices"
	"testing"
)

// TestSeveralModels: a run is named after the models of its requests, not after
// the first.
func TestSeveralModels(t *testing.T) {
	const rest = `"sent":0,"token_timestamps":[1],"output_tokens":1`
	for _, c := range []struct {
		models []string // "": none
		one    string
		all    []string
	}{
		{[]string{"b", "a", "b", ""}, "", []string{"a", "b"}},
		{[]string{"b", "", "b"}, "b", nil},
		{[]string{""}, "", nil},
	} {
		var records []string
		groups := make(map[string]int64)
		for _, m := range c.models {
			if groups[m]++; m == "" {
				records = append(records, rest)
			} else {
				records = append(records, `"model":"`+m+`",`+rest)
			}
		}
		run, _ := ask(t, []string{"by=model"}, lines(records...))
		if run.Model != c.one || !slices.Equal(run.Models, c.all) {
			t.Errorf("%q: model %q, models %q", c.models, run.Model, run.Models)
		}
		for _, g := range run.Groups {
			if g.Requests.Total != groups[g.By["model"]] {
				t.Errorf("%q: %d requests of %q", c.models, g.Requests.Total, g.By["model"])
			}
		}
	}
}
