package llmperf

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

// realFile returns a real result, or skips the test.
func realFile(t *testing.T, name string) []byte {
	t.Helper()
	for _, dir := range []string{os.Getenv("SERVESCOPE_DATA"), "../../../shared/data", "../../../../shared/data"} {
		if b, err := os.ReadFile(filepath.Join(dir, "peers/llmperf", name)); err == nil && dir != "" {
			return b
		}
	}
	t.Skip("the real files are not here")
	return nil
}

// TestRealFiles compares the rows of real results with what encoding/json reads
// in them.
func TestRealFiles(t *testing.T) {
	for name, failures := range map[string]int{"lepton_7b.json": 130, "bedrock_70b.json": 49, "anyscale_7b.json": 0, "groq_70b.json": 0, "replicate_13b.json": 0} {
		text := realFile(t, name)
		var want []struct {
			Code   *int    `json:"error_code"`
			ITL    float64 `json:"inter_token_latency_s"`
			TTFT   float64 `json:"ttft_s"`
			E2E    float64 `json:"end_to_end_latency_s"`
			Output int64   `json:"number_output_tokens"`
			Input  int64   `json:"number_input_tokens"`
		}
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		r, err := Format.Open(context.Background(), source.FromBytes(name, text), formats.Whole, formats.Options{})
		if err != nil {
			t.Fatal(err)
		}
		n, failed := 0, 0
		near := func(what string, v int64, s float64) {
			if math.Abs(float64(v)-s*1e9) > 1 {
				t.Errorf("%s, request %d: %s is %d ns, want %v s", name, n, what, v, s)
			}
		}
		for r.Next() {
			b := r.Batch()
			for i := range b.Rows {
				w := want[n]
				status, _ := b.Dicts(trace.StatusCol).At(i)
				first, timed := b.Ints(trace.FirstToken).At(i)
				last, ended := b.Ints(trace.LastToken).At(i)
				end, _ := b.Ints(trace.Finished).At(i)
				output, _ := b.Ints(trace.OutputTokens).At(i)
				prompt, _ := b.Ints(trace.PromptTokens).At(i)
				if w.Code != nil {
					failed++
				}
				if (w.Code != nil) != (trace.Status(status) == trace.Failed) || timed != (w.TTFT > 0) || prompt != w.Input {
					t.Errorf("%s, request %d: status %d, TTFT known: %v", name, n, status, timed)
				}
				if timed {
					near("TTFT", first, w.TTFT)
					near("E2E", end, w.E2E)
				}
				if w.Code == nil {
					near("last token", last, w.ITL*float64(w.Output))
					if !ended || output != w.Output-1 || last < first || last > end {
						t.Errorf("%s, request %d: %d ≤ %d ≤ %d does not hold", name, n, first, last, end)
					}
				}
				n++
			}
		}
		if n != 150 || failed != failures || r.Err() != nil || len(r.Diags().All()) != 0 {
			t.Errorf("%s: %d requests, %d failed: %v", name, n, failed, r.Diags().All())
		}
		zeros := int64(0)
		for _, d := range r.Runs()[0].Doubts {
			if d.Key == "ttft_s" && d.Why == neverSet {
				zeros = d.Count
			}
		}
		if name == "lepton_7b.json" && zeros != 130 {
			t.Errorf("%d failures carry a TTFT of 0", zeros)
		}
		r.Close()
	}
}

// TestRealSummary: the length of the run follows from two figures, and with it
// the third: tokens per second × length = tokens.
func TestRealSummary(t *testing.T) {
	r, err := Format.Open(context.Background(), source.FromBytes("s", realFile(t, "anyscale_7b.summary.json")), formats.Whole, formats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
		t.Error("a row")
	}
	m := r.Runs()[0]
	for _, f := range m.Reported {
		if f.Key == "results_mean_output_throughput_token_per_s" {
			if got, want := f.Value*float64(m.Duration)/1e9, 150*150.99333333333334; math.Abs(got-want) > 1e-6*want {
				t.Errorf("%v tokens, want %v", got, want)
			}
		}
	}
	if len(m.Reported) != 66 || m.Model == "" || math.Abs(float64(m.Duration)-150/78.77879971460449*60e9) > 1 {
		t.Errorf("%d figures, %d ns, %q", len(m.Reported), m.Duration, m.Model)
	}
}
