package analyzer

import (
	"fmt"
	"strings"
	"testing"

	"servescope/analyzer/load"
	"servescope/analyzer/query"
)

// TestServerTTFTBounds: of vLLM's FinishedRequestStats the server's time to first
// token is no less than queue + prefill, and no more than e2e - decode; of requests
// with an id and without. One with a single token has a decode time of 0.
func TestServerTTFTBounds(t *testing.T) {
	var log strings.Builder
	record := func(name string, e2e, queued, prefill, decode float64, n int) {
		fmt.Fprintf(&log, `{"finish_reason": "stop", %s"e2e_latency": %g, "num_prompt_tokens": 5, "num_generation_tokens": %d, "queued_time": %g, "prefill_time": %g, "decode_time": %g}`+"\n", name, e2e, n, queued, prefill, decode)
	}
	record(`"request_id": "a", `, 1.5, 0.2, 0.1, 1.05, 101) // 300 to 450 ms
	record("", 2.5, 0.25, 0.375, 1.5, 101)                  // 625 to 1000 ms
	record("", 0.5, 0.125, 0.25, 0, 1)                      // 375 to 500 ms
	for _, opt := range []load.Options{{}, {Workers: 2}} {
		run := inParts(t, opt, 97, textFile{name: "stats.jsonl", text: log.String()}).Runs[0]
		if m := run.Metrics["ttft_server"]; m.N != 0 || m.Reason != "not_recorded" {
			t.Errorf("%+v", m)
		}
		if len(run.Decompositions) != 2 || run.Decompositions[0].Side != "engine" {
			t.Fatalf("%+v", run.Decompositions)
		}
		// TPOT is the decode time over N - 1, 10.5 and 15 ms; what it is made of nobody says.
		if m := run.Metrics["tpot"]; m.N != 2 || m.Min != 10.5e6 || m.Max != 15e6 || m.Excluded["n_lt_2"] != 1 {
			t.Errorf("%+v", m)
		}
		if d := spanOf(&run.Cell); d == nil || d.N != 200 || d.Tables[0].Sum.Int != 2550e6 || d.Tables[0].Residual.Sum.Int != 2550e6 || len(d.Tables[0].Entries) != 0 {
			t.Errorf("%+v", d)
		}
		memos := run.Decompositions[0].Tables[0].Memos
		if len(memos) != 2 {
			t.Fatalf("%+v", memos)
		}
		for i, want := range []struct {
			bound string
			mean  float64
		}{{"lower", 1300e6 / 3}, {"upper", 1950e6 / 3}} {
			if m := memos[i]; m.Name != "ttft_server" || m.Bound != want.bound || m.N != 3 || m.Mean.V != want.mean {
				t.Errorf("%+v, want %+v", m, want)
			}
		}
	}
	// A server that stamps its first token needs no bounds.
	run := analyze(t, new(query.Query), textFile{name: "out.jsonl", text: stateStats(0, [][4]int64{{1e6, 2e6, 3e6, 4e6}})}).Runs[0]
	for _, m := range run.Decompositions[0].Tables[0].Memos {
		if m.Name == "ttft_server" {
			t.Errorf("%+v", m)
		}
	}
}
