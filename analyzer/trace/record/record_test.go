package record_test

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"unsafe"

	"servescope/analyzer/trace"
	"servescope/analyzer/trace/record"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// row is the reference model of a row: what was set, nil where nothing was.
type row struct {
	i    *int64
	f    *float64
	b    *bool
	t    *string
	d    *string
	l    []int64
	hasL bool
}

var testTable = &trace.Table{Name: "test", Fields: []trace.Field{
	{Name: "i", Type: trace.Int64}, {Name: "f", Type: trace.Float64}, {Name: "b", Type: trace.Bool},
	{Name: "t", Type: trace.Text}, {Name: "d", Type: trace.Dict}, {Name: "l", Type: trace.List},
}}

func read(b *trace.Batch, i int) row {
	var r row
	if v, ok := b.Ints(0).At(i); ok {
		r.i = &v
	}
	if v, ok := b.Floats(1).At(i); ok {
		r.f = &v
	}
	if v, ok := b.Bools(2).At(i); ok {
		r.b = &v
	}
	if v, ok := b.Texts(3).At(i); ok {
		s := string(v)
		r.t = &s
	}
	if c, ok := b.Dicts(4).At(i); ok {
		s := b.Dicts(4).Values[c]
		r.d = &s
	}
	if v, ok := b.Lists(5).At(i); ok {
		r.l, r.hasL = append([]int64{}, v...), true
	}
	return r
}

// randomBatch returns a batch of testTable in which each column is present with
// the given density; some columns are left out altogether.
func randomBatch(r *rand.Rand, rows int) *trace.Batch {
	b := trace.NewBuilder(testTable)
	density := [6]float64{}
	for i := range density {
		density[i] = []float64{0, 0.5, 0.9, 1}[r.IntN(4)]
	}
	for range rows {
		set := func(i int) bool { return r.Float64() < density[i] }
		if set(0) {
			b.Int(0, r.Int64()-r.Int64())
		}
		if set(1) {
			b.Float(1, r.NormFloat64())
		}
		if set(2) {
			b.Bool(2, r.IntN(2) == 0)
		}
		if set(3) {
			b.Text(3, []byte("text é"[:r.IntN(6)]))
		}
		if set(4) {
			b.Dict(4, []byte{byte('a' + r.IntN(5))})
		}
		if set(5) {
			list := b.OpenList(5)
			for range r.IntN(4) {
				list = append(list, r.Int64())
			}
			b.CloseList(5, list)
		}
		b.EndRow()
	}
	return b.Take(nil, "")
}

// readRecord reads row i of an Arrow record of testTable by Arrow's own means.
func readRecord(rec arrow.RecordBatch, i int) row {
	var r row
	if c := rec.Column(0).(*array.Int64); c.IsValid(i) {
		v := c.Value(i)
		r.i = &v
	}
	if c := rec.Column(1).(*array.Float64); c.IsValid(i) {
		v := c.Value(i)
		r.f = &v
	}
	if c := rec.Column(2).(*array.Boolean); c.IsValid(i) {
		v := c.Value(i)
		r.b = &v
	}
	if c := rec.Column(3).(*array.String); c.IsValid(i) {
		v := c.Value(i)
		r.t = &v
	}
	if c := rec.Column(4).(*array.Dictionary); c.IsValid(i) {
		v := c.Dictionary().(*array.String).Value(c.GetValueIndex(i))
		r.d = &v
	}
	if c := rec.Column(5).(*array.List); c.IsValid(i) {
		from, to := c.ValueOffsets(i)
		r.l, r.hasL = append([]int64{}, c.ListValues().(*array.Int64).Int64Values()[from:to]...), true
	}
	return r
}

// TestP79RecordRoundTrip wraps random batches, those without rows and columns
// that are null throughout included, and reads them back through Arrow.
func TestP79RecordRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	schema := record.Schema(testTable)
	for n := range 200 {
		b := randomBatch(r, n%70)
		rec := record.Of(b, schema)
		if rec.NumRows() != int64(b.Rows) || !rec.Schema().Equal(schema) {
			t.Fatalf("%d rows of %s", rec.NumRows(), rec.Schema())
		}
		for c := range testTable.Fields {
			if got, want := rec.Column(c).NullN(), b.Nulls(trace.Col(c)); got != want {
				t.Fatalf("column %d: %d nulls, want %d", c, got, want)
			}
		}
		for i := range b.Rows {
			if got, want := readRecord(rec, i), read(b, i); !reflect.DeepEqual(got, want) {
				t.Fatalf("row %d: got %+v, want %+v", i, got, want)
			}
		}
		rec.Release()
	}
}

// TestRecordSharesMemory: the values of a record are the batch's, not copies.
func TestRecordSharesMemory(t *testing.T) {
	b := trace.NewBuilder(testTable)
	for i := range 100 {
		b.Int(0, int64(i))
		b.Float(1, 1)
		b.Bool(2, true)
		b.Text(3, []byte("x"))
		b.Dict(4, []byte("d"))
		b.List(5, []int64{1, 2})
		b.EndRow()
	}
	b.EndRow() // a row of nulls gives every column a bitmap
	batch := b.Take(nil, "")
	rec := record.Of(batch, record.Schema(testTable))
	defer rec.Release()
	at := func(column, buffer int) unsafe.Pointer {
		return unsafe.Pointer(unsafe.SliceData(rec.Column(column).Data().Buffers()[buffer].Bytes()))
	}
	for name, same := range map[string]bool{
		"ints":         at(0, 1) == unsafe.Pointer(unsafe.SliceData(batch.Ints(0).Values)),
		"floats":       at(1, 1) == unsafe.Pointer(unsafe.SliceData(batch.Floats(1).Values)),
		"bools":        at(2, 1) == unsafe.Pointer(unsafe.SliceData(batch.Bools(2).Values)),
		"text offsets": at(3, 1) == unsafe.Pointer(unsafe.SliceData(batch.Texts(3).Offsets)),
		"text data":    at(3, 2) == unsafe.Pointer(unsafe.SliceData(batch.Texts(3).Data)),
		"codes":        at(4, 1) == unsafe.Pointer(unsafe.SliceData(batch.Dicts(4).Codes)),
		"list offsets": at(5, 1) == unsafe.Pointer(unsafe.SliceData(batch.Lists(5).Offsets)),
		"list values": unsafe.Pointer(unsafe.SliceData(rec.Column(5).Data().Children()[0].Buffers()[1].Bytes())) ==
			unsafe.Pointer(unsafe.SliceData(batch.Lists(5).Values)),
		"bitmap": at(0, 0) == unsafe.Pointer(unsafe.SliceData(batch.Ints(0).Valid)),
	} {
		if !same {
			t.Errorf("%s were copied", name)
		}
	}
}

// TestP80PublicTypes: the tables use only types that every reader has, and each
// column's metadata says what it is.
func TestP80PublicTypes(t *testing.T) {
	for _, table := range []*trace.Table{trace.Requests, trace.Steps, trace.Collectives, trace.Histograms, trace.ReportedTable} {
		for _, f := range record.Schema(table).Fields() {
			switch f.Type.String() {
			case "int64", "float64", "bool", "utf8", "dictionary<values=utf8, indices=int32, ordered=false>", "list<element: int64>":
			default:
				t.Errorf("%s.%s has type %s", table.Name, f.Name, f.Type)
			}
			if doc, ok := f.Metadata.GetValue("doc"); !ok || doc == "" {
				t.Errorf("%s.%s has no doc", table.Name, f.Name)
			}
		}
	}
	f, _ := record.Schema(trace.Requests).FieldsByName("first_token")
	if u, _ := f[0].Metadata.GetValue("unit"); u != "ns" {
		t.Errorf("unit of first_token is %q", u)
	}
	if s, _ := f[0].Metadata.GetValue("stamp"); s != "true" {
		t.Error("first_token is not marked as a stamp")
	}
}
