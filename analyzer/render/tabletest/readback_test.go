package tabletest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"servescope/analyzer"
	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/analyzer/render/arrow"
	"servescope/analyzer/render/parquet"
	"servescope/analyzer/render/table"
	"servescope/analyzer/trace"
	"servescope/analyzer/trace/manifest"
	"servescope/formats"
	"servescope/formats/all"
	"servescope/formats/source"
)

// exporters write a table as a file that can be read back, by the end of its name.
var exporters = map[string]func(*bytes.Buffer, *table.Table) writer{
	"parquet": func(out *bytes.Buffer, t *table.Table) writer { return parquet.NewParallel(out, t, 2) },
	"arrow": func(out *bytes.Buffer, t *table.Table) writer {
		return arrow.NewWriter(out, t, arrow.Options{File: true})
	},
	"arrows": func(out *bytes.Buffer, t *table.Table) writer { return arrow.NewWriter(out, t, arrow.Options{}) },
}

func open(t *testing.T, sources ...source.Input) *analyzer.Session {
	t.Helper()
	now := time.Unix(1785405600, 0).UTC()
	inputs, err := source.Unpack(sources, formats.Options{Workers: 1, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	s, err := analyzer.Open(context.Background(), all.Set(), inputs, "", load.Options{Workers: 2, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// reportOf returns a report as JSON values, without what names the inputs and
// their formats. Of the diagnostics it keeps what was found and how often: once,
// where several exports of one log say it; without counts, how often is left out.
func reportOf(t *testing.T, s *analyzer.Session, counts bool) map[string]any {
	t.Helper()
	rep, err := s.Run(context.Background(), &query.Query{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := rep.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	delete(out, "inputs")
	for _, r := range out["runs"].([]any) {
		run := r.(map[string]any)
		delete(run, "format")
		notes, _ := run["notes"].([]any)
		run["notes"] = slices.DeleteFunc(notes, func(n any) bool { return strings.HasPrefix(n.(string), "an export of ") })
	}
	var diags []string
	for _, d := range out["diags"].([]any) {
		d := d.(map[string]any)
		text := fmt.Sprint(d["code"], d["severity"])
		if counts {
			text += fmt.Sprint(d["count"])
		}
		diags = append(diags, text)
	}
	slices.Sort(diags)
	out["diags"] = slices.Compact(diags)
	return out
}

// exportAll returns every table of a session that has rows, written as ext.
func exportAll(t *testing.T, s *analyzer.Session, ext string) (out []source.Input) {
	t.Helper()
	ctx := context.Background()
	for _, tab := range []*table.Table{table.Requests(table.Options{}), table.Rows(trace.Steps, table.Options{}), table.Rows(trace.Collectives, table.Options{})} {
		var file bytes.Buffer
		tab.Manifest = func() *manifest.Manifest { return s.Manifest(nil) }
		w, rows := exporters[ext](&file, tab), 0
		write := func(b *trace.Batch) error {
			rows += b.Rows
			return w.Write(b)
		}
		var err error
		if tab.Source == trace.Requests {
			err = s.Rows(ctx, &query.Query{}, true, write)
		} else {
			err = s.Table(ctx, tab.Source, write)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		if rows > 0 {
			out = append(out, source.Input{Source: source.FromBytes(tab.Name+"."+ext, file.Bytes()), Named: true})
		}
	}
	return out
}

// TestReadBack: the report of an export is that of the log, for every case of
// every format: figures, reasons, labels, settings, what the producer claims, and
// what was lost.
func TestReadBack(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("the core of browsers reads no exports")
	}
	root := filepath.Join("..", "..", "..", "testdata")
	logs, err := filepath.Glob(filepath.Join(root, "formats", "*", "*", "input.*"))
	if err != nil || len(logs) == 0 {
		t.Fatal(err)
	}
	samples, _ := filepath.Glob(filepath.Join(root, "sample", "*.json*"))
	for _, path := range append(logs, samples...) {
		switch filepath.Base(filepath.Dir(filepath.Dir(path))) {
		case "parquet", "arrow":
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := filepath.Rel(root, path)
		t.Run(filepath.ToSlash(name), func(t *testing.T) {
			s := open(t, source.Input{Source: source.FromBytes(name, data), Named: true})
			defer s.Close()
			if err := s.Empty(); err != nil {
				t.Fatal(err)
			}
			want := reportOf(t, s, true)
			for ext := range exporters {
				files := exportAll(t, s, ext)
				if len(files) == 0 {
					t.Skip("it holds no rows")
				}
				back := open(t, files...)
				got := reportOf(t, back, true)
				back.Close()
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %s", ext, difference("", got, want))
				}
			}
		})
	}
}

// TestReadBackLabels: runs keep their names, and what a label has united stays
// one run, with the clocks of its records.
func TestReadBackLabels(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("the core of browsers reads no exports")
	}
	read := func(label, name string) source.Input {
		data, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "formats", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return source.Input{Source: source.FromBytes(name, data), Label: label, Named: true}
	}
	s := open(t, read("a", "tokenlog/plain/input.jsonl"), read("b", "vllmbench/appended/input.json"), read("a", "tokenlog/tokens/input.jsonl"),
		read("", "vllmbench/spec-decode/input.json"))
	defer s.Close()
	want := reportOf(t, s, false)
	if n := len(want["runs"].([]any)); n != 3 {
		t.Fatalf("%d runs", n)
	}
	for ext := range exporters {
		back := open(t, exportAll(t, s, ext)...)
		got := reportOf(t, back, false)
		back.Close()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s", ext, difference("", got, want))
		}
	}
}

// difference tells where two JSON values differ first.
func difference(at string, got, want any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		for k := range w {
			if ok && !reflect.DeepEqual(g[k], w[k]) {
				return difference(at+"."+k, g[k], w[k])
			}
		}
	case []any:
		g, ok := got.([]any)
		for i := range w {
			if ok && len(g) == len(w) && !reflect.DeepEqual(g[i], w[i]) {
				return difference(fmt.Sprintf("%s[%d]", at, i), g[i], w[i])
			}
		}
	}
	return fmt.Sprintf("%s is %.500v, want %.500v", at, got, want)
}
