package analyzer

import (
	"testing"

	"servescope/analyzer/diag"
	"servescope/analyzer/load"
	"servescope/analyzer/report"
)

func diagNamed(r *report.Report, code string) *diag.Diag {
	for i := range r.Diags {
		if r.Diags[i].Code == code {
			return &r.Diags[i]
		}
	}
	return nil
}

// TestSourcesDiffer: the engine's stamps say 10 ms of queue, what a row states or
// another row says is compared with it and never averaged in.
func TestSourcesDiffer(t *testing.T) {
	const engine = `{"request_id":"a","side":"engine","clock":"monotonic","queued":5.000,"admitted":5.010,"first_token":5.400`
	const server = `{"request_id":"a","side":"server","clock":"wall","received":1764428000.000,"first_token":1764428000.450,"output_tokens":3`
	for _, c := range []struct {
		name, text string
		n          int64
	}{
		{"the same", server + `,"d_queue_ns":10000000}` + "\n" + engine + "}\n", 0},
		{"others", server + `,"d_queue_ns":90000000}` + "\n" + engine + "}\n", 1},
		{"within the steps", server + `,"d_queue_ns":11000000,"d_resolution_ns":1000000}` + "\n" + engine + "}\n", 0},
		{"in one row", engine + `,"d_queue_ns":90000000}` + "\n", 1},
		{"prefill too", engine + `,"d_prefill_ns":390000000,"d_queue_ns":10000000}` + "\n", 0},
	} {
		s, err := openAll(t, load.Options{Join: true}, textFile{name: "log.jsonl", text: c.text})
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Run(t.Context(), queryOf(t))
		if err != nil {
			t.Fatal(err)
		}
		d := diagNamed(r, "sources_differ")
		if (d != nil) != (c.n > 0) || d != nil && (d.Count != c.n || d.Line == 0) {
			t.Errorf("%s: %+v, %+v", c.name, d, r.Diags)
		}
		// The engine's stamps count.
		for _, x := range r.Runs[0].Decompositions {
			for _, e := range x.Tables[0].Entries {
				if x.Of == "ttft" && c.name == "others" && len(e.Leaves) == 1 && e.Leaves[0] == "queue" && e.Mean.V != 10e6 {
					t.Errorf("%s: queue %v", c.name, e.Mean.V)
				}
			}
		}
		s.Close()
	}
}
