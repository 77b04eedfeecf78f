package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// figure is a metric of a report as far as the tests need it.
type figure struct {
	N         int
	Mean      float64
	Std       float64
	Min       float64
	Max       float64
	Quantiles map[string]float64
}

// analyze returns the metrics of the only run in a file.
func analyze(t *testing.T, args ...string) map[string]figure {
	t.Helper()
	cmd := exec.Command(command(t), append([]string{"analyze", "--format", "json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Runs []struct{ Metrics map[string]figure }
	}
	if err := json.Unmarshal(out, &report); err != nil || len(report.Runs) != 1 {
		t.Fatalf("%v, %d runs", err, len(report.Runs))
	}
	return report.Runs[0].Metrics
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-12*math.Abs(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// TestSampleOfBenchmark compares the report with the aggregates in the sample,
// which its generator computed by their definitions.
func TestSampleOfBenchmark(t *testing.T) {
	const path = "../../testdata/sample/vllm-bench.json"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]any
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	metrics := analyze(t, "--definition", "vllm-2026", path)
	for ours, theirs := range map[string]string{"ttft": "ttft", "tpot": "tpot", "chunk_gap": "itl"} {
		m := metrics[ours]
		for key, got := range map[string]float64{"mean": m.Mean, "std": m.Std, "median": m.Quantiles["0.5"], "p99": m.Quantiles["0.99"]} {
			want, ok := file[key+"_"+theirs+"_ms"].(float64)
			if !ok {
				t.Fatalf("the sample lacks %s_%s_ms", key, theirs)
			}
			near(t, key+" of "+ours, got, want*1e6)
		}
	}
}

// TestSampleOfTokenLog compares the report with sums taken here from the decimal
// digits of the file, in whole microseconds.
func TestSampleOfTokenLog(t *testing.T) {
	const path = "../../testdata/sample/tokenlog.jsonl"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var ttft, e2e, gaps []int64
	var tpot []float64
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var r struct {
			Arrival json.Number
			Times   []json.Number `json:"token_timestamps"`
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		n := len(r.Times)
		if n == 0 {
			continue // the request that failed
		}
		first, last := micros(t, r.Times[0]), micros(t, r.Times[n-1])
		ttft, e2e = append(ttft, first-micros(t, r.Arrival)), append(e2e, last-micros(t, r.Arrival))
		for i := range n - 1 {
			gaps = append(gaps, micros(t, r.Times[i+1])-micros(t, r.Times[i]))
		}
		if n > 1 {
			tpot = append(tpot, float64(last-first)*1e3/float64(n-1))
		}
	}
	metrics := analyze(t, path)
	for name, values := range map[string][]int64{"ttft": ttft, "e2e": e2e, "chunk_gap": gaps} {
		sum, low, high := int64(0), values[0], values[0]
		for _, v := range values {
			sum, low, high = sum+v, min(low, v), max(high, v)
		}
		m := metrics[name]
		if m.N != len(values) || m.Min != float64(low)*1e3 || m.Max != float64(high)*1e3 {
			t.Errorf("%s: n %d, min %v, max %v, want %d, %d µs, %d µs", name, m.N, m.Min, m.Max, len(values), low, high)
		}
		near(t, "mean of "+name, m.Mean, float64(sum)*1e3/float64(len(values)))
	}
	sum := 0.0
	for _, v := range tpot {
		sum += v
	}
	if m := metrics["tpot"]; m.N != len(tpot) {
		t.Errorf("tpot: n %d, want %d", m.N, len(tpot))
	}
	near(t, "mean of tpot", metrics["tpot"].Mean, sum/float64(len(tpot)))
}

// micros returns decimal seconds with six digits as whole microseconds.
func micros(t *testing.T, seconds json.Number) int64 {
	t.Helper()
	whole, fraction, _ := strings.Cut(string(seconds), ".")
	v, err := strconv.ParseInt(whole+fraction, 10, 64)
	if err != nil || len(fraction) != 6 {
		t.Fatalf("%s: %v", seconds, err)
	}
	return v
}
