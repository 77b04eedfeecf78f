package join

import (
	"testing"

	"servescope/analyzer/trace"
)

// TestRowsOfANamelessRecord: rows of one record are of one request, also where
// batches end between them; what does not say where it lies, or has a name, is
// linked by nothing else, nor are rows of one side.
func TestRowsOfANamelessRecord(t *testing.T) {
	both := func(off int) []cells {
		return []cells{{"side": "server", "offset": off}, {"side": "engine", "offset": off}}
	}
	rows := append(both(0), both(70)...)
	rows = append(rows, cells{"side": "server", "offset": 140}, cells{"side": "server", "offset": 140})
	rows = append(rows, cells{"side": "server"}, cells{"side": "engine"})
	const want = "s:(join_group) e:(join_group); s:(join_group) e:(join_group)"
	for size := 1; size < 5; size++ {
		in := parts(t, size, server(rows...), server(both(70)[1]))
		if size == 1 { // no batch tells of two sides: another reason is needed to link at all
			equal(t, "alone", groups(Link(in, Options{IDs: true})), want)
			continue
		}
		equal(t, "of one record", groups(Link(in, Options{})), want)
	}
	named := append(both(0), cells{"side": "server", "offset": 70, "request_id": "a"}, cells{"side": "engine", "offset": 70, "request_id": "b"})
	equal(t, "named", groups(Link(parts(t, 10, server(named...)), Options{IDs: true})), "s:(join_group) e:(join_group)")
	if l := Link(parts(t, 10, server(ids("a", "b")...)), Options{}); l != nil {
		t.Error("rows of one side are linked")
	}
	if l := Link(parts(t, 10, input{trace.RunMeta{Side: trace.Engine}, []cells{{"offset": 1}, {"offset": 1}}}), Options{}); l != nil {
		t.Error("rows of one engine are linked")
	}
}
