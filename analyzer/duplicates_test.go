package analyzer

import (
	"strings"
	"testing"

	"servescope/analyzer/diag"
	"servescope/analyzer/load"
)

// TestDuplicates: a row that repeats one before it is counted, in the figures and
// in a diagnostic. What differs in its attempt, choice, beginning, side or run, or
// has no id, repeats nothing.
func TestDuplicates(t *testing.T) {
	const one = `{"request_id":"a","arrival":1,"clock":"run","output_tokens":1,"token_timestamps":[2]}` + "\n"
	with := func(old, new string) string { return strings.Replace(one, old, new, 1) }
	anonymous := with(`"request_id":"a",`, "")
	others := one + with(`"a"`, `"a","attempt":1`) + with(`"a"`, `"a","choice":1`) + with(`"arrival":1`, `"arrival":1.5`) +
		with(`"a"`, `"a","side":"client"`) + with(`"a"`, `"b"`) + anonymous + anonymous
	no := with(`"arrival":1,`, "")
	for _, c := range []struct {
		name  string
		list  []textFile
		count int64
		line  int64
	}{
		{"appended to itself", []textFile{{name: "x.jsonl", text: one + with(`"a"`, `"b"`) + one + with(`"a"`, `"b"`)}}, 2, 3},
		{"three times", []textFile{{name: "x.jsonl", text: one + one + one}}, 2, 2},
		{"under one label", []textFile{{name: "x.jsonl", label: "l", text: one}, {name: "y.jsonl", label: "l", text: others}}, 1, 1},
		{"two runs", []textFile{{name: "x.jsonl", text: one}, {name: "y.jsonl", text: one}}, 0, 0},
		{"others", []textFile{{name: "x.jsonl", text: others}}, 0, 0},
		{"without a beginning", []textFile{{name: "x.jsonl", text: no + no}}, 0, 0},
	} {
		for _, cut := range []int64{1 << 20, 70} {
			r := inParts(t, load.Options{Workers: 2}, cut, c.list...)
			var got diag.Diag
			for _, d := range r.Diags {
				if d.Code == "duplicate_request" {
					got = d
				}
			}
			if got.Count != c.count || got.Line != c.line || got.Count > 0 && (got.Severity != diag.Notice || got.File != c.list[len(c.list)-1].name) {
				t.Errorf("%s: %+v, want %d from line %d", c.name, got, c.count, c.line)
			}
		}
	}
	run, _ := ask(t, nil, textFile{name: "x.jsonl", text: one + one})
	if run.Requests.Total != 2 {
		t.Errorf("%d requests: none may be dropped", run.Requests.Total)
	}
}
