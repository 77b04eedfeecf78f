package inferenceperf

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats"
	"servescope/formats/source"
)

// flatten lists the numbers of a document by path.
func flatten(v any, path string, out map[string]float64) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			flatten(e, strings.TrimPrefix(path+"."+k, "."), out)
		}
	case float64:
		out[path] = v
	}
}

// TestRealFiles compares the figures of real reports with what encoding/json
// reads in them: every number is there, but for the requested rate and what the
// server's metrics say of swapping.
func TestRealFiles(t *testing.T) {
	var names []string
	for _, dir := range []string{os.Getenv("SERVESCOPE_DATA"), "../../../shared/data", "../../../../shared/data"} {
		if names, _ = filepath.Glob(filepath.Join(dir, "peers/inference-perf/*/*.json")); dir != "" && len(names) > 0 {
			break
		}
	}
	if len(names) == 0 {
		t.Skip("the real files are not here")
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var doc any
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		want := make(map[string]float64)
		flatten(doc, "", want)
		head, err := formats.ReadHead(source.FromBytes(name, text))
		if err != nil {
			t.Fatal(err)
		}
		if score, why := Format.Sniff(head); score != formats.Sure {
			t.Errorf("%s: %s", name, why)
		}
		r, err := Format.Open(context.Background(), source.FromBytes(name, text), formats.Whole, formats.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for r.Next() {
			t.Error("a row")
		}
		m := r.Runs()[0]
		server := strings.Contains(name, "prometheus")
		if server != (m.Side == trace.Server) || m.NoRequests == "" || len(r.Diags().All()) != 0 {
			t.Errorf("%s: %v, %v", name, m.Side, r.Diags().All())
		}
		for _, f := range m.Reported {
			scale := map[unit.Unit]float64{unit.Nanosecond: 1e9, unit.Ratio: 0.01}[f.Unit]
			if scale == 0 {
				scale = 1
			}
			if v, ok := want[f.Key]; !ok || math.Abs(v*scale-f.Value) > 1e-12*math.Abs(f.Value) {
				t.Errorf("%s: %s is %v %s, want %v", name, f.Key, f.Value, f.Unit, v)
			}
			delete(want, f.Key)
		}
		delete(want, "load_summary.requested_rate")
		delete(want, "successes.num_requests_swapped.mean")
		for key := range want {
			t.Errorf("%s: %s is missing", name, key)
		}
		r.Close()
	}
}
