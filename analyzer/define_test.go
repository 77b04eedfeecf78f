package analyzer

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"servescope/analyzer/assemble"
	"servescope/analyzer/load"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
)

// sideBySide returns a log under every definition set.
func sideBySide(t *testing.T, q *query.Query, list ...textFile) *report.Definitions {
	t.Helper()
	s, err := openAll(t, load.Options{Workers: 2}, list...)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var names []string
	for _, d := range metric.Definitions() {
		names = append(names, d.Name)
	}
	d, err := s.Define(t.Context(), q, append(names, "default", names[1]))
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Sets) != len(names) {
		t.Errorf("%d sets, want %d", len(d.Sets), len(names))
	}
	return d
}

// rowOf returns a metric of a run under a set.
func rowOf(t *testing.T, r *report.DefinedRun, name, set string) *report.DefinedRow {
	t.Helper()
	for i := range r.Metrics {
		for j := range r.Metrics[i].Rows {
			if row := &r.Metrics[i].Rows[j]; r.Metrics[i].Metric == name && row.Definition == set {
				return row
			}
		}
	}
	t.Fatalf("there is no %s under %s", name, set)
	return nil
}

// TestDefineFillsFormulasIn holds how one request's figures come about.
func TestDefineFillsFormulasIn(t *testing.T) {
	d := sideBySide(t, new(query.Query), textFile{name: "log.jsonl", text: fmt.Sprintf(workedRequest, "")})
	for _, want := range []struct{ metric, set, filled, differs string }{
		{"ttft", "vllm-2026", "first event 100 - start 0 = 100 ms", "ends at the first chunk with choices"},
		{"ttft", "aiperf", "first token 120 - start 0 = 120 ms", ""},
		{"e2e", "sglang", "end of the response 261 - start 0 = 261 ms", "ends with the response"},
		{"tpot", "default", "(last token 210 - first token 120) / (10 - 1) = 10 ms", ""},
		{"tpot", "vllm-2026", "(e2e 210 - ttft 100) / (10 - 1) = 12.22 ms", "ttft ends at the first chunk with choices"},
		{"tpot", "vllm-2024", "(e2e 261 - ttft 150) / (10 - 1) = 12.33 ms", "e2e ends with the response"},
		{"tpot", "aiperf", "(e2e 210 - ttft 120) / (10 - 1) = 10 ms", ""},
		{"tpot", "genai-perf", "(e2e 210 - ttft 150) / (9 - 1) = 7.500 ms", "N is the re-tokenised content"},
		{"tpot", "guidellm", "(last token 210 - start 0) / 10 = 21 ms", "includes ttft"},
		{"tpot", "inference-perf", "(last token 210 - first content 150) / (9 - 1) = 7.500 ms", "first non-empty content"},
		{"tpot", "inference-perf-server", "(last token 210 - first content 150) / (10 - 1) = 6.667 ms", "first non-empty content"},
		{"tpot", "databricks", "(e2e 210 - ttft 120) / 10 = 9 ms", "divides by N, not by N - 1"},
		{"chunk_gap", "llmperf", "(last token 210 - start 0) / 5 = 42 ms", "divides by chunks"},
		{"chunk_gap", "inference-perf", "60 ms / 8 gaps = 7.500 ms", "adds a gap of 0"},
		{"ntpot", "inference-perf", "e2e 261 ms / N 9 = 29 ms", "N is the re-tokenised content"},
		{"tps_e2e", "guidellm", "N 10 / e2e 261 ms = 38.31 tok/s", "e2e ends with the response"},
		{"tps_request", "genai-perf", "1 / 7.500 ms = 133.3 tok/s", "N is the re-tokenised content"},
		{"tps_decode", "default", "10 tokens / 210 ms = 47.62 tok/s", ""},
	} {
		row := rowOf(t, &d.Runs[0], want.metric, want.set)
		if row.Filled != want.filled {
			t.Errorf("%s under %s: %q, want %q", want.metric, want.set, row.Filled, want.filled)
		}
		if differs := strings.Join(row.Differs, "; "); !strings.Contains(differs, want.differs) || row.Equal != (want.differs == "") {
			t.Errorf("%s under %s: equal %v, differs %q", want.metric, want.set, row.Equal, differs)
		}
	}
	if row := rowOf(t, &d.Runs[0], "tpot", "llmperf"); row.Value.Known || row.Value.Reason != "not_defined" || row.Filled != "" {
		t.Errorf("llmperf has no TPOT: %+v", row)
	}
	if names := rowOf(t, &d.Runs[0], "tpot", "aiperf").Name + rowOf(t, &d.Runs[0], "chunk_gap", "aiperf").Name; names != "ITLICL" {
		t.Errorf("AIPerf calls them %s", names)
	}
}

// TestDefineIsWhatRunComputes holds every figure of every set to the report under
// that set, and says of no set that differs that it equals ours.
func TestDefineIsWhatRunComputes(t *testing.T) {
	list := []textFile{{name: "a.jsonl", text: sample(t, "tokenlog.jsonl")}, {name: "b.json", text: sample(t, "vllm-bench.json")}}
	q := queryOf(t, "filter=prompt_tokens > 300")
	q.SLO = []query.Limit{{Metric: "ttft", Max: 200e6}, {Metric: "tpot", Max: 30e6}}
	d := sideBySide(t, q, list...)
	for _, set := range d.Sets {
		under := *q
		under.Definition = set.Name
		r := analyze(t, &under, list...)
		for i := range r.Runs {
			for _, m := range d.Runs[i].Metrics {
				row, ours := rowOf(t, &d.Runs[i], m.Metric, set.Name), rowOf(t, &d.Runs[i], m.Metric, "default")
				want := r.Runs[i].Throughput.Values[m.Metric]
				if !assemble.Rated(m.Metric) {
					of := r.Runs[i].Metrics[m.Metric]
					if want = report.Null(of.Reason); of.N > 0 {
						want = report.Known(of.Mean, of.Unit)
					}
					if p99 := row.P99; row.N != of.N || p99.Known && p99.V != of.Quantiles["0.99"] {
						t.Errorf("%s of %s under %s: %d values, p99 %v", m.Metric, d.Runs[i].Label, set.Name, row.N, p99)
					}
				}
				if row.Value.Known != want.Known || row.Value.V != want.V || row.Value.Reason != want.Reason {
					t.Errorf("%s of %s under %s: %+v, want %+v", m.Metric, d.Runs[i].Label, set.Name, row.Value, want)
				}
				if equal := want.Known && math.Abs(want.V-ours.Value.V) <= 1e-9*want.V; row.Equal != equal && set.Name != "default" {
					t.Errorf("%s of %s under %s: equal %v", m.Metric, d.Runs[i].Label, set.Name, row.Equal)
				}
				if want.Known && (row.Filled == "" || !row.Equal && len(row.Differs) == 0) {
					t.Errorf("%s of %s under %s says nothing: %+v", m.Metric, d.Runs[i].Label, set.Name, row)
				}
			}
		}
	}
	if text, err := json.Marshal(d); err != nil || !json.Valid(text) {
		t.Error(err)
	}
}

// TestDefineMeansOfQuotients: where a mean of quotients is not the quotient of
// the means, both are told.
func TestDefineMeansOfQuotients(t *testing.T) {
	line := `{"request_id":"%d","side":"client","clock":"run","sent":0,"token_timestamps":[0.1,%v],"output_tokens":%d}` + "\n"
	log := fmt.Sprintf(line, 1, "0.11", 2) + fmt.Sprintf(line, 2, "20.1", 1001) // TPOT 10 and 20 ms
	d := sideBySide(t, new(query.Query), textFile{name: "log.jsonl", text: log})
	const want = "(last token 10105 - first token 100) / (501.5 - 1) = 19.99 ms of the means; the mean over 2 requests is 15 ms"
	if row := rowOf(t, &d.Runs[0], "tpot", "default"); row.Filled != want {
		t.Errorf("%q, want %q", row.Filled, want)
	}
	// GuideLLM's requests weigh their tokens: its mean is the quotient of the sums.
	if row := rowOf(t, &d.Runs[0], "tpot", "guidellm"); row.Filled != "(last token 10105 - start 0) / 501.5 = 20.15 ms" {
		t.Errorf("%q", row.Filled)
	}
	if !slices.Contains(rowOf(t, &d.Runs[0], "tpot", "guidellm").Differs, "requests weigh N") {
		t.Error("nothing is said of weights")
	}
}
