package torchtable

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

func readTable(t *testing.T, text string) (*trace.RunMeta, formats.Account) {
	t.Helper()
	r, err := Format.Open(context.Background(), source.FromBytes("t", []byte(text)), formats.Whole, formats.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Next() || r.Err() != nil {
		t.Fatal(r.Err())
	}
	return r.Runs()[0], r.Account()
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]int64{"62.732ms": 62_732_000, "1.227s": 1_227_000_000, "0.000us": 0, "3.254us": 3254, "17ns": 17} {
		if got, ok := duration([]byte(text)); !ok || got != want {
			t.Errorf("%s: %d %v, want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "s", "ms", "1.2", "x1ms", "-1ms", "1 ms", "nanus", "514.82%"} {
		if got, ok := duration([]byte(text)); ok {
			t.Errorf("%q: %d", text, got)
		}
	}
}

// TestOtherTables: several tables, other devices, none at all.
func TestOtherTables(t *testing.T) {
	rule := "-------  ----------  ----------  ----------  \n"
	one := rule + "   Name    Self CPU    Self XPU  # of Calls  \n" + rule + "   gemm     0.000us     1.000ms           3  \n" + rule + "Self CPU time total: 5ms\nSelf XPU time total: 1ms\n"
	m, a := readTable(t, one+one)
	if len(m.Reported) != 6 || m.Reported[5].Key != "gemm (self XPU)" || m.Reported[5].Value != 1e6 || a.Diagnosed != 0 || a.Total != 14 {
		t.Errorf("%+v %+v", m.Reported, a)
	}
	m, a = readTable(t, strings.NewReplacer("Self XPU", "Calls   ").Replace(one)) // of the host alone
	if len(m.Reported) != 1 || a.Kinds["row"] != 1 {
		t.Errorf("%+v %+v", m.Reported, a)
	}
	if m, a = readTable(t, "text\n"+rule+"other  heading\n"); len(m.Reported) != 0 || a.Diagnosed != 2 || a.Noise != 1 {
		t.Errorf("%+v %+v", m.Reported, a)
	}
}

// TestReal holds the table of a real worker to the sums of its trace.
func TestReal(t *testing.T) {
	text, err := os.ReadFile(dataFile(t, "vllm/profiler_out_0.txt"))
	if err != nil {
		t.Fatal(err)
	}
	m, a := readTable(t, string(text))
	if a.Total != 107 || a.Diagnosed != 0 || a.Kinds["row"] != 98 || a.Kinds["range"] != 2 || m.Engine != "vllm" {
		t.Errorf("account %+v, engine %q", a, m.Engine)
	}
	f, err := os.Open(dataFile(t, "vllm/tp4-rank0.pt.trace.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		TraceEvents []struct {
			Cat, Name string
			Dur       float64
		}
	}
	if err := json.NewDecoder(z).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	sums := make(map[string]float64) // µs by name, cut as the table cuts it
	for _, e := range doc.TraceEvents {
		if e.Cat == "kernel" || strings.HasPrefix(e.Cat, "gpu_mem") {
			name := e.Name
			if len(name) > 55 {
				name = name[:52] + "..."
			}
			sums[name] += e.Dur
			sums["Self CUDA time total"] += e.Dur
		}
	}
	compared := 0
	for _, r := range m.Reported {
		want, ok := sums[strings.TrimSuffix(r.Key, " (self CUDA)")]
		if !ok {
			continue
		}
		if compared++; math.Abs(r.Value-want*1000) > 600 && !strings.HasSuffix(r.Key, "... (self CUDA)") {
			t.Errorf("%s: %.0f ns, the trace has %.0f", r.Key, r.Value, want*1000)
		}
	}
	if compared < 10 {
		t.Errorf("only %d rows have a counterpart in the trace", compared)
	}
	want := sums["ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"[:52]+"..."] * 1000
	for _, r := range m.Reported {
		if strings.HasPrefix(r.Key, "ncclDevKernel_ReduceScatter") && math.Abs(r.Value-want) > 600 {
			t.Errorf("%s: %.0f, want %.0f", r.Key, r.Value, want)
		}
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
