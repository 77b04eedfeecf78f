package tabletest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"servescope/analyzer/render/arrow"
	"servescope/analyzer/render/csv"
	"servescope/analyzer/render/parquet"
	"servescope/analyzer/render/table"
	"servescope/analyzer/render/tabletest"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// writer is what the three writers have in common.
type writer interface {
	Write(*trace.Batch) error
	Close() error
}

// fixture is a table with the batches that go into it.
type fixture struct {
	name    string
	table   func() *table.Table
	batches []*trace.Batch
}

func fixtures() []fixture {
	r := rand.New(rand.NewPCG(1, 2))
	var some, none []*trace.Batch
	for i := range 6 {
		some = append(some, tabletest.Requests(r, string(rune('a'+i/2)), 40, trace.Clock{Kind: trace.ClockKind(i % 4)}))
	}
	opt := table.Options{}
	requests := func() *table.Table { return table.Requests(opt) }
	steps := func() *table.Table { return table.Rows(trace.Steps, opt) }
	reported := func() *table.Table { return table.Rows(trace.ReportedTable, opt) }
	run := &trace.RunMeta{Label: "a", Reported: []trace.Reported{{Key: "p99_ttft_ms", Metric: "ttft", Stat: "0.99", Value: 5e6, Unit: unit.Nanosecond},
		{Key: "num_prompts", Stat: "value", Value: 3, Unit: unit.Request}}}
	rep := &report.Report{Runs: []report.Run{{Label: "a", Duration: report.Null("not_recorded"), Cell: report.Cell{
		Throughput: report.Throughput{From: report.KnownInt(1764428000123456789, unit.Nanosecond)}},
		Groups: []report.Group{{By: map[string]string{"model": `a,b="c"`}}}}}}
	return []fixture{
		{"requests", requests, some}, {"requests_none", requests, none},
		{"tokens", table.Tokens, some}, {"tokens_none", table.Tokens, none},
		{"steps", steps, []*trace.Batch{stepBatch()}}, {"steps_none", steps, none},
		{"reported", reported, []*trace.Batch{run.ReportedBatch("f")}},
		{"summary", table.Summaries, []*trace.Batch{table.Summary(rep)}}, {"summary_none", table.Summaries, none},
	}
}

func stepBatch() *trace.Batch {
	b := trace.NewBuilder(trace.Steps)
	for i := range int64(10) {
		b.Int(trace.StepT, 1764428000_123456789+i)
		b.Code(trace.StepKindCol, int32(i%6))
		b.Bool(trace.StepGraph, i%2 == 0)
		b.Float(trace.StepKVUsage, float64(i)/7)
		b.EndRow()
	}
	return b.Take(&trace.RunMeta{Label: "a", Clock: trace.Clock{Kind: trace.Wall}}, "f")
}

// write writes the fixture in every format to dir, and what went in as JSON.
func (f fixture) write(t *testing.T, dir string) []tabletest.Row {
	t.Helper()
	for suffix, open := range map[string]func(io.Writer, *table.Table) (writer, error){
		".parquet": func(w io.Writer, t *table.Table) (writer, error) { return parquet.NewParallel(w, t, 2), nil },
		".csv":     func(w io.Writer, t *table.Table) (writer, error) { return csv.NewWriter(w, t), nil },
		".arrows": func(w io.Writer, t *table.Table) (writer, error) {
			return arrow.NewWriter(w, t, arrow.Options{}), nil
		},
		".arrow": func(w io.Writer, t *table.Table) (writer, error) {
			return arrow.NewWriter(w, t, arrow.Options{File: true}), nil
		},
	} {
		var out bytes.Buffer
		w, err := open(&out, f.table())
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range f.batches {
			if err := w.Write(b); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, f.name+suffix), out.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	rows := []tabletest.Row{}
	tab := f.table()
	for _, b := range f.batches {
		tab.Each(b, func(b *trace.Batch) error {
			rows = append(rows, tabletest.Rows(b)...)
			return nil
		})
	}
	var fields []map[string]string
	for _, fd := range tab.Fields {
		fields = append(fields, map[string]string{"name": fd.Name, "type": kind(fd.Type)})
	}
	out, err := json.Marshal(map[string]any{"fields": fields, "rows": rows})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, f.name+".json"), out, 0o666); err != nil {
		t.Fatal(err)
	}
	return rows
}

func kind(t trace.Type) string {
	return map[trace.Type]string{trace.Int64: "int", trace.Float64: "float", trace.Bool: "bool", trace.Text: "text",
		trace.Dict: "text", trace.List: "list", trace.Time: "time"}[t]
}

// TestDataFrames has pandas, pyarrow, Polars and Spark read every file. Set
// SERVESCOPE_PYTHON to a Python that has them, and SERVESCOPE_REQUIRE_READERS=1
// to fail instead of skip when one is missing.
func TestDataFrames(t *testing.T) {
	python := os.Getenv("SERVESCOPE_PYTHON")
	required := os.Getenv("SERVESCOPE_REQUIRE_READERS") == "1"
	if python == "" && !required || runtime.GOOS == "js" {
		t.Skip("SERVESCOPE_PYTHON names no Python with pandas, pyarrow, polars and pyspark")
	}
	if python == "" {
		python = "python3"
	}
	dir := t.TempDir()
	for _, f := range fixtures() {
		f.write(t, dir)
	}
	script := filepath.Join("..", "..", "..", "testdata", "readers", "check.py")
	out, err := exec.Command(python, script, dir).CombinedOutput()
	t.Logf("%s", out)
	if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() == 3 && !required {
		t.Skip("not every reader is installed")
	}
	if err != nil {
		t.Error(err)
	}
}
