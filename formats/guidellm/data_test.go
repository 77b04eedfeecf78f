package guidellm

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"servescope/formats"
	"servescope/formats/source"
)

// TestRealFile compares the figures of a real report with what encoding/json
// reads in it. p001 is the rank of one in a thousand.
func TestRealFile(t *testing.T) {
	var text []byte
	for _, dir := range []string{os.Getenv("SERVESCOPE_DATA"), "../../../shared/data", "../../../../shared/data"} {
		if b, err := os.ReadFile(filepath.Join(dir, "peers/guidellm/guidellm_report_v2.json")); err == nil && dir != "" {
			text = b
			break
		}
	}
	if text == nil {
		t.Skip("the real file is not here")
	}
	var want struct {
		Benchmarks []struct {
			Duration float64
			Metrics  map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	r, err := Format.Open(context.Background(), source.FromBytes("r", text), formats.Whole, formats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
		t.Error("a row")
	}
	if len(r.Runs()) != 2 || len(r.Diags().All()) != 0 {
		t.Fatalf("%d runs, %v", len(r.Runs()), r.Diags().All())
	}
	for i, m := range r.Runs() {
		b := want.Benchmarks[i]
		if m.Model != "e2e-mock-model" || m.Version != "0.8.0.dev18" || math.Abs(float64(m.Duration)-b.Duration*1e9) > 1 {
			t.Errorf("%+v", m)
		}
		found := 0
		for name, stats := range map[string]map[string]string{
			"ttft":      {"mean": "mean", "std": "std_dev", "min": "min", "max": "max", "0.001": "p001", "0.01": "p01", "0.5": "p50", "0.99": "p99", "0.999": "p999"},
			"tpot":      {"mean": "mean", "0.9": "p90"},
			"chunk_gap": {"mean": "mean", "0.9": "p90"},
		} {
			key := map[string]string{"ttft": "time_to_first_token_ms", "tpot": "time_per_output_token_ms", "chunk_gap": "inter_token_latency_ms"}[name]
			var d struct {
				Successful struct {
					Mean, Min, Max float64
					Std            float64 `json:"std_dev"`
					Percentiles    map[string]float64
				}
			}
			if err := json.Unmarshal(b.Metrics[key], &d); err != nil {
				t.Fatal(err)
			}
			s := d.Successful
			values := map[string]float64{"mean": s.Mean, "min": s.Min, "max": s.Max, "std_dev": s.Std}
			for p, v := range s.Percentiles {
				values[p] = v
			}
			for _, f := range m.Reported {
				theirs, ok := stats[f.Stat]
				if !ok || f.Metric != name {
					continue
				}
				found++
				if v := values[theirs] * 1e6; math.Abs(v-f.Value) > 1e-12*v {
					t.Errorf("%s: %v, want %v", f.Key, f.Value, v)
				}
			}
		}
		if found != 14 { // the median stands there twice, once as p50
			t.Errorf("%d figures compared", found)
		}
	}
}
