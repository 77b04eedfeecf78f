package analyzer

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"servescope/analyzer/report"
)

// The cases of these files are faults that analysis tools have had, as minimal
// inputs with their right figures, worked out by hand. Times are in ms.

const ms = 1e6

// lines is a token log of request records seen by a client on the run's clock;
// each is an object without its braces.
func lines(records ...string) textFile {
	var b strings.Builder
	for i, r := range records {
		fmt.Fprintf(&b, "{\"request_id\":\"r%d\",\"side\":\"client\",\"clock\":\"run\",%s}\n", i+1, r)
	}
	return textFile{name: "log.jsonl", text: b.String()}
}

// bench is a result of vLLM's benchmark of the given year: 2024 or 2026.
func bench(year int, arrays string) textFile {
	keys := `"burstiness":1.0,"endpoint_type":"openai-chat","failed":0,"label":null,`
	if year == 2024 {
		keys = `"best_of":1,"use_beam_search":false,`
	}
	return textFile{name: "result.json", text: `{"date":"20260305-083000","backend":"openai-chat","model_id":"m","tokenizer_id":"m","num_prompts":3,` +
		keys + `"request_rate":"inf","max_concurrency":null,"duration":60.0,` + arrays + `}`}
}

// ask answers a query about sources and returns the only run.
func ask(t *testing.T, flags []string, list ...textFile) (report.Run, *report.Report) {
	t.Helper()
	r := analyze(t, queryOf(t, flags...), list...)
	if len(r.Runs) != 1 {
		t.Fatalf("%d runs", len(r.Runs))
	}
	return r.Runs[0], r
}

// wants checks a metric: its n, and pairs of a statistic and its value in ms (in
// the metric's own unit, where that is no time).
func wants(t *testing.T, c *report.Cell, name string, n int64, stats ...any) {
	t.Helper()
	m, ok := c.Metrics[name]
	if !ok || m.N != n {
		t.Errorf("%s: n = %d (reason %q, excluded %v), want %d", name, m.N, m.Reason, m.Excluded, n)
		return
	}
	scale := 1.0
	if strings.HasPrefix(string(m.Unit), "ns") {
		scale = ms
	}
	for i := 0; i < len(stats); i += 2 {
		stat, want := stats[i].(string), stats[i+1].(float64)
		got, ok := m.Quantiles[stat]
		switch stat {
		case "mean":
			got, ok = m.Mean, true
		case "min":
			got, ok = m.Min, true
		case "max":
			got, ok = m.Max, true
		}
		if got /= scale; !ok || math.Abs(got-want) > 1e-9*math.Max(1, math.Abs(want)) {
			t.Errorf("%s: %s = %v, want %v", name, stat, got, want)
		}
	}
}

// nothing checks that a metric is null, with the requests that it leaves out.
func nothing(t *testing.T, c *report.Cell, name, reason string, excluded int64) {
	t.Helper()
	m := c.Metrics[name]
	if m.N != 0 || m.Reason != reason || m.Excluded[reason] != excluded {
		t.Errorf("%s: n = %d, reason %q, excluded %v; want null because %s of %d", name, m.N, m.Reason, m.Excluded, reason, excluded)
	}
}

// rate checks a value of the throughput.
func rate(t *testing.T, c *report.Cell, name string, want float64) {
	t.Helper()
	v, ok := c.Throughput.Values[name]
	if !ok || !v.Known || math.Abs(v.V-want) > 1e-9*math.Max(1, want) {
		t.Errorf("%s = %+v, want %v", name, v, want)
	}
}

// says checks that one of the texts of a report contains part.
func says(t *testing.T, r *report.Report, part string) {
	t.Helper()
	if text := jsonOf(t, r); !strings.Contains(text, part) {
		t.Errorf("nothing says %q in\n%s", part, text)
	}
}

func TestP01RoleChunkIsNoToken(t *testing.T) {
	in := lines(`"sent":0,"first_event":0.005,"token_timestamps":[0.214,0.230,0.246],"output_tokens":3`)
	run, _ := ask(t, nil, in)
	wants(t, &run.Cell, "ttft", 1, "mean", 214.0)
	wants(t, &run.Cell, "first_event", 1, "mean", 5.0)
	wants(t, &run.Cell, "chunk_gap", 2, "min", 16.0, "max", 16.0)
	wants(t, &run.Cell, "tpot", 1, "mean", 16.0)
	q := queryOf(t)
	q.Definition = "vllm-2026"
	r := analyze(t, q, in)
	wants(t, &r.Runs[0].Cell, "ttft", 1, "mean", 5.0)
	wants(t, &r.Runs[0].Cell, "chunk_gap", 3, "min", 16.0, "max", 209.0)
	if m := r.Runs[0].Metrics["ttft"]; m.Definition != "vllm-2026" {
		t.Errorf("the number does not carry its definition: %+v", m)
	}
	// A client that records the role chunk as the first token: both ends are shown.
	run, r = ask(t, nil, bench(2026, `"completed":1,"input_lens":[9],"output_lens":[3],"ttfts":[0.005],"itls":[[0.209,0.016,0.016]],"errors":[""]`))
	wants(t, &run.Cell, "ttft", 1, "mean", 5.0)
	wants(t, &run.Cell, "ttft_upper", 1, "mean", 214.0)
	says(t, r, "role_chunk_possible")
}

func TestP05NoTokenIsNoTTFT(t *testing.T) {
	run, r := ask(t, nil, lines(`"sent":0,"token_timestamps":[],"output_tokens":0,"finished":0.003`, `"sent":0,"token_timestamps":[0.1,0.12],"output_tokens":2,"finished":0.12`))
	wants(t, &run.Cell, "ttft", 1, "mean", 100.0, "0.5", 100.0)
	wants(t, &run.Cell, "tpot", 1, "mean", 20.0)
	if run.Requests.Empty != 1 || run.Requests.OK != 1 || run.Metrics["ttft"].Excluded["no_token"] != 1 {
		t.Errorf("requests %+v, excluded %v", run.Requests, run.Metrics["ttft"].Excluded)
	}
	says(t, r, "1 of 2 requests produced no token")
	// A TTFT of exactly 0 in a result file is missing.
	run, r = ask(t, nil, bench(2024, `"completed":2,"input_lens":[9,9],"output_lens":[0,2],"ttfts":[0.0,0.1],"itls":[[],[0.02]],"generated_texts":["","ab"],"errors":["",""]`))
	wants(t, &run.Cell, "ttft", 1, "mean", 100.0)
	if run.Requests.Empty != 1 {
		t.Errorf("requests %+v", run.Requests)
	}
	if len(r.Diags) == 0 {
		t.Error("no warning")
	}
}

func TestP06EmptyResponseIsNoFailure(t *testing.T) {
	run, _ := ask(t, nil, lines(`"sent":0,"token_timestamps":[],"output_tokens":0,"finished":0.05,"finish_reason":"stop"`))
	if run.Requests.Empty != 1 || run.Requests.Failed+run.Requests.Aborted != 0 {
		t.Errorf("requests %+v", run.Requests)
	}
	wants(t, &run.Cell, "e2e_stream_end", 1, "mean", 50.0)
	nothing(t, &run.Cell, "ttft", "no_token", 1)
	nothing(t, &run.Cell, "tpot", "no_token", 1)
}

// TestP07SamplesAreRequests checks that every metric of single requests
// accounts for each request: with a value, or left out for a reason.
func TestP07SamplesAreRequests(t *testing.T) {
	for _, name := range []string{"vllm-bench.json", "tokenlog.jsonl"} {
		run, _ := ask(t, nil, textFile{name: name, text: sample(t, name)})
		if run.Requests.Total != 64 {
			t.Fatalf("%s: %d requests", name, run.Requests.Total)
		}
		for _, metric := range []string{"ttft", "tpot", "e2e", "output_tokens"} {
			m := run.Metrics[metric]
			n := m.N
			for _, k := range m.Excluded {
				n += k
			}
			if n != run.Requests.Total || m.N == 0 {
				t.Errorf("%s: %s has %d values and leaves out %v of %d requests", name, metric, m.N, m.Excluded, run.Requests.Total)
			}
		}
	}
}

func TestP08WaitInsideTheClient(t *testing.T) {
	run, _ := ask(t, nil, lines(`"scheduled_send":-1.5,"sent":0,"token_timestamps":[0.2],"output_tokens":1`))
	wants(t, &run.Cell, "client_wait", 1, "mean", 1500.0)
	wants(t, &run.Cell, "ttft", 1, "mean", 200.0)
	wants(t, &run.Cell, "ttft_client_from_schedule", 1, "mean", 1700.0)
	run, _ = ask(t, nil, lines(`"sent":0,"token_timestamps":[0.2],"output_tokens":1`))
	wants(t, &run.Cell, "ttft", 1, "mean", 200.0)
	nothing(t, &run.Cell, "client_wait", "not_recorded", 1)
	nothing(t, &run.Cell, "ttft_client_from_schedule", "not_recorded", 1)
}

func TestP10OneTokenHasATTFT(t *testing.T) {
	run, _ := ask(t, nil, lines(`"sent":0,"token_timestamps":[0.08],"output_tokens":1`))
	wants(t, &run.Cell, "ttft", 1, "mean", 80.0)
	nothing(t, &run.Cell, "tpot", "n_lt_2", 1)
	if m := run.Metrics["chunk_gap"]; m.N != 0 {
		t.Errorf("gaps: %+v", m)
	}
}

func TestP11ErrorInTheStreamIsAFailure(t *testing.T) {
	q := queryOf(t)
	q.SLO = slo(t, "ttft=1s")
	r := analyze(t, q, lines(`"sent":0,"first_event":0.01,"error":"stream_error: overloaded","finished":0.016`, `"sent":0,"token_timestamps":[0.1],"output_tokens":1`))
	run := r.Runs[0]
	if run.Requests.Failed != 1 || run.Requests.OK != 1 {
		t.Errorf("requests %+v", run.Requests)
	}
	wants(t, &run.Cell, "ttft", 1, "mean", 100.0)
	wants(t, &run.Cell, "e2e", 1, "mean", 100.0)
	if g := run.Goodput; g == nil || g.Denominator != 2 || g.Good != 1 || g.Missed != 1 {
		t.Errorf("goodput %+v", g)
	}
}
