package analyzer

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
)

// stateStats writes vLLM's statistics of requests, ns: what lies before the queue,
// the queue, the prefill and the way out of each. The wall clock of the server is
// off ahead of the engine's.
func stateStats(off int64, list [][4]int64) string {
	sec := func(ns int64) string { return fmt.Sprintf("%d.%09d", ns/1e9, ns%1e9) }
	var out strings.Builder
	for i, x := range list {
		at := int64(1764428000e9) + int64(i)*1e9
		queued := at + x[0] - off
		first := queued + x[1] + x[2]
		fmt.Fprintf(&out, `{"id":"r%d","metrics":{"arrival_time":%s,"queued_ts":%s,"scheduled_ts":%s,"first_token_ts":%s,"last_token_ts":%s,"first_token_latency":%s,"is_corrupted":false}}`+"\n",
			i, sec(at), sec(queued), sec(queued+x[1]), sec(first), sec(first+5e6), sec(x[0]+x[1]+x[2]+x[3]))
	}
	return out.String()
}

// boundsOf returns the bounds of a table in ns.
func boundsOf(t *report.Breakdown) (in, out report.Memo) {
	for _, m := range t.Memos {
		switch m.Name {
		case "input+ingress":
			in = m
		case "egress":
			out = m
		}
	}
	return in, out
}

// TestWayInBound: what the two clocks tell of {input, ingress} and egress holds the
// truth, and misses it by the shortest way out of all requests.
func TestWayInBound(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var list [][4]int64
	var in, rest, least int64 = 0, 0, 1 << 60
	for range 40 {
		x := [4]int64{1e6 + r.Int64N(9e6), r.Int64N(5e6), 1e6 + r.Int64N(5e7), 5e5 + r.Int64N(3e6)}
		in, rest, least = in+x[0], rest+x[0]+x[3], min(least, x[3])
		list = append(list, x)
	}
	text := stateStats(1762990000e9+123456789, list)
	for _, opt := range []load.Options{{}, {Workers: 3}} {
		rep := inParts(t, opt, 700, textFile{name: "out.jsonl", text: text})
		d := rep.Runs[0].Decompositions[0]
		table := &d.Tables[0]
		if table.Signature != "queue, prefill, input+ingress+egress" || table.N != 40 || table.Residual.Sum.Int != 0 || table.Entries[2].Sum.Int != rest {
			t.Fatalf("%+v", table)
		}
		before, behind := boundsOf(table)
		want := float64(in)/40 + float64(least)
		if before.Bound != "upper" || before.N != 40 || before.Mean.V != want || behind.Bound != "lower" || behind.Mean.V-(float64(rest)/40-want) > 1e-3 || behind.Mean.V-(float64(rest)/40-want) < -1e-3 {
			t.Errorf("%+v and %+v, want ≤ %v", before, behind, want)
		}
	}
	// In a group the clocks are those of all.
	run := analyze(t, queryOf(t, "window=10s"), textFile{name: "out.jsonl", text: text}).Runs[0]
	sum := 0.0
	for i := range run.Windows {
		for _, d := range run.Windows[i].Decompositions {
			before, _ := boundsOf(&d.Tables[0])
			sum += before.Mean.V * float64(before.N)
		}
	}
	if want := float64(in + 40*least); sum < want-1 || sum > want+1 {
		t.Errorf("windows add up to %v, want %v", sum, want)
	}
	// The engine's host was started anew: no offset fits.
	rep := analyze(t, new(query.Query), textFile{name: "out.jsonl", text: text + strings.ReplaceAll(stateStats(1763990000e9, list[:3]), `"id":"r`, `"id":"x`)})
	table := &rep.Runs[0].Decompositions[0].Tables[0]
	if before, _ := boundsOf(table); before.N != 0 || len(table.Notes) != 1 || !strings.HasPrefix(table.Notes[0], "clock: ") {
		t.Errorf("%+v, %q", before, table.Notes)
	}
}
