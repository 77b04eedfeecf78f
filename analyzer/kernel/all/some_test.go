package all

import (
	"reflect"
	"testing"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/kerneltest"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
)

// TestSome: whatever distributions are asked for, their figures, the counts and the
// rates are those of a whole report, under every definition set; and there are no
// others.
func TestSome(t *testing.T) {
	q := &query.Query{Ranks: []float64{0.5, 0.9}}
	views := []kerneltest.View{{B: kerneltest.Build(kerneltest.WallMeta(), d2()...)}}
	for _, names := range [][]string{
		{"ttft", "chunk_gap", "output_tokens"}, {"ttft_client", "e2e", "concurrency_little"}, {"tpot", "ttft_upper", "token_latency"}, {"requests.ok"},
	} {
		asked := make(map[string]bool)
		for _, name := range names {
			asked[name] = true
		}
		for _, def := range metric.Definitions() {
			all := kerneltest.Run(t, All(def), q, views, kerneltest.Whole).Cell(0, -1, kernel.NoWindow)
			some := kerneltest.Run(t, Some(def, asked), q, views, kerneltest.Whole).Cell(0, -1, kernel.NoWindow)
			for name, want := range all.Metrics {
				got, ok := some.Metrics[name]
				if ok != asked[name] {
					t.Fatalf("%v under %s: %s is there: %v", names, def.Name, name, ok)
				}
				want.Intervals, want.Upper, want.Notes, got.Notes = nil, nil, nil, nil // these may be left out
				if ok && jsonOf(t, got) != jsonOf(t, want) {
					t.Errorf("%s under %s:\n got %+v\nwant %+v", name, def.Name, got, want)
				}
			}
			if some.Requests != all.Requests || !reflect.DeepEqual(some.Throughput.Values["tps_ok"], all.Throughput.Values["tps_ok"]) {
				t.Errorf("%v under %s: %+v, want %+v", names, def.Name, some.Requests, all.Requests)
			}
			for name, v := range some.Throughput.Values {
				if v != all.Throughput.Values[name] {
					t.Errorf("%s under %s: %v, want %v", name, def.Name, v, all.Throughput.Values[name])
				}
			}
			if some.Metrics["ttft"].N == 0 && asked["ttft"] {
				t.Errorf("no ttft under %s", def.Name)
			}
		}
	}
}

// jsonOf is a metric as text: what is undefined in it is equal to itself.
func jsonOf(t *testing.T, m report.Metric) string {
	t.Helper()
	text, err := m.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
