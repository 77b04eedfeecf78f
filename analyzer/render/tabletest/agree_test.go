package tabletest_test

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"servescope/analyzer"
	"servescope/analyzer/load"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/render/table"
	"servescope/analyzer/render/tabletest"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/all"
	"servescope/formats/source"
)

// TestColumnsAgreeWithReport: the exported columns hold the values that the
// report summarises, under every definition: as many, with the same extremes,
// and with the same mean to a nanosecond where the definition takes plain means.
func TestColumnsAgreeWithReport(t *testing.T) {
	ctx := context.Background()
	for _, def := range metric.Definitions() {
		inputs, err := source.Expand([]string{filepath.Join("..", "..", "..", "testdata", "sample", "vllm-bench.json")}, nil, formats.Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		s, err := analyzer.Open(ctx, all.Set(), inputs, "", load.Options{})
		if err != nil {
			t.Fatal(err)
		}
		q := &query.Query{Definition: def.Name}
		rep, err := s.Run(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		sums, counts := map[string]float64{}, map[string]int64{}
		least, most := map[string]float64{}, map[string]float64{}
		add := func(name string, v float64) {
			if counts[name] == 0 {
				least[name], most[name] = v, v
			}
			counts[name]++
			sums[name] += v
			least[name], most[name] = min(least[name], v), max(most[name], v)
		}
		tab := table.Requests(table.Options{Definition: def})
		err = s.Rows(ctx, q, false, func(b *trace.Batch) error {
			return tab.Each(b, func(b *trace.Batch) error {
				for _, row := range tabletest.Rows(b) {
					for _, name := range []string{"ttft", "e2e", "tpot"} {
						switch v := row[name+"_ns"].(type) {
						case int64:
							add(name, float64(v))
						case float64:
							add(name, v)
						}
					}
				}
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"ttft", "e2e", "tpot"} {
			m := rep.Runs[0].Metrics[name]
			if counts[name] != m.N || m.N == 0 && (def.Name == "default" || name == "e2e") {
				t.Errorf("%s, %s: %d values, the report has %d", def.Name, name, counts[name], m.N)
			}
			if m.N == 0 {
				continue
			}
			if least[name] != m.Min || most[name] != m.Max {
				t.Errorf("%s, %s: from %v to %v, the report has %v to %v", def.Name, name, least[name], most[name], m.Min, m.Max)
			}
			weighted := name == "tpot" && def.TPOT != nil && def.TPOT.Weighted
			if mean := sums[name] / float64(m.N); !weighted && math.Abs(mean-m.Mean) > max(1, 1e-9*mean) {
				t.Errorf("%s, %s: mean %v, the report has %v", def.Name, name, mean, m.Mean)
			}
		}
		s.Close()
	}
}
