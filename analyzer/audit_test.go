package analyzer

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"servescope/analyzer/query"
	"servescope/analyzer/report"
)

// peers returns the real results of another tool below a folder, or skips.
func peers(t *testing.T, pattern string) []textFile {
	t.Helper()
	for _, dir := range []string{os.Getenv("SERVESCOPE_DATA"), "../../shared/data", "../../../shared/data"} {
		names, _ := filepath.Glob(filepath.Join(dir, "peers", pattern))
		if dir == "" || len(names) == 0 {
			continue
		}
		var list []textFile
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, textFile{name: filepath.Base(name), text: string(text)})
		}
		return list
	}
	t.Skip("the real files are not here")
	return nil
}

// finding returns the finding about a figure, or nil.
func finding(a *report.Audit, key string) *report.Finding {
	for i := range a.Findings {
		if a.Findings[i].Key == key {
			return &a.Findings[i]
		}
	}
	return nil
}

// TestAuditInferencePerf: reports in which every token was counted twice. Their
// mean TPOT is 2.08 to 2.13 times too small, with speculative decoding 1.84 to
// 1.90 times, as the E2E, TTFT and output length of the same report tell.
func TestAuditInferencePerf(t *testing.T) {
	for pattern, factors := range map[string][2]float64{"inference-perf/vllm/*lifecycle*": {2.08, 2.13}, "inference-perf/vllm+eagle/*lifecycle*": {1.83, 1.91}} {
		files := peers(t, pattern)
		if len(files) != 8 {
			t.Errorf("%s: %d files", pattern, len(files))
		}
		for _, in := range files {
			a := analyze(t, new(query.Query), in).Runs[0].Audit
			for _, key := range []string{"successes.latency.time_per_output_token.mean", "successes.latency.inter_token_latency.mean"} {
				f := finding(a, key)
				if f == nil || f.Kind != "identity" || f.Factor.V < factors[0] || f.Factor.V > factors[1] {
					t.Errorf("%s: %s: %+v", in.name, key, f)
				}
			}
			if f := finding(a, "load_summary.schedule_delay.min"); f == nil || f.Kind != "impossible" || f.Value.V >= 0 {
				t.Errorf("%s: the negative delay: %+v", in.name, f)
			}
			if a.Broken != 2 || a.Unchecked != a.Figures || a.Definition != "inference-perf" {
				t.Errorf("%s: %+v", in.name, a)
			}
		}
	}
}

// TestAuditLLMPerf: 130 of 150 requests failed and carry a TTFT of 0.
func TestAuditLLMPerf(t *testing.T) {
	r := analyze(t, new(query.Query), peers(t, "llmperf/lepton_7b.json")[0]).Runs[0]
	f := finding(r.Audit, "ttft_s")
	if f == nil || f.Kind != "impossible" || f.Count != 130 || !f.Value.Known || f.Value.V != 0 || math.Abs(f.Factor.V-7.5) > 1e-12 {
		t.Errorf("%+v", f)
	}
	if m := r.Metrics["ttft"]; m.N != 20 || m.Min <= 0 || m.Excluded["failed"] != 130 || r.Requests.Failed != 130 {
		t.Errorf("%+v", m)
	}
}

// TestAuditUnited: requests and summary of one run, put together by a label. The
// summary is that of the requests: latencies and counts are equal, deviations
// of a sample included, and the throughput of a request counts chunks, 152 for 151
// tokens.
func TestAuditUnited(t *testing.T) {
	files := peers(t, "llmperf/anyscale_7b*.json")
	for i := range files {
		files[i].label = "anyscale"
	}
	a := analyze(t, new(query.Query), files...).Runs[0].Audit
	if a.Figures != 66 || a.Equal != 55 || a.Explained != 0 || a.Differs != 10 || a.Unchecked != 1 || a.Broken != 0 || a.Definition != "llmperf-2023" {
		t.Errorf("%+v", a)
	}
	for _, f := range a.Findings {
		switch {
		case f.Kind == "differs" && strings.Contains(f.Key, "throughput") && math.Abs(f.Factor.V-151.0/152) < 1e-3:
		default:
			t.Errorf("%+v", f)
		}
	}
}

// TestAuditGuideLLM: figures of a tool that includes TTFT in TPOT agree with each
// other under its own formulas.
func TestAuditGuideLLM(t *testing.T) {
	for _, r := range analyze(t, new(query.Query), peers(t, "guidellm/*.json")[0]).Runs {
		if r.Audit.Broken != 0 || r.Audit.Checks < 10 || len(r.Audit.Findings) != 0 {
			t.Errorf("%s: %+v", r.Label, r.Audit)
		}
	}
}

// faulty analyzes a result written for the tests.
func faulty(t *testing.T, name string, list ...textFile) *report.Report {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../testdata/formats", name, "input.json"))
	if err != nil {
		t.Fatal(err)
	}
	return analyze(t, new(query.Query), append(list, textFile{name: name, text: string(text)})...)
}

// TestAuditFaults: the same faults in files of our own. In the first 50 tokens
// take 530 - 40 = 490 ms after the first, 10 ms each: the report says 5.
func TestAuditFaults(t *testing.T) {
	a := faulty(t, "inferenceperf/counted-twice").Runs[0].Audit
	for _, key := range []string{"successes.latency.time_per_output_token.mean", "successes.latency.inter_token_latency.mean"} {
		if f := finding(a, key); f == nil || math.Abs(f.Factor.V-2) > 1e-9 || math.Abs(f.Expected.V-10e6) > 1e-3 {
			t.Errorf("%s: %+v", key, f)
		}
	}
	if len(a.Findings) != 3 { // and the negative delay
		t.Errorf("%+v", a.Findings)
	}
	// Two failures carry zeros, one a sum that was never divided. Of the others
	// the tool has a TTFT of 100, 200, 50 and, of an empty answer, 0 ms.
	a = faulty(t, "llmperf/individual").Runs[0].Audit
	if f := finding(a, "ttft_s"); f == nil || f.Count != 2 || math.Abs(f.Factor.V-6.0/4) > 1e-9 {
		t.Errorf("%+v", f)
	}
	undivided := 0
	for _, f := range a.Findings {
		if f.Key == "inter_token_latency_s" && f.Count == 1 && !f.Value.Known {
			undivided++
		}
	}
	if undivided != 1 || len(a.Findings) != 4 {
		t.Errorf("%+v", a.Findings)
	}
}

// TestAuditEqual: figures that were computed by hand from the requests beside
// them, under the tool's own rules, are equal; a rate is over its duration.
func TestAuditEqual(t *testing.T) {
	r := faulty(t, "guidellm/report-v2").Runs[0]
	for _, line := range r.Reported {
		switch name, _, _ := strings.Cut(strings.TrimPrefix(line.Key, "metrics."), "."); name {
		case "requests_per_second":
			if line.Metric != "" && line.Verdict != "explained" {
				t.Errorf("%+v", line)
			}
		case "request_latency", "prompt_token_count", "output_token_count", "time_to_first_token_ms", "time_per_output_token_ms", "inter_token_latency_ms":
			if line.Verdict != "equal" || line.Own.V != line.Value {
				t.Errorf("%+v", line)
			}
		}
	}
	if a := r.Audit; a.Differs != 0 || a.Equal < 90 || a.Definition != "guidellm" {
		t.Errorf("%+v", a)
	}
}

// TestAuditManyTokens: the lists of very many tokens are not read again for an
// audit. Rates over the producer's duration need none.
func TestAuditManyTokens(t *testing.T) {
	for tokens, want := range map[string]string{"9": "equal equal equal equal", "9000000": "equal unchecked equal equal"} {
		text := strings.ReplaceAll(`{"model_id": "m", "endpoint_type": "vllm", "backend": "vllm", "num_prompts": 2, "request_rate": "inf", "burstiness": 1.0, "duration": 2.0, "completed": 2, `+
			`"mean_ttft_ms": 150.0, "mean_itl_ms": 20.0, "request_throughput": 1.0, "output_throughput": N.0, "input_lens": [5, 5], "output_lens": [N, N], "ttfts": [0.1, 0.2], `+
			`"itls": [[0.02], [0.02]], "errors": ["", ""]}`, "N", tokens)
		r := analyze(t, new(query.Query), textFile{name: "x", text: text}).Runs[0]
		verdicts := make(map[string]string)
		for _, line := range r.Reported {
			verdicts[line.Key] = line.Verdict
		}
		got := strings.Join([]string{verdicts["mean_ttft_ms"], verdicts["mean_itl_ms"], verdicts["request_throughput"], verdicts["output_throughput"]}, " ")
		if got != want {
			t.Errorf("%s tokens: %s, want %s", tokens, got, want)
		}
	}
}

// TestAuditSums: 5 + 7 prompt tokens and 9 + 4 output tokens of the requests that
// succeeded are 12 and 13; the prompt of the failed one is in neither sum. A sum
// that was counted twice differs by a factor of 2.
func TestAuditSums(t *testing.T) {
	for sums, want := range map[string]string{
		`"total_input_tokens": 12, "total_output_tokens": 13`: "equal equal",
		`"total_input_tokens": 15, "total_output_tokens": 26`: "differs differs",
	} {
		text := `{"model_id": "m", "endpoint_type": "vllm", "backend": "vllm", "num_prompts": 3, "request_rate": "inf", "burstiness": 1.0, "duration": 2.0, "completed": 2, "failed": 1, ` +
			sums + `, "input_lens": [5, 3, 7], "output_lens": [9, 0, 4], "ttfts": [0.1, 0, 0.2], "itls": [[0.02], [], [0.02]], "errors": ["", "HTTP 503", ""]}`
		r := analyze(t, new(query.Query), textFile{name: "x", text: text}).Runs[0]
		verdicts := make(map[string]string)
		for _, line := range r.Reported {
			verdicts[line.Key] = line.Verdict
		}
		if got := verdicts["total_input_tokens"] + " " + verdicts["total_output_tokens"]; got != want {
			t.Errorf("%s: %s, want %s", sums, got, want)
		}
		if f := finding(r.Audit, "total_output_tokens"); want != "equal equal" && (f == nil || f.Factor.V != 0.5) { // theirs × factor = ours
			t.Errorf("%+v", f)
		}
	}
}
