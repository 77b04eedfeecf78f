package export

import (
	"context"
	"math"
	"strings"
	"testing"

	"servescope/analyzer/trace"
	"servescope/analyzer/trace/manifest"
	"servescope/formats/internal/column"
)

// fake is a table of one batch.
type fake struct {
	fields []column.Field
	batch  column.Batch
	meta   map[string]string
	done   bool
}

func (f *fake) Fields() []column.Field         { return f.fields }
func (f *fake) Meta(key string) (string, bool) { v, ok := f.meta[key]; return v, ok }
func (f *fake) Select([]bool)                  {}
func (f *fake) Next() bool                     { done := f.done; f.done = true; return !done }
func (f *fake) Batch() *column.Batch           { return &f.batch }
func (f *fake) Err() error                     { return nil }
func (f *fake) Damage() []column.Damage        { return nil }
func (f *fake) add(name string, k column.Kind, c column.Column) {
	f.fields = append(f.fields, column.Field{Name: name, Kind: k})
	f.batch.Columns = append(f.batch.Columns, c)
}

// requests is an export of two runs and a row of a third that nothing describes.
func requests() *fake {
	m := manifest.Manifest{Version: manifest.Version, Origin: "o", Runs: []manifest.Run{
		{File: "f", Meta: trace.RunMeta{Label: "a", Key: 0}}, {File: "f", Meta: trace.RunMeta{Label: "a", Key: 7}}}}
	t := &fake{meta: map[string]string{manifest.TableKey: "requests", manifest.Key: m.String()}}
	t.batch.Rows = 4
	t.add("run", column.Text, column.Column{Codes: []int32{0, 0, 0, 1}, Values: []string{"a", "b"}})
	t.add("file", column.Text, column.Column{Data: []byte("ffff"), Offsets: []int32{0, 1, 2, 3, 4}})
	t.add("run_key", column.Int, column.Column{Ints: []int64{0, 7, 7, 0}})
	return t
}

func read(t *testing.T, tab column.Table) (rows []int, runs []int64, r *Reader, batches []*trace.Batch) {
	t.Helper()
	r = Open(context.Background(), File{Name: "x", Format: "parquet", Title: "Parquet file", First: true, Lists: true}, tab)
	for r.Next() {
		b := *r.Batch()
		batches = append(batches, &b)
		rows, runs = append(rows, b.Rows), append(runs, b.Run.Key)
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return rows, runs, r, batches
}

func codes(r *Reader) string {
	var out []string
	for _, d := range r.Diags().All() {
		out = append(out, d.Code)
	}
	return strings.Join(out, " ")
}

// TestRuns: rows belong to the run that their label, file and key name; one that
// nothing describes is told and left out.
func TestRuns(t *testing.T) {
	rows, runs, r, _ := read(t, requests())
	if len(rows) != 2 || rows[0] != 1 || rows[1] != 2 || runs[0] != 0 || runs[1] != 1 {
		t.Errorf("batches of %v rows of runs %v", rows, runs)
	}
	if a := r.Account(); a.Total != 4 || a.Parsed != 3 || a.Diagnosed != 1 || codes(r) != "unknown_run" {
		t.Errorf("%+v, %s", a, codes(r))
	}
	for _, m := range r.Runs() {
		if m.Origin != "o" || m.Label != "a" || m.Format != "parquet" {
			t.Errorf("%+v", m)
		}
	}
}

// TestRepairs: values that no source would give become null, or what a column may
// hold, and are told.
func TestRepairs(t *testing.T) {
	tab := requests()
	tab.batch.Rows = 2
	for i := range tab.batch.Columns {
		tab.batch.Columns[i] = column.Column{Null: true}
	}
	tab.batch.Columns[0] = column.Column{Codes: []int32{0, 0}, Values: []string{"a"}}
	tab.batch.Columns[1] = column.Column{Codes: []int32{0, 0}, Values: []string{"f"}}
	tab.add("output_tokens", column.Int, column.Column{Ints: []int64{-1, 5}})
	tab.add("status", column.Text, column.Column{Codes: []int32{0, 1}, Values: []string{"dancing", "failed"}})
	tab.add("chunk_gaps", column.IntList, column.Column{Ints: []int64{3, -2, 4}, Offsets: []int32{0, 2, 3}})
	tab.add("request_id", column.Text, column.Column{Data: []byte("\xffok"), Offsets: []int32{0, 1, 3}})
	tab.add("model", column.Text, column.Column{Codes: []int32{0, 1}, Values: []string{strings.Repeat("é", 3000), "m"}})
	tab.add("sent_ns", column.Float, column.Column{Floats: []float64{1, math.NaN()}})
	_, _, r, batches := read(t, tab)
	if len(batches) != 1 {
		t.Fatalf("%d batches", len(batches))
	}
	b := batches[0]
	if _, ok := b.Ints(trace.OutputTokens).At(0); ok || b.Implausible.Count != 1 {
		t.Error("a negative count is believed")
	}
	if v, _ := b.Ints(trace.OutputTokens).At(1); v != 5 {
		t.Error("a count is lost")
	}
	if _, ok := b.Dicts(trace.StatusCol).At(0); ok {
		t.Error("a status that there is not is kept")
	}
	if v, ok := b.Dicts(trace.StatusCol).At(1); !ok || trace.Status(v) != trace.Failed {
		t.Error("a status is lost")
	}
	if _, ok := b.Lists(trace.ChunkGaps).At(0); ok {
		t.Error("a negative gap is kept")
	}
	if v, ok := b.Lists(trace.ChunkGaps).At(1); !ok || len(v) != 1 || v[0] != 4 {
		t.Error("a list is lost")
	}
	if v, _ := b.Texts(trace.RequestID).At(0); string(v) != "\uFFFD" {
		t.Errorf("invalid UTF-8 becomes %q", v)
	}
	if v := b.Dicts(trace.Model).Values[0]; len(v) != trace.MaxText {
		t.Errorf("a text of 6000 bytes has %d", len(v))
	}
	if b.Has(trace.Sent) {
		t.Error("a column of another type is used")
	}
	if got := codes(r); got != "absurd_list column_type unknown_value" {
		t.Error(got)
	}
}

// TestRefusals: what is no export gets one answer.
func TestRefusals(t *testing.T) {
	for want, meta := range map[string]map[string]string{
		"not_read_back": {manifest.TableKey: "tokens"},
		"damaged_file":  {manifest.TableKey: "requests", manifest.Key: "{"},
	} {
		tab := requests()
		tab.meta = meta
		if rows, _, r, _ := read(t, tab); len(rows) > 0 || codes(r) != want {
			t.Errorf("%v: %d batches, %s", meta, len(rows), codes(r))
		}
	}
}
