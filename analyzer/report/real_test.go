package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"servescope/analyzer"
	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/formats"
	"servescope/formats/all"
	"servescope/formats/source"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestRealReports runs queries over the sample files and validates the reports.
func TestRealReports(t *testing.T) {
	schema, err := report.Compiled()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "sample", "*.json*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, q := range []*query.Query{
		{},
		{Window: 1e9, By: []string{"status"}, SLO: []query.Limit{{Metric: "ttft", Max: 500e6}}},
		{Definition: "vllm-2026", Trim: query.Trim{Count: 5}},
	} {
		inputs, err := source.Expand(files, nil, formats.Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		s, err := analyzer.Open(context.Background(), all.Set(), inputs, "", load.Options{})
		if err != nil {
			t.Fatal(err)
		}
		rep, err := s.Run(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		out, err := json.Marshal(rep)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(out))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
