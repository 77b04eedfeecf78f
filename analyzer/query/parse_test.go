package query

import (
	"errors"
	"testing"
)

// TestParse: each option reaches its field, what is not given is left alone, and
// what cannot be read names its flag.
func TestParse(t *testing.T) {
	given := map[string]string{
		"definition": "sglang", "filter": "prompt_tokens > 5", "by": "model", "window": "10s", "from": "+1s", "to": "+2s",
		"trim": "steady", "slo": "ttft=500ms", "aborts": "exclude", "percentiles": "50", "replicas": "3",
	}
	q, err := Parse(func(name string) string { return given[name] })
	if err != nil {
		t.Fatal(err)
	}
	if q.Definition != "sglang" || q.Filter == nil || len(q.By) != 1 || q.Window != 10e9 || q.From == nil || q.To == nil ||
		len(q.SLO) != 1 || !q.ExcludeAborts || len(q.Ranks) != 1 || q.Replicas != 3 || q.Trim == (Trim{}) {
		t.Errorf("got %+v", q)
	}
	if q, err := Parse(func(string) string { return "" }); err != nil || q.Filter != nil || q.Replicas != 0 || q.SLO != nil {
		t.Errorf("of nothing: %+v, %v", q, err)
	}
	for _, name := range []string{"filter", "by", "window", "from", "to", "trim", "slo", "aborts", "percentiles", "replicas"} {
		_, err := Parse(func(option string) string {
			if option == name {
				return "?"
			}
			return ""
		})
		if e := (*Error)(nil); !errors.As(err, &e) || e.Flag != "--"+name {
			t.Errorf("%s: %v", name, err)
		}
	}
}
