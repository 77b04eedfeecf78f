package arrow

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"servescope/analyzer/render/table"
	"servescope/analyzer/render/tabletest"
	"servescope/analyzer/trace"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// export returns the written bytes and the rows that went in.
func export(t *testing.T, fresh func() *table.Table, opt Options, batches []*trace.Batch) ([]byte, []tabletest.Row) {
	t.Helper()
	var out bytes.Buffer
	w := NewWriter(&out, fresh(), opt)
	var want []tabletest.Row
	again := fresh()
	for _, b := range batches {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
		again.Each(b, func(b *trace.Batch) error {
			want = append(want, tabletest.Rows(b)...)
			return nil
		})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), want
}

// rows reads an Arrow record by Arrow's own means.
func rows(rec arrow.RecordBatch) []tabletest.Row {
	out := make([]tabletest.Row, rec.NumRows())
	for i := range out {
		out[i] = tabletest.Row{}
		for j, f := range rec.Schema().Fields() {
			out[i][f.Name] = value(rec.Column(j), i)
		}
	}
	return out
}

func value(c arrow.Array, i int) any {
	if c.IsNull(i) {
		return nil
	}
	switch c := c.(type) {
	case *array.Int64:
		return c.Value(i)
	case *array.Timestamp:
		return int64(c.Value(i))
	case *array.Float64:
		return c.Value(i)
	case *array.Boolean:
		return c.Value(i)
	case *array.String:
		return c.Value(i)
	case *array.Dictionary:
		return c.Dictionary().(*array.String).Value(c.GetValueIndex(i))
	case *array.List:
		from, to := c.ValueOffsets(i)
		return append([]int64{}, c.ListValues().(*array.Int64).Int64Values()[from:to]...)
	}
	panic(c.DataType().String())
}

func compare(t *testing.T, got, want []tabletest.Row) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range want {
		for name, v := range want[i] {
			if have, ok := got[i][name]; !ok || !tabletest.Equal(have, v) {
				t.Fatalf("row %d: %s is %#v, want %#v", i, name, have, v)
			}
		}
	}
}

// TestP79RoundTrip writes batches of several runs, with dictionaries that
// differ, and reads them back; nothing stays allocated.
func TestP79RoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	for n := range 12 {
		var batches []*trace.Batch
		for i := range n % 4 {
			batches = append(batches, tabletest.Requests(r, string(rune('a'+i/2)), r.IntN(100), trace.Clock{Kind: trace.ClockKind(i)}))
		}
		for _, fresh := range []func() *table.Table{func() *table.Table { return table.Requests(table.Options{}) }, table.Tokens} {
			out, want := export(t, fresh, Options{Allocator: mem}, batches)
			compare(t, stream(t, out, mem), want)
			out, want = export(t, fresh, Options{Allocator: mem, File: true}, batches)
			compare(t, file(t, out, mem), want)
		}
	}
}

func stream(t *testing.T, in []byte, mem memory.Allocator) []tabletest.Row {
	t.Helper()
	reader, err := ipc.NewReader(bytes.NewReader(in), ipc.WithAllocator(mem))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Release()
	var got []tabletest.Row
	for reader.Next() {
		got = append(got, rows(reader.RecordBatch())...)
	}
	if err := reader.Err(); err != nil {
		t.Fatal(err)
	}
	return got
}

func file(t *testing.T, in []byte, mem memory.Allocator) []tabletest.Row {
	t.Helper()
	reader, err := ipc.NewFileReader(bytes.NewReader(in), ipc.WithAllocator(mem))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var got []tabletest.Row
	for i := range reader.NumRecords() {
		rec, err := reader.RecordBatchAt(i)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, rows(rec)...)
		rec.Release()
	}
	return got
}

// TestP76P80Schema: tables without rows have their full schema; no unsigned
// types, no nanoseconds by default.
func TestP76P80Schema(t *testing.T) {
	for _, tab := range table.All(table.Options{}) {
		var out bytes.Buffer
		w := NewWriter(&out, tab, Options{})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		reader, err := ipc.NewReader(&out)
		if err != nil {
			t.Fatalf("%s: %v", tab.Name, err)
		}
		if !reader.Schema().Equal(schema(tab.Table, tab.Metadata())) {
			t.Errorf("%s: %s", tab.Name, reader.Schema())
		}
		for _, f := range reader.Schema().Fields() {
			switch f.Type.String() {
			case "int64", "float64", "bool", "utf8", "dictionary<values=utf8, indices=int32, ordered=false>", "list<element: int64>",
				"timestamp[us, tz=UTC]":
			default:
				t.Errorf("%s.%s has type %s", tab.Name, f.Name, f.Type)
			}
		}
		reader.Release()
	}
}

// TestWriteError: an error of the file is reported by Write or Close.
func TestWriteError(t *testing.T) {
	broken := errors.New("disk full")
	b := tabletest.Requests(rand.New(rand.NewPCG(1, 2)), "r", 50, trace.Clock{})
	for _, asFile := range []bool{false, true} {
		w := NewWriter(brokenWriter{broken}, table.Requests(table.Options{}), Options{File: asFile})
		err := w.Write(b)
		if cerr := w.Close(); err == nil {
			err = cerr
		}
		if !errors.Is(err, broken) {
			t.Errorf("file %v: %v", asFile, err)
		}
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

var _ io.Writer = brokenWriter{}
