package main

import (
	"bytes"
	"context"
	"io"
	"slices"
	"testing"
	"time"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/all"
	"servescope/testdata/generate/simulate"
)

// TestRoundTrip reads what is written: every cell that the written log has comes
// back as it was.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(6) {
		want := simulate.Run(simulate.Random(seed)).Requests
		var log bytes.Buffer
		if err := write(&log, io.Discard, seed); err != nil {
			t.Fatal(err)
		}
		row := 0
		for _, got := range read(t, log.Bytes()) {
			for i := range got.Rows {
				if name := differing(want, row, got, i); name != "" {
					t.Fatalf("seed %d row %d: %s differs", seed, row, name)
				}
				row++
			}
		}
		if row != want.Rows {
			t.Fatalf("seed %d: %d rows, want %d", seed, row, want.Rows)
		}
	}
}

// read reads a log as the command does, and fails if anything in it is odd.
func read(t *testing.T, log []byte) (out []*trace.Batch) {
	t.Helper()
	f, err := all.Set().Lookup("tokenlog")
	if err != nil {
		t.Fatal(err)
	}
	src := memory{log}
	r, err := f.Open(context.Background(), src, formats.Whole, formats.Options{Workers: 1, Lists: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
		out = append(out, r.Batch().Clone(true))
	}
	if err := r.Err(); err != nil || r.Account().Diagnosed != 0 || len(r.Diags().All()) != 0 {
		t.Fatalf("error %v, account %+v", err, r.Account())
	}
	return out
}

// differing returns the name of a column of row i of want that row j of got does
// not have the same, or "".
func differing(want *trace.Batch, i int, got *trace.Batch, j int) string {
	for c, f := range want.Table.Fields {
		col, same := trace.Col(c), true
		switch f.Type {
		case trace.Int64:
			a, there := want.Ints(col).At(i)
			b, ok := got.Ints(col).At(j)
			same = !there || ok && a == b
		case trace.Text:
			a, there := want.Texts(col).At(i)
			b, ok := got.Texts(col).At(j)
			same = !there || ok && bytes.Equal(a, b)
		case trace.Dict:
			a, there := want.Dicts(col).At(i)
			b, ok := got.Dicts(col).At(j)
			text := got.Run.Default(col)
			if ok {
				text = got.Dicts(col).Values[b]
			}
			same = !there || want.Dicts(col).Values[a] == text
		case trace.Bool:
			a, there := want.Bools(col).At(i)
			b, ok := got.Bools(col).At(j)
			same = !there || ok && a == b
		case trace.List:
			a, there := want.Lists(col).At(i)
			b, ok := got.Lists(col).At(j)
			same = !there || ok && slices.Equal(a, b)
		}
		if !same {
			return f.Name
		}
	}
	return ""
}

// memory is a source in memory.
type memory struct{ b []byte }

func (m memory) Name() string       { return "log.jsonl" }
func (m memory) Size() int64        { return int64(len(m.b)) }
func (m memory) ModTime() time.Time { return time.Time{} }
func (m memory) At() io.ReaderAt    { return bytes.NewReader(m.b) }
func (m memory) Open(off int64) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(m.b[off:])), nil
}
