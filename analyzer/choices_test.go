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

// TestD13Choices: one request, two choices of 10 tokens each, interleaved. Each
// choice has a pace of its own; the request is one.
func TestD13Choices(t *testing.T) {
	record := func(choice int, first float64) string {
		var stamps []string
		for k := range 10 {
			stamps = append(stamps, fmt.Sprintf("%.3f", first+0.010*float64(k)))
		}
		return fmt.Sprintf(`{"request_id":"a","choice":%d,"n_choices":2,"side":"client","clock":"run","arrival":0,"prompt_tokens":7,"output_tokens":10,"token_timestamps":[%s]}`+"\n",
			choice, strings.Join(stamps, ","))
	}
	for _, text := range []string{record(0, 0.100) + record(1, 0.105), record(1, 0.105) + record(0, 0.100), record(1, 0.100) + record(0, 0.105)} {
		run, _ := ask(t, nil, textFile{name: "log.jsonl", text: text})
		c := &run.Cell
		if c.Requests.Total != 1 || c.Requests.OK != 1 {
			t.Errorf("requests %+v, want one", c.Requests)
		}
		wants(t, c, "ttft", 1, "mean", 100.0)
		wants(t, c, "e2e", 1, "mean", 195.0)
		wants(t, c, "tpot", 2, "min", 10.0, "max", 10.0)
		wants(t, c, "chunk_gap", 18, "min", 10.0, "max", 10.0)
		wants(t, c, "prompt_tokens", 1, "mean", 7.0)
		wants(t, c, "output_tokens", 1, "mean", 20.0)
		rate(t, c, "request_rate", 1/0.195)
		rate(t, c, "tps", 20/0.195)
		rate(t, c, "tps_prompt", 7/0.195)
		rate(t, c, "batch_decode", 2*90/195.0)
		rate(t, c, "concurrency_mean", 1)
	}
}

// TestChoicesOfFailedRequest: a request one of whose choices failed has failed,
// and its other choice still has a pace. A filter that
// asks for what is of a choice keeps the request as a whole.
func TestChoicesOfFailedRequest(t *testing.T) {
	text := `{"request_id":"a","choice":0,"side":"client","clock":"run","arrival":0,"output_tokens":1,"token_timestamps":[1],"error":"x"}
{"request_id":"a","choice":1,"side":"client","clock":"run","arrival":0,"output_tokens":3,"token_timestamps":[2,3,4]}
{"request_id":"b","choice":1,"side":"client","clock":"run","arrival":0,"output_tokens":3,"token_timestamps":[2,4,6]}
{"choice":1,"side":"client","clock":"run","arrival":0,"output_tokens":3,"token_timestamps":[2,5,8]}
`
	run, _ := ask(t, nil, textFile{name: "log.jsonl", text: text})
	if q := run.Requests; q.Total != 3 || q.Failed != 1 || q.OK != 2 {
		t.Errorf("requests %+v, want 3, one failed", q)
	}
	wants(t, &run.Cell, "tpot", 3, "min", 1000.0, "mean", 2000.0, "max", 3000.0)
	wants(t, &run.Cell, "ttft", 2, "mean", 2000.0)
	run, _ = ask(t, []string{"filter=choice = 1"}, textFile{name: "log.jsonl", text: text})
	if q := run.Requests; q.Total != 3 || q.OK != 2 || q.Failed != 1 || q.Filtered != 0 {
		t.Errorf("requests %+v, want 3 as a whole: each has the choice", q)
	}
	wants(t, &run.Cell, "tpot", 3, "min", 1000.0, "mean", 2000.0, "max", 3000.0)
	run, _ = ask(t, []string{"filter=request_id = b"}, textFile{name: "log.jsonl", text: text})
	if q := run.Requests; q.Total != 1 || q.Filtered != 2 {
		t.Errorf("requests %+v, want 1, and 2 filtered", q)
	}
	run, _ = ask(t, []string{"filter=choice = 0"}, textFile{name: "log.jsonl", text: text})
	if q := run.Requests; q.Total != 1 || q.Failed != 1 || q.Filtered != 2 {
		t.Errorf("requests %+v, want 1 that failed", q)
	}
}

// TestChoicesObjective: a request meets an objective of its pace when every
// sequence does.
func TestChoicesObjective(t *testing.T) {
	q := new(query.Query)
	var err error
	if q.SLO, err = query.ParseSLO("tpot=1500ms"); err != nil {
		t.Fatal(err)
	}
	text := `{"request_id":"a","choice":0,"side":"client","clock":"run","arrival":0,"output_tokens":3,"token_timestamps":[1,2,3]}
{"request_id":"a","choice":1,"side":"client","clock":"run","arrival":0,"output_tokens":3,"token_timestamps":[1,3,5]}
{"request_id":"b","choice":0,"side":"client","clock":"run","arrival":0,"output_tokens":3,"token_timestamps":[1,2,3]}
{"request_id":"b","choice":1,"side":"client","clock":"run","arrival":0,"output_tokens":3,"token_timestamps":[1,2,3]}
`
	r := analyze(t, q, textFile{name: "log.jsonl", text: text})
	if g := r.Runs[0].Goodput; g == nil || g.Good != 1 || g.Missed != 1 || g.Unknown != 0 {
		t.Errorf("goodput %+v, want one good and one missed", g)
	}
}

// inParts answers the plain query about sources that are cut into small parts.
func inParts(t *testing.T, opt load.Options, cut int64, list ...textFile) *report.Report {
	t.Helper()
	s, err := openAll(t, opt, list...)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.in.RangeSize, s.in.BatchRows = cut, 1+int(cut%13)
	r, err := s.Run(t.Context(), new(query.Query))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestChoicesBruteForce compares with figures of the model that wrote the log,
// whatever the order of its lines, the cuts, the workers and the memory. Ids are
// used again: the k-th row of every choice belongs to the k-th request.
func TestChoicesBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	var text []string
	var ttft, e2e, out, sequences, gaps, last float64
	const requests = 60
	var choices [20]int // of each id, the same at every use
	for i := range choices {
		choices[i] = 1 + r.IntN(4)
	}
	for i := range requests {
		start, first, end, sum := float64(i), 1e9, 0.0, 0.0
		for choice := range choices[i%20] {
			n := 1 + r.IntN(5)
			at := start + 0.001*float64(1+r.IntN(400))
			first = min(first, at)
			stamps := fmt.Sprintf("%.3f", at)
			for range n - 1 {
				at += 0.001 * float64(1+r.IntN(50))
				stamps += fmt.Sprintf(",%.3f", at)
			}
			end, sum, gaps = max(end, at), sum+float64(n), gaps+float64(n-1)
			if n > 1 {
				sequences++
			}
			text = append(text, fmt.Sprintf(`{"request_id":"r%d","choice":%d,"side":"client","clock":"run","arrival":%d,"prompt_tokens":3,"output_tokens":%d,"token_timestamps":[%s]}`+"\n", i%20, choice, i, n, stamps))
		}
		ttft, e2e, out, last = ttft+first-start, e2e+end-start, out+sum, max(last, end)
	}
	var want string
	for round := range 8 {
		opt, cut := load.Options{Workers: 1 + r.IntN(3)}, int64(1+r.IntN(4000))
		if round%2 == 1 {
			opt.Memory = 1 // the lists are read again
		}
		run := inParts(t, opt, cut, textFile{name: "log.jsonl", text: strings.Join(text, "")}).Runs[0]
		if run.Requests.Total != requests {
			t.Fatalf("round %d: %d requests, want %d", round, run.Requests.Total, requests)
		}
		wants(t, &run.Cell, "tpot", int64(sequences))
		wants(t, &run.Cell, "chunk_gap", int64(gaps))
		wants(t, &run.Cell, "prompt_tokens", requests, "mean", 3.0)
		wants(t, &run.Cell, "ttft", requests, "mean", 1000*ttft/requests)
		wants(t, &run.Cell, "e2e", requests, "mean", 1000*e2e/requests)
		wants(t, &run.Cell, "output_tokens", requests, "mean", out/requests)
		rate(t, &run.Cell, "tps", out/last)
		rate(t, &run.Cell, "concurrency_mean", e2e/last)
		got := fmt.Sprint(run.Cell.Metrics, run.Throughput, run.Concurrency.Mean)
		if want == "" {
			want = got
		}
		if got != want {
			t.Fatalf("round %d: %s, want %s", round, got, want)
		}
		r.Shuffle(len(text), func(i, k int) { text[i], text[k] = text[k], text[i] })
	}
}
