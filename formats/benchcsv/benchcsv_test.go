package benchcsv

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

func read(t *testing.T, text []byte) ([]*trace.RunMeta, formats.Account, []string) {
	t.Helper()
	r, err := Format.Open(context.Background(), source.FromBytes("t", text), formats.Whole, formats.Options{Workers: 1})
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

// TestReal writes the real summary of a sweep as the table that pandas makes of
// it, and compares the figures with those of the summary.
func TestReal(t *testing.T) {
	text, err := os.ReadFile(dataFile(t, "vllm/bench-sweep-summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []map[string]any
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	columns := slices.Sorted(maps.Keys(list[0]))
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.Write(append([]string{""}, columns...))
	for i, run := range list {
		row := []string{fmt.Sprint(i)}
		for _, c := range columns {
			cell := ""
			if v := run[c]; v != nil {
				cell = fmt.Sprint(v)
			}
			row = append(row, cell)
		}
		w.Write(row)
	}
	w.Flush()
	runs, a, codes := read(t, out.Bytes())
	if len(runs) != len(list) || a.Total != int64(len(list))+1 || len(codes) != 0 {
		t.Fatalf("%d runs, %+v, %v", len(runs), a, codes)
	}
	for i, m := range runs {
		n := 0
		for _, f := range m.Reported {
			want := list[i][f.Key].(float64)
			if strings.HasSuffix(f.Key, "_ms") {
				n++
				want *= 1e6
			}
			if math.Abs(f.Value-want) > math.Abs(want)*1e-12 {
				t.Errorf("run %d, %s: %v, want %v", i, f.Key, f.Value, want)
			}
		}
		if n < 16 || math.Abs(float64(m.Duration)-list[i]["duration"].(float64)*1e9) > 1 || m.Model != list[i]["model_id"] {
			t.Errorf("run %d: %d latencies, %d ns, %s", i, n, m.Duration, m.Model)
		}
	}
}

// Where nothing succeeded, latencies of 0 are no measurements.
func TestNothingSucceeded(t *testing.T) {
	runs, _, _ := read(t, []byte("completed,failed,mean_ttft_ms,p99_ttft_ms\n0,8,0.0,0\n8,0,0.0,1\n"))
	if len(runs) != 2 || len(runs[0].Reported) != 2 || len(runs[1].Reported) != 4 {
		t.Errorf("%+v", runs)
	}
}

// A quote that does not end takes neither the memory nor the time of the file.
func TestEndlessRow(t *testing.T) {
	head := ",mean_ttft_ms,median_ttft_ms,p99_ttft_ms\n0,1,2,3\n"
	runs, a, codes := read(t, []byte(head+"1,\""+strings.Repeat("x,\n", maxRow/3+1<<20)))
	if len(runs) != 1 || a.Diagnosed != 1 || strings.Join(codes, " ") != "long_row" {
		t.Errorf("%d runs, %+v, %v", len(runs), a, codes)
	}
	if runs, a, codes := read(t, []byte(head+"1,1,2,3")); len(runs) != 1 || a.Diagnosed != 1 || codes[0] != "truncated" {
		t.Errorf("%d runs, %+v, %v", len(runs), a, codes)
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
