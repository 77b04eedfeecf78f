package benchconsole

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats"
	"servescope/formats/source"
)

func read(t *testing.T, text string) ([]*trace.RunMeta, formats.Account, []string) {
	t.Helper()
	r, err := Format.Open(context.Background(), source.FromBytes("t", []byte(text)), formats.Whole, formats.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	var codes []string
	for _, d := range r.Diags().All() {
		codes = append(codes, d.Code)
	}
	return r.Runs(), r.Account(), codes
}

const (
	head = "============ Serving Benchmark Result ============\n"
	foot = "==================================================\n"
)

func TestLabels(t *testing.T) {
	for line, want := range map[string]trace.Reported{
		"Total Token throughput (tok/s):          662.28    ": {Key: "Total Token throughput (tok/s)", Metric: "tps_end_to_end", Stat: "value", Value: 662.28, Unit: unit.TokenRate, Step: 0.005},
		"Total token throughput (tok/s):          662.28":     {Key: "Total token throughput (tok/s)", Metric: "tps_end_to_end", Stat: "value", Value: 662.28, Unit: unit.TokenRate, Step: 0.005},
		"Median E2E Latency (ms):                 8492.39":    {Key: "Median E2E Latency (ms)", Metric: "e2e", Stat: "0.5", Value: 8492_390_000, Unit: unit.Nanosecond, Step: 5e3},
		"P99.9 TTFT (ms): 1000.0\r":                           {Key: "P99.9 TTFT (ms)", Metric: "ttft", Stat: "0.999", Value: 1e9, Unit: unit.Nanosecond, Step: 5e4},
		"P5 ITL (ms): 0.5":                                    {Key: "P5 ITL (ms)", Metric: "chunk_gap", Stat: "0.05", Value: 5e5, Unit: unit.Nanosecond, Step: 5e4},
		"Mean Queue Time (ms): 1.5":                           {Key: "Mean Queue Time (ms)", Stat: "mean", Value: 15e5, Unit: unit.Nanosecond, Step: 5e4},
		"Failed requests:                         0":          {Key: "Failed requests", Stat: "value", Unit: unit.Request},
	} {
		runs, a, codes := read(t, head+line+"\n"+foot)
		if len(runs) != 1 || len(runs[0].Reported) != 1 || runs[0].Reported[0] != want || a.Parsed != 3 || len(codes) != 0 {
			t.Errorf("%q: %+v %v, want %+v", line, runs[0].Reported, codes, want)
		}
	}
	for line, code := range map[string]string{
		"Median TPOT (ms):  -0.00": "impossible_figure", "Mean ITL (ms): 0.00": "impossible_figure", "Mean TTFT (ms): nan": "", "Segmentation fault": "unknown_line",
	} {
		runs, _, codes := read(t, head+line+"\n"+foot)
		if len(runs[0].Reported) != 0 || strings.Join(codes, " ") != code {
			t.Errorf("%q: %+v %v, want %s", line, runs[0].Reported, codes, code)
		}
	}
}

// TestReal holds a real console to the two decimals that can be read in it.
func TestReal(t *testing.T) {
	text, err := os.ReadFile(dataFile(t, "sglang/bench_serving-console.txt"))
	if err != nil {
		t.Fatal(err)
	}
	runs, a, codes := read(t, string(text))
	lines := int64(strings.Count(string(text), "\n"))
	if !strings.HasSuffix(string(text), "\n") {
		lines++
	}
	inside := strings.Split(strings.SplitAfter(string(text), "Serving Benchmark Result ============\n")[1], "\n"+strings.TrimSuffix(foot, "\n"))[0]
	var rows int64
	for line := range strings.Lines(inside) {
		if strings.Contains(line, ":") {
			rows++
		}
	}
	if a.Total != lines || a.Diagnosed != 0 || a.Kinds["row"] != rows || a.Kinds["table"] != 1 || a.Kinds["table end"] != 1 || len(codes) != 0 {
		t.Errorf("account %+v, %d lines, %d rows, %v", a, lines, rows, codes)
	}
	m := runs[0]
	if m.Engine != "sglang" || !strings.HasSuffix(m.Model, "Qwen3-32B") || m.Duration != 33_800_000_000 {
		t.Errorf("%+v", m)
	}
	want := map[string]float64{"Mean TTFT (ms)": 270.69e6, "P99 ITL (ms)": 19.92e6, "Max ITL (ms)": 118.75e6, "Output token throughput (tok/s)": 177.52, "Total generated tokens": 6000}
	for _, f := range m.Reported {
		if w, ok := want[f.Key]; ok && w == f.Value {
			delete(want, f.Key)
		}
	}
	if len(want) > 0 {
		t.Errorf("missing or wrong %v in %+v", want, m.Reported)
	}
}

func dataFile(t *testing.T, name string) string {
	for _, dir := range []string{os.Getenv("SERVESCOPE_DATA"), "../../../shared/data", "../../../../shared/data"} {
		if path := filepath.Join(dir, name); dir != "" {
			if _, err := os.Stat(path); err == nil {
				return path
			}
		}
	}
	t.Skipf("%s is not here", name)
	return ""
}
