package all

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

// TestStrings: all formats read a string with escapes alike, the name of a model here.
func TestStrings(t *testing.T) {
	model := regexp.MustCompile(`"(model|model_id|Model)": ?"[^"]*"`)
	for _, file := range []string{
		"apilog/vllm-v0.25-metrics/input.jsonl", "columns/bigquery/input.jsonl", "dynamo/recorded/input.jsonl", "guidellm/report-v2/input.json",
		"langfuse/observations/input.jsonl", "litellm/first-chunk-missed/input.jsonl", "llamacpp/responses/input.jsonl",
		"ollama/final-objects/input.jsonl", "sse/script-interleaved/input.jsonl", "tokenlog/all-columns/input.jsonl", "vllmbench/all-failed/input.json",
	} {
		text, err := os.ReadFile("../../testdata/formats/" + file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Dir(filepath.Dir(file))
		f, err := Set().Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for raw, want := range map[string]string{
			`caf\u00e9 \ud83d\ude00`: "café 😀",
			`a\"b\\c\/d`:             `a"b\c/d`,
			`lone \ud800 half`:       "lone \uFFFD half",
			`C:\data\u00zz`:          `C:\data\u00zz`, // no escapes
		} {
			src := source.FromBytes(file, model.ReplaceAllFunc(text, func(m []byte) []byte {
				key := model.FindSubmatch(m)[1]
				return []byte(`"` + string(key) + `":"` + raw + `"`)
			}))
			if got := models(t, f, src); !slices.Contains(got, want) {
				t.Errorf("%s reads %s as %q, want %q", name, raw, got, want)
			}
		}
	}
}

// models returns the models of the rows and the runs of a source.
func models(t *testing.T, f *formats.Format, src formats.Source) (list []string) {
	r, err := f.Open(t.Context(), src, formats.Whole, formats.Options{Workers: 1})
	if err != nil {
		t.Fatal(f.Name, err)
	}
	defer r.Close()
	for r.Next() {
		if r.Batch().Table == trace.Requests {
			list = append(list, r.Batch().Dicts(trace.Model).Values...)
		}
	}
	for _, run := range r.Runs() {
		list = append(list, run.Model)
	}
	if r.Err() != nil {
		t.Fatal(f.Name, r.Err())
	}
	return list
}
