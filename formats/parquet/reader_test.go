package parquet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"servescope/formats"
	"servescope/formats/internal/column"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

// row has the types that other programs write, in the model of parquet-go.
type row struct {
	I     int64     `parquet:"i"`
	Small *int32    `parquet:"small,optional"`
	F     *float64  `parquet:"f,optional"`
	F32   float32   `parquet:"f32,split"`
	B     *bool     `parquet:"b,optional"`
	T     *string   `parquet:"t,optional"`
	D     *string   `parquet:"d,optional,dict"`
	Delta int64     `parquet:"delta,delta"`
	DI    *int64    `parquet:"di,optional,dict"`
	DL    string    `parquet:"dl"`
	At    time.Time `parquet:"at,timestamp(millisecond)"`
	G     struct {
		X *int64 `parquet:"x,optional"`
	} `parquet:"g"`
	L     []int64   `parquet:"l,list"`
	LF    []float64 `parquet:"lf"`
	Words []string  `parquet:"words,list"`
	Codes []string  `parquet:"codes,dict"`
	Alike string    `parquet:"alike,delta"`
	U32   uint32    `parquet:"u32"`
	Token [3]byte   `parquet:"token"`
}

func maybe[T any](r *rand.Rand, v T) *T {
	if r.IntN(3) == 0 {
		return nil
	}
	return &v
}

func randomRows(r *rand.Rand, n int) []row {
	rows := make([]row, n)
	for i := range rows {
		rows[i] = row{I: r.Int64() - r.Int64(), Small: maybe(r, int32(r.Int())), F: maybe(r, r.NormFloat64()), F32: r.Float32(),
			B: maybe(r, r.IntN(2) == 0), T: maybe(r, fmt.Sprint(r.IntN(1e6))), D: maybe(r, fmt.Sprint(r.IntN(5))),
			Delta: int64(i)*1000 + r.Int64N(100), DI: maybe(r, r.Int64N(4)), DL: fmt.Sprint(r.IntN(1e9)), At: time.UnixMilli(r.Int64N(1e12)).UTC()}
		rows[i].G.X = maybe(r, r.Int64())
		for range r.IntN(4) * r.IntN(40) {
			rows[i].L = append(rows[i].L, r.Int64N(1e7))
		}
		for range r.IntN(3) {
			rows[i].LF = append(rows[i].LF, r.Float64())
		}
		for range r.IntN(9) * r.IntN(9) {
			rows[i].Words = append(rows[i].Words, strings.Repeat("wörd", r.IntN(3)))
			rows[i].Codes = append(rows[i].Codes, fmt.Sprint("code", r.IntN(5)))
		}
		rows[i].Alike, rows[i].U32 = fmt.Sprint("request-", i/3, "-", r.IntN(3)), r.Uint32()
		copy(rows[i].Token[:], fmt.Sprint(100+r.IntN(900)))
	}
	return rows
}

// want is a row as the columns give it; a list that is null is not known from an
// empty one in the model of parquet-go.
func (r *row) want() []any {
	at := func(p any) any {
		if v := reflect.ValueOf(p); !v.IsNil() {
			return v.Elem().Interface()
		}
		return nil
	}
	var small any
	if r.Small != nil {
		small = int64(*r.Small)
	}
	return []any{r.I, small, at(r.F), float64(r.F32), at(r.B), at(r.T), at(r.D), r.Delta, at(r.DI), r.DL, r.At.UnixMilli(), at(r.G.X),
		fmt.Sprint(r.L), fmt.Sprint(r.LF), fmt.Sprintf("%q", r.Words), fmt.Sprintf("%q", r.Codes), r.Alike, int64(r.U32), string(r.Token[:])}
}

// valueOf returns value i of a column.
func valueOf(f *column.Field, c *column.Column, i int) any {
	switch {
	case f.Kind == column.IntList:
		if c.Null || !c.Valid.Valid(i) {
			return "[]"
		}
		return fmt.Sprint(c.Ints[c.Offsets[i]:c.Offsets[i+1]])
	case f.Kind == column.FloatList:
		if c.Null || !c.Valid.Valid(i) {
			return "[]"
		}
		return fmt.Sprint(c.Floats[c.Offsets[i]:c.Offsets[i+1]])
	case f.Kind == column.TextList:
		var list []string
		for k := 0; !c.Null && c.Valid.Valid(i) && k < int(c.Offsets[i+1]-c.Offsets[i]); k++ {
			at := int(c.Offsets[i]) + k
			list = append(list, string(c.Data[c.Spans[at]:c.Spans[at+1]]))
		}
		return fmt.Sprintf("%q", list)
	case f.Kind == column.None || c.Null || !c.Valid.Valid(i):
		return nil
	case f.Kind == column.Int:
		return c.Ints[i]
	case f.Kind == column.Float:
		return c.Floats[i]
	case f.Kind == column.Bool:
		return c.Bits.Valid(i)
	case c.Codes != nil:
		return c.Values[c.Codes[i]]
	}
	return string(c.Data[c.Offsets[i]:c.Offsets[i+1]])
}

// readAll returns the rows of the given ranges.
func readAll(t testing.TB, data []byte, ranges ...formats.Range) (fields []column.Field, rows [][]any) {
	t.Helper()
	for _, rng := range ranges {
		c, err := newCursor(bytes.NewReader(data), int64(len(data)), rng)
		if err != nil {
			t.Fatal(err)
		}
		fields = c.Fields()
		want := make([]bool, len(fields))
		for i := range want {
			want[i] = fields[i].Kind != column.None
		}
		c.Select(want)
		for c.Next() {
			b := c.Batch()
			for i := range b.Rows {
				var row []any
				for k := range fields {
					row = append(row, valueOf(&fields[k], &b.Columns[k], i))
				}
				rows = append(rows, row)
			}
		}
		if c.Err() != nil || len(c.Damage()) > 0 {
			t.Fatal(c.Err(), c.Damage())
		}
	}
	return fields, rows
}

// TestReadOthers: files of another writer, with every type, encoding, version of
// pages and size of them, and with rows that go on in the next page.
func TestReadOthers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	for round := range rounds {
		rows := randomRows(r, 1+r.IntN(3000))
		codec := []compress.Codec{&pq.Uncompressed, &pq.Snappy, &pq.Gzip, &pq.Zstd, &pq.Brotli, &pq.Lz4Raw}[round%6]
		var out bytes.Buffer
		w := pq.NewGenericWriter[row](&out, pq.Compression(codec), pq.DataPageVersion(1+round/6%2), pq.PageBufferSize(64+r.IntN(9000)),
			pq.MaxRowsPerRowGroup(int64(1+r.IntN(2000))))
		if _, err := w.Write(rows); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		cut := r.Int64N(int64(out.Len()))
		fields, got := readAll(t, out.Bytes(), formats.Range{From: 0, To: cut}, formats.Range{From: cut, To: -1})
		if len(got) != len(rows) {
			t.Fatalf("round %d: %d rows, want %d", round, len(got), len(rows))
		}
		for i := range rows {
			if want := rows[i].want(); !reflect.DeepEqual(got[i], want) {
				t.Fatalf("round %d, row %d:\n got %v\nwant %v", round, i, got[i], want)
			}
		}
		if f := fields[10]; f.Name != "at" || f.Step != 1e6 || !f.Instant || !f.UTC {
			t.Errorf("timestamp: %+v", f)
		}
		if f := fields[11]; f.Name != "g.x" || fields[12].Name != "l" || fields[13].Kind != column.FloatList {
			t.Errorf("names: %+v", fields)
		}
	}
}
