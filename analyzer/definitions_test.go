package analyzer

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
)

// workedRequest is one request of which every tool says something else: sent at
// 0, a role chunk at 100 ms, a reasoning token at 120, three chunks of three
// tokens at 150, 180 and 210, a usage chunk at 260, the end of the stream at
// 261. The usage counts 10 tokens, one of them reasoning; a client's tokenizer
// makes 9 of the content.
const workedRequest = `{"request_id":"r","side":"client","clock":"run","sent":0,"first_event":0.100,"token_timestamps":[0.120,0.150,0.180,0.210],` +
	`"chunk_tokens":[1,3,3,3],"token_kind":"reasoning","first_answer_token":0.150,"finished":0.261,"output_tokens":10,"reasoning_tokens":1,"client_tokens":9,` +
	`"prompt_tokens":7,"stream":true%s}` + "\n"

// under is the report's run about a log under a definition set.
func under(t *testing.T, name, log string, more ...string) *report.Run {
	t.Helper()
	q := queryOf(t, more...)
	q.Definition = name
	return &analyze(t, q, textFile{name: "log.jsonl", text: log}).Runs[0]
}

// TestDefinitionsOfOneRequest holds what each tool makes of one request: times
// in ms, rates in tokens per second; -1: the tool has no such figure.
func TestDefinitionsOfOneRequest(t *testing.T) {
	const none = -1
	tested := map[string]bool{}
	for _, want := range []struct {
		name                  string
		ttft, e2e, n          float64
		tpot                  float64
		gaps                  int64 // values in the list
		itl, median           float64
		request, total, ntpot float64 // tps_request, tps_e2e; ntpot
	}{
		{"default", 120, 210, 10, 10, 3, 30, 30, 100, 10 / 0.210, 21},
		{"vllm-2026", 100, 210, 10, 110.0 / 9, 4, 27.5, 30, 9 / 0.110, 10 / 0.210, 21},
		{"vllm-2024", 150, 261, 10, 111.0 / 9, 2, 30, 30, 9 / 0.111, 10 / 0.261, 26.1},
		{"sglang", 150, 261, 10, 111.0 / 9, 2, 30, 30, 9 / 0.111, 10 / 0.261, 26.1},
		{"aiperf", 120, 210, 10, 10, 3, 30, 30, 100, 10 / 0.210, 21},
		{"genai-perf", 150, 210, 9, 7.5, 0, none, none, 1000 / 7.5, 9 / 0.210, 210.0 / 9},
		{"guidellm", 120, 261, 10, 21, 9, 10, 10, 10 / 0.210, 10 / 0.261, 26.1},
		{"inference-perf", 150, 261, 9, 7.5, 8, 7.5, 0, 1000 / 7.5, 9 / 0.261, 29},
		{"inference-perf-server", 150, 261, 10, 60.0 / 9, 8, 7.5, 0, 9 / 0.060, 10 / 0.261, 26.1},
		{"llmperf", 150, 261, 10, none, 1, 42, 42, none, 10 / 0.261, 26.1},
		{"llmperf-2023", 150, 261, 10, none, 1, 21, 21, none, 10 / 0.261, 26.1},
		{"mlperf", 120, 210, 10, 10, 0, none, none, 100, 10 / 0.210, 21},
		{"databricks", 120, 210, 10, 9, 0, none, none, 1000.0 / 9, 10 / 0.210, 21},
		{"llamacpp", 120, 210, 10, 9, 0, none, none, 1000.0 / 9, 10 / 0.210, 21},
		{"litellm", 100, 261, 10, 26.1, 0, none, none, 10 / 0.261, 10 / 0.261, 26.1},
	} {
		tested[want.name] = true
		m := under(t, want.name, fmt.Sprintf(workedRequest, "")).Metrics
		check := func(metric string, got, want float64) {
			t.Helper()
			if v := m[metric]; want == none {
				if v.N != 0 || v.Reason != "not_defined" {
					t.Errorf("%s: %+v; there is no such figure", metric, v)
				}
				return
			}
			if m[metric].N == 0 || math.Abs(got-want) > 1e-9*want {
				t.Errorf("%s: %v of %d (%s), want %v", metric, got, m[metric].N, m[metric].Reason, want)
			}
		}
		t.Run(want.name, func(t *testing.T) {
			check("ttft", m["ttft"].Mean/1e6, want.ttft)
			check("ttfot", m["ttfot"].Mean/1e6, 150)
			check("e2e", m["e2e"].Mean/1e6, want.e2e)
			check("output_tokens", m["output_tokens"].Mean, want.n)
			check("tpot", m["tpot"].Mean/1e6, want.tpot)
			check("chunk_gap", m["chunk_gap"].Mean/1e6, want.itl)
			if want.median == 0 {
				check("chunk_gap", 1+m["chunk_gap"].Quantiles["0.5"], 1)
			} else {
				check("chunk_gap", m["chunk_gap"].Quantiles["0.5"]/1e6, want.median)
			}
			check("tps_request", m["tps_request"].Mean, want.request)
			check("tps_e2e", m["tps_e2e"].Mean, want.total)
			check("ntpot", m["ntpot"].Mean/1e6, want.ntpot)
			if n := m["chunk_gap"].N; n != want.gaps {
				t.Errorf("%d gaps, want %d", n, want.gaps)
			}
		})
	}
	for _, d := range metric.Definitions() {
		if !tested[d.Name] {
			t.Errorf("nobody says what %s makes of the request", d.Name)
		}
	}
	m := under(t, "sglang", fmt.Sprintf(workedRequest, `,"spec_accepted":6`)).Metrics["chunk_gap"]
	if m.N != 6 || math.Abs(m.Mean/1e6-10) > 1e-9 {
		t.Errorf("sglang with speculative decoding: %d gaps of %v", m.N, m.Mean)
	}
}

// TestDefinitionsPeakIsTheClients: vLLM's client counts chunks in seconds from
// the first send; so do we under its definition, on a real file.
func TestDefinitionsPeakIsTheClients(t *testing.T) {
	text, err := os.ReadFile(data(t, "vllm/bench-serve-2026-07-spec-2of4-failed.json")[0])
	if err != nil {
		t.Fatal(err)
	}
	r := under(t, "vllm-2026", string(text))
	for _, f := range r.Reported {
		if f.Key == "max_output_tokens_per_s" {
			isRate(t, r, "tps_peak", f.Value)
			return
		}
	}
	t.Error("the file does not tell its peak")
}

// TestDefinitionsDeviation: llmperf takes standard deviations with pandas, which
// divides by n - 1; the other tools take them with numpy, which divides by n. In
// real files, what llmperf itself says of its requests is what we compute.
func TestDefinitionsDeviation(t *testing.T) {
	log := ""
	for i := 1; i <= 3; i++ { // TTFT 1, 2 and 3 s
		log += fmt.Sprintf(`{"request_id":"%d","side":"client","clock":"run","sent":0,"token_timestamps":[%d,5],"finished":6,"client_tokens":2,"output_tokens":2}`+"\n", i, i)
	}
	for name, want := range map[string]float64{"default": math.Sqrt(2.0/3) * 1e9, "llmperf": 1e9, "llmperf-2023": 1e9} {
		if got := under(t, name, log).Metrics["ttft"].Std; math.Abs(got-want) > 1 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if got := under(t, "llmperf", log[:len(log)/3]).Metrics["ttft"]; got.N != 1 || !math.IsNaN(got.Std) {
		t.Errorf("one value has a deviation of %v", got.Std)
	}
	files := data(t, "peers/llmperf/anyscale_7b.json")
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	summary, err := os.ReadFile(data(t, "peers/llmperf/anyscale_7b.summary.json")[0])
	if err != nil {
		t.Fatal(err)
	}
	var told map[string]any
	if err := json.Unmarshal(summary, &told); err != nil {
		t.Fatal(err)
	}
	q := &query.Query{Definition: "llmperf-2023", Ranks: []float64{0.25, 0.5, 0.75, 0.9, 0.95, 0.99}}
	m := analyze(t, q, textFile{name: "anyscale_7b.json", text: string(text)}).Runs[0].Metrics
	for metric, key := range map[string]string{"ttft": "ttft_s", "chunk_gap": "inter_token_latency_s", "e2e": "end_to_end_latency_s"} {
		v := m[metric]
		got := map[string]float64{"mean": v.Mean, "stddev": v.Std, "min": v.Min, "max": v.Max}
		for _, p := range []int{25, 50, 75, 90, 95, 99} {
			got[fmt.Sprintf("quantiles_p%d", p)] = v.Quantiles[fmt.Sprint(float64(p)/100)]
		}
		for stat, v := range got {
			want, ok := told["results_"+key+"_"+stat].(float64)
			if !ok || math.Abs(v-1e9*want) > 1e-9*v && math.Abs(v-1e9*want) > 1 {
				t.Errorf("%s of %s: %v, llmperf says %v s", stat, metric, v, want)
			}
		}
	}
}
