package analyzer

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"servescope/analyzer/load"
	"servescope/analyzer/report"
)

// rateOf returns a rate that must be known.
func rateOf(t *testing.T, c *report.Cell, name string) float64 {
	t.Helper()
	v := c.Throughput.Values[name]
	if !v.Known {
		t.Errorf("%s is null (%s)", name, v.Reason)
	}
	return v.V
}

// TestP33InferredEnd: r9 is open at the end of the log, in no latency, and the
// curve drops where the engine says so, with a mark.
func TestP33InferredEnd(t *testing.T) {
	log := textFile{"server.log", "", `INFO 03-01 17:00:00 [logger.py:57] Received request r9: prompt: 'x', params: SamplingParams(n=1), prompt_token_ids: None, lora_request: None.
INFO 03-01 17:00:00 [loggers.py:1] Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 1.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.1%, Prefix cache hit rate: 0.0%
INFO 03-01 17:00:03 [loggers.py:1] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 9.0 tokens/s, Running: 0 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.0%, Prefix cache hit rate: 0.0%
INFO 03-01 17:15:00 [launcher.py:1] Shutting down
`}
	run, r := ask(t, nil, log)
	c := run.Concurrency
	if run.Requests.Open != 1 || run.Requests.Total != 1 || c.Inferred != 1 {
		t.Fatalf("%+v, %d inferred", run.Requests, c.Inferred)
	}
	if len(c.Curve) != 1 || c.Curve[0].V != 1 || c.Mean.V != 1 || !strings.Contains(c.Mean.Note, "inferred") {
		t.Errorf("%+v", c)
	}
	nothing(t, &run.Cell, "e2e", "open", 1)
	says(t, r, `"inferred":1`)
	// Without the engine's word nobody knows.
	log.text = strings.Replace(log.text, "Running: 0 reqs", "Running: 1 reqs", 1)
	if run, _ := ask(t, nil, log); run.Concurrency.Inferred != 0 || run.Concurrency.Mean.Known {
		t.Errorf("%+v", run.Concurrency)
	}
}

// TestCrossRatio: a client's log and a server's in one run. Two requests decode
// from 10:00:00 to 10:01:00 with 601 tokens each; the engine logs 2, 2 and 2.
func TestCrossRatio(t *testing.T) {
	record := func(id int) string {
		var stamps []string
		for i := range 601 {
			stamps = append(stamps, fmt.Sprintf("%.1f", 1785405600+float64(i)/10))
		}
		return fmt.Sprintf(`{"request_id":"r%d","side":"client","sent":1785405600,"token_timestamps":[%s],"output_tokens":601,"replica":"a"}`, id, strings.Join(stamps, ","))
	}
	client := textFile{"client.jsonl", "x", record(1) + "\n" + record(2) + "\n"}
	server := textFile{"server.log", "x", statsLog(0, [5]int{0, 20, 2, 0, 1}, [5]int{0, 20, 2, 0, 1}, [5]int{0, 20, 2, 0, 1})}
	analyze := func(flags ...string) report.Run {
		s, err := openAll(t, load.Options{Workers: 2, Years: map[string]int{"": 2026}}, client, server)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		r, err := s.Run(t.Context(), queryOf(t, flags...))
		if err != nil {
			t.Fatal(err)
		}
		return r.Runs[0]
	}
	run := analyze("window=30s")
	for name, want := range map[string]float64{"batch_decode": 2, "batch_logged": 2, "tpot_weighted": 1e8, "tps_decode": 1202 / 60.0, "cross_ratio": 20 / (1202 / 60.0), "identity_ratio": 1200.0 / 1202} {
		if got := rateOf(t, &run.Cell, name); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for i, w := range run.Windows[:2] {
		if got := rateOf(t, &w.Cell, "batch_logged"); got != 2 {
			t.Errorf("window %d: %v", i, got)
		}
	}
	if e := run.Throughput.Engines; len(e) != 1 || e[0].Tokens.V != 20 || e[0].Coverage.V != 1 || e[0].Gauge != "batch_running" {
		t.Errorf("%+v", e)
	}
	// An interval takes the value that held as it began.
	run = analyze("from=2026-07-30T10:00:20Z", "to=2026-07-30T10:00:50Z")
	if got := rateOf(t, &run.Cell, "batch_logged"); got != 2 {
		t.Errorf("interval: %v", got)
	}
	// A filter on requests leaves the engine's batch, which is of others too.
	run = analyze("filter=output_tokens > 5")
	if v := run.Throughput.Values["cross_ratio"]; v.Known || v.Reason != "filtered" || rateOf(t, &run.Cell, "batch_logged") != 2 {
		t.Errorf("cross under a filter: %+v", v)
	}
}

// TestRealCross: spans and the log of one real server, eight hours apart by their
// zones. Both tell the same batch and the same rate of tokens.
func TestRealCross(t *testing.T) {
	var list []textFile
	for _, name := range []string{"server-paired-with-otlp.log", "otlp-llm_request-v0.11-engineV1.traces.json"} {
		text, err := os.ReadFile(data(t, "vllm/"+name)[0])
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, textFile{name, "p", string(text)})
	}
	s, err := openAll(t, load.Options{Workers: 2, Zones: map[string]*time.Location{"": time.FixedZone("UTC-8", -8*3600)}}, list...)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.Run(t.Context(), queryOf(t))
	if err != nil {
		t.Fatal(err)
	}
	c := &r.Runs[0].Cell
	logged, running, cross := rateOf(t, c, "batch_logged"), rateOf(t, c, "batch_running"), rateOf(t, c, "cross_ratio")
	if math.Abs(logged/running-1) > 0.05 || math.Abs(cross-1) > 0.05 {
		t.Errorf("the engine logs %v, requests give %v; cross %v", logged, running, cross)
	}
	e := c.Throughput.Engines[0]
	if e.Coverage.V < 0.99 || math.Abs(e.Tokens.V/rateOf(t, c, "tps")-1) > 0.01 {
		t.Errorf("%+v", e)
	}
}

// TestAggregatesAreNoZeroRequests: a file of aggregates does not hold 0 failed
// requests, it holds what its producer counts.
func TestAggregatesAreNoZeroRequests(t *testing.T) {
	run, r := ask(t, nil, bench(2026, `"completed":5`))
	if run.Requests.Reason != "no_requests" || run.Requests.Claimed == nil || run.Requests.Claimed.OK.V != 5 || run.Requests.Claimed.Failed.V != 0 {
		t.Errorf("%+v", run.Requests)
	}
	says(t, r, `"requests":{"total":null,"ok":null,"failed":null,"aborted":null,"empty":null,"open":null,"head_missing":null,"filtered":null,"end_later":null,"begun_earlier":null,"reason":"no_requests","claimed":{"ok":{"value":5,"unit":"requests"},"failed":{"value":0,"unit":"requests"}}}`)
	// Requests that the query removes are known to be there.
	run, r = ask(t, []string{"filter=prompt_tokens > 100"}, lines(`"sent":0,"token_timestamps":[0.1],"prompt_tokens":5`))
	if run.Requests.Reason != "" || run.Requests.Filtered != 1 {
		t.Errorf("%+v", run.Requests)
	}
	says(t, r, `"requests":{"total":0,`)
}
