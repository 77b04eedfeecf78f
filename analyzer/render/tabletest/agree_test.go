package tabletest_test

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"servescope/analyzer"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/render/table"
	"servescope/analyzer/render/tabletest"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/all"
)

// TestColumnsAgreeWithReport: whoever averages the exported columns gets the
// report's means, under every definition.
func TestColumnsAgreeWithReport(t *testing.T) {
	ctx := context.Background()
	for _, def := range metric.Definitions() {
		inputs, err := formats.Expand([]string{filepath.Join("..", "..", "..", "testdata", "sample", "vllm-bench.json")}, nil, formats.Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		s, err := analyzer.Open(ctx, all.Set(), inputs, "", analyzer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		q := &query.Query{Definition: def.Name}
		rep, err := s.Run(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		sums, counts := map[string]float64{}, map[string]int64{}
		tab := table.Requests(table.Options{Definition: def})
		err = s.Rows(ctx, q, false, func(b *trace.Batch) error {
			return tab.Each(b, func(b *trace.Batch) error {
				for _, row := range tabletest.Rows(b) {
					for _, name := range []string{"ttft", "e2e", "tpot"} {
						switch v := row[name+"_ns"].(type) {
						case int64:
							sums[name] += float64(v)
							counts[name]++
						case float64:
							sums[name] += v
							counts[name]++
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
			if m.N == 0 || counts[name] != m.N || math.Abs(sums[name]/float64(m.N)-m.Mean) > 1e-9*m.Mean {
				t.Errorf("%s, %s: %d values with mean %v, the report has %d with %v", def.Name, name, counts[name], sums[name]/float64(counts[name]), m.N, m.Mean)
			}
		}
		s.Close()
	}
}
