package arrow

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"servescope/formats"
	"servescope/formats/internal/column"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// drain reads all columns in the given ranges and touches values of each batch. It
// returns the rows and the damages.
func drain(t testing.TB, data []byte, ranges ...formats.Range) (rows, lost int) {
	for _, rng := range ranges {
		tab, err := newTable(bytes.NewReader(data), int64(len(data)), rng)
		if err != nil {
			if !errors.As(err, new(damaged)) {
				t.Fatalf("an error that is not of the content: %v", err)
			}
			return 0, 1
		}
		fields := tab.Fields()
		want := make([]bool, len(fields))
		for i := range want {
			want[i] = fields[i].Kind != column.None
		}
		tab.Select(want)
		for tab.Next() {
			b := tab.Batch()
			rows += b.Rows
			for k := range fields {
				for _, i := range []int{0, b.Rows / 2, b.Rows - 1} {
					touch(&b.Columns[k], fields[k].Kind, i)
				}
			}
		}
		if tab.Err() != nil {
			t.Fatal(tab.Err())
		}
		lost += len(tab.Damage())
	}
	return rows, lost
}

// touch reads value i.
func touch(c *column.Column, k column.Kind, i int) any {
	switch {
	case c.Null || !c.Valid.Valid(i):
		return nil
	case k == column.Int:
		return c.Ints[i]
	case k == column.Float:
		return c.Floats[i]
	case k == column.Bool:
		return c.Bits.Valid(i)
	case k == column.IntList:
		return append([]int64{}, c.Ints[c.Offsets[i]:c.Offsets[i+1]]...)
	case k == column.FloatList:
		return append([]float64{}, c.Floats[c.Offsets[i]:c.Offsets[i+1]]...)
	case k == column.TextList:
		out := []string{}
		for n := c.Offsets[i]; n < c.Offsets[i+1]; n++ {
			out = append(out, string(c.Data[c.Spans[n]:c.Spans[n+1]]))
		}
		return out
	case c.Codes != nil:
		return c.Values[c.Codes[i]]
	}
	return string(c.Data[c.Offsets[i]:c.Offsets[i+1]])
}

func fixtures(t testing.TB) (out [][]byte) {
	paths, _ := filepath.Glob(filepath.Join("..", "..", "testdata", "formats", "arrow", "*", "input.*"))
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, data)
	}
	if len(out) == 0 {
		t.Fatal("no fixtures")
	}
	return out
}

// TestDamaged: whatever bits are changed, nothing panics, and the same rows are
// read in one range and in two.
func TestDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	noticed := 0
	for _, data := range fixtures(t) {
		for range 150 {
			bad := bytes.Clone(data)
			for range 1 + r.IntN(4) {
				bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
			}
			cut := r.Int64N(int64(len(bad)))
			rows, lost := drain(t, bad, formats.Whole)
			again, lostAgain := drain(t, bad, formats.Range{From: 0, To: cut}, formats.Range{From: cut, To: -1})
			if rows != again || lost != lostAgain {
				t.Fatalf("%d rows and %d damages, but %d and %d when it is cut at %d", rows, lost, again, lostAgain, cut)
			}
			noticed += lost
		}
		for range 60 {
			n := r.IntN(len(data) - 1)
			if _, lost := drain(t, data[:n], formats.Whole); lost == 0 && n < len(data)/2 {
				t.Fatalf("cut at byte %d of %d nothing is amiss", n, len(data))
			}
		}
	}
	if noticed == 0 {
		t.Error("no damage was noticed")
	}
}

// TestTypes: every type that is read gives its values, in every container and
// compression of other writers.
func TestTypes(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "i8", Type: arrow.PrimitiveTypes.Int8}, {Name: "u32", Type: arrow.PrimitiveTypes.Uint32, Nullable: true},
		{Name: "f32", Type: arrow.PrimitiveTypes.Float32}, {Name: "b", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "ls", Type: arrow.BinaryTypes.LargeString, Nullable: true}, {Name: "sv", Type: arrow.BinaryTypes.StringView},
		{Name: "ts", Type: &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}},
		{Name: "d", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, Nullable: true},
		{Name: "lf", Type: arrow.LargeListOf(arrow.PrimitiveTypes.Float64), Nullable: true},
		{Name: "li", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32), Nullable: true},
		{Name: "st", Type: arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int64, Nullable: true}), Nullable: true},
		{Name: "dec", Type: &arrow.Decimal128Type{Precision: 38, Scale: 3}, Nullable: true},
		{Name: "lt", Type: arrow.ListOf(&arrow.TimestampType{Unit: arrow.Microsecond})},
		{Name: "lt2", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
	}, nil)
	text := `[{"i8":-3,"u32":null,"f32":0.5,"b":true,"ls":"ä","sv":"a text longer than twelve bytes","ts":"2026-01-01 00:00:00.123Z","d":"x","lf":[0.25,1],"li":[1,2],"st":{"x":1},"dec":"85.200","lt":["1970-01-01 00:00:01.5"],"lt2":["a","bc"]},
		{"i8":4,"u32":4000000000,"f32":-1,"b":null,"ls":null,"sv":"","ts":"1969-12-31 23:59:59.999Z","d":null,"lf":null,"li":[],"st":null,"dec":"-12345678901234567890123.001","lt":[],"lt2":[]},
		{"i8":0,"u32":1,"f32":0,"b":false,"ls":"","sv":"s","ts":"1970-01-01 00:00:00.000Z","d":"y","lf":[],"li":[7,null],"st":{"x":3},"dec":null,"lt":["1970-01-01 00:00:00","1970-01-01 00:00:00.000001"],"lt2":["x",null]}]`
	rec := record(t, schema, text)
	want := [][]any{
		{int64(-3), int64(4), int64(0)}, {nil, int64(4000000000), int64(1)}, {0.5, -1.0, 0.0}, {true, nil, false},
		{"ä", nil, ""}, {"a text longer than twelve bytes", "", "s"}, {int64(1767225600123), int64(-1), int64(0)}, {"x", nil, "y"},
		{[]float64{0.25, 1}, nil, []float64{}}, {[]int64{1, 2}, []int64{}, nil}, {int64(1), nil, int64(3)},
		{"85.2", "-12345678901234567890123.001", nil}, {[]int64{1500000}, []int64{}, []int64{0, 1}}, {[]string{"a", "bc"}, []string{}, nil},
	}
	for name, opts := range map[string][]ipc.Option{"none": nil, "zstd": {ipc.WithZstd()}, "lz4": {ipc.WithLZ4()}} {
		for _, asFile := range []bool{false, true} {
			check(t, name, write(t, asFile, rec, append(opts, ipc.WithSchema(schema))), want)
		}
	}
}

// TestReferring: types whose rows refer to values, which others may share.
func TestReferring(t *testing.T) {
	list := arrow.PrimitiveTypes.Int64
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "fixed", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int32), Nullable: true},
		{Name: "view", Type: arrow.ListViewOf(list), Nullable: true}, {Name: "large", Type: arrow.LargeListViewOf(arrow.BinaryTypes.String), Nullable: true},
		{Name: "ends", Type: arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Float64), Nullable: true},
		{Name: "words", Type: arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String), Nullable: true},
		{Name: "codes", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint64, ValueType: arrow.FixedWidthTypes.Duration_ms}, Nullable: true},
		{Name: "half", Type: arrow.FixedWidthTypes.Float16, Nullable: true}, {Name: "bytes", Type: arrow.BinaryTypes.Binary, Nullable: true},
		{Name: "byte view", Type: arrow.BinaryTypes.BinaryView, Nullable: true}, {Name: "large bytes", Type: arrow.BinaryTypes.LargeBinary, Nullable: true},
		{Name: "uuid", Type: &arrow.FixedSizeBinaryType{ByteWidth: 16}, Nullable: true, Metadata: arrow.NewMetadata([]string{"ARROW:extension:name"}, []string{"arrow.uuid"})},
		{Name: "halves", Type: arrow.ListOf(arrow.FixedWidthTypes.Float16), Nullable: true},
		{Name: "decimals", Type: arrow.ListOf(&arrow.Decimal128Type{Precision: 38, Scale: 3}), Nullable: true},
		{Name: "coded", Type: arrow.ListOf(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}), Nullable: true},
	}, nil)
	text := `[{"fixed":[1,2],"view":[7],"large":["a","bc"],"ends":0.5,"words":"x","codes":"85ms","half":1.5,"bytes":"YWI=","byte view":"YWI=","large bytes":"YWI=","uuid":"AAAAAAAAQACAAAAAAAAAAQ==","halves":[0.5,-2],"decimals":["20.5","1"],"coded":["m","n","m"]},
		{"fixed":null,"view":null,"large":[],"ends":0.5,"words":"x","codes":null,"half":null,"bytes":null,"byte view":null,"large bytes":null,"uuid":null,"halves":null,"decimals":[],"coded":null},
		{"fixed":[3,null],"view":[],"large":null,"ends":null,"words":null,"codes":"85ms","half":-0.25,"bytes":"","byte view":"","large bytes":"","uuid":"AAAAAAAAQACAAAAAAAAAAg==","halves":[],"decimals":["1",null],"coded":[]}]`
	rec := record(t, schema, text)
	want := [][]any{
		{[]int64{1, 2}, nil, nil}, {[]int64{7}, nil, []int64{}}, {[]string{"a", "bc"}, []string{}, nil}, {0.5, 0.5, nil}, {"x", "x", nil}, {int64(85), nil, int64(85)},
		{1.5, nil, -0.25}, {"ab", nil, ""}, {"ab", nil, ""}, {"ab", nil, ""}, {"00000000-0000-4000-8000-000000000001", nil, "00000000-0000-4000-8000-000000000002"},
		{[]float64{0.5, -2}, nil, []float64{}}, {[]string{"20.5", "1"}, []string{}, nil}, {[]string{"m", "n", "m"}, nil, []string{}},
	}
	for _, asFile := range []bool{false, true} {
		check(t, "referring", write(t, asFile, rec, []ipc.Option{ipc.WithSchema(schema)}), want)
	}
}

// record returns the rows of a JSON array.
func record(t *testing.T, schema *arrow.Schema, text string) arrow.RecordBatch {
	t.Helper()
	var rows []json.RawMessage
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		t.Fatal(err)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for _, row := range rows {
		if err := b.UnmarshalJSON(row); err != nil {
			t.Fatal(err)
		}
	}
	return b.NewRecordBatch()
}

func write(t *testing.T, asFile bool, rec arrow.RecordBatch, opts []ipc.Option) []byte {
	t.Helper()
	var out bytes.Buffer
	var w interface {
		Write(arrow.RecordBatch) error
		Close() error
	} = ipc.NewWriter(&out, opts...)
	if asFile {
		var err error
		if w, err = ipc.NewFileWriter(&out, opts...); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func check(t *testing.T, name string, data []byte, want [][]any) {
	t.Helper()
	tab, err := newTable(bytes.NewReader(data), int64(len(data)), formats.Whole)
	if err != nil {
		t.Fatal(name, err)
	}
	fields := tab.Fields()
	wanted := make([]bool, len(fields))
	for i := range wanted {
		wanted[i] = fields[i].Kind != column.None
	}
	tab.Select(wanted)
	if !tab.Next() || tab.Batch().Rows != 3 {
		t.Fatal(name, tab.Err(), tab.Damage())
	}
	for k := range fields {
		for i := range 3 {
			if got := touch(&tab.Batch().Columns[k], fields[k].Kind, i); !same(got, want[k][i]) {
				t.Errorf("%s: %s[%d] is %v, want %v", name, fields[k].Name, i, got, want[k][i])
			}
		}
	}
	if tab.Next() || tab.Err() != nil || len(tab.Damage()) > 0 {
		t.Error(name, tab.Err(), tab.Damage())
	}
	if f := fields[6]; f.Name == "ts" && (f.Step != 1e6 || !f.Instant || !f.UTC) {
		t.Errorf("timestamp: %+v", f)
	}
}

func same(a, b any) bool {
	switch x := a.(type) {
	case []int64:
		y, ok := b.([]int64)
		return ok && len(x) == len(y) && (len(x) == 0 || x[0] == y[0] && x[len(x)-1] == y[len(y)-1])
	case []float64:
		y, ok := b.([]float64)
		return ok && len(x) == len(y) && (len(x) == 0 || x[0] == y[0] && x[len(x)-1] == y[len(y)-1])
	case []string:
		y, ok := b.([]string)
		return ok && slices.Equal(x, y)
	}
	return a == b
}

// FuzzRead: no bytes make reading panic.
func FuzzRead(f *testing.F) {
	for _, data := range fixtures(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { drain(t, data, formats.Whole) })
}
