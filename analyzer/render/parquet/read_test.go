package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"servescope/analyzer/render/table"
	"servescope/analyzer/render/tabletest"
	"servescope/analyzer/trace"

	pq "github.com/parquet-go/parquet-go"
)

// write returns the file of a table and the rows that went into it.
func write(t *testing.T, tab *table.Table, batches ...*trace.Batch) ([]byte, []tabletest.Row) {
	t.Helper()
	var want []tabletest.Row
	var out bytes.Buffer
	w := NewWriter(&out, tab)
	for _, b := range batches {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	// A second table has its own row numbers.
	var again *table.Table
	for _, other := range table.All(table.Options{}) {
		if other.Name == tab.Name {
			again = other
		}
	}
	for _, b := range batches {
		again.Each(b, func(b *trace.Batch) error {
			want = append(want, tabletest.Rows(b)...)
			return nil
		})
	}
	return out.Bytes(), want
}

// read reads a file with parquet-go's own reader, an implementation that shares
// only the encoders with the writer.
func read(t *testing.T, file []byte, fields []trace.Field) []tabletest.Row {
	t.Helper()
	f, err := pq.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var out []tabletest.Row
	for _, group := range f.RowGroups() {
		rows := group.Rows()
		buf := make([]pq.Row, 100)
		for {
			n, err := rows.ReadRows(buf)
			for _, row := range buf[:n] {
				out = append(out, decode(row, fields))
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		rows.Close()
	}
	return out
}

func decode(row pq.Row, fields []trace.Field) tabletest.Row {
	out := tabletest.Row{}
	for _, v := range row {
		f := &fields[v.Column()]
		switch {
		case f.Type == trace.List && v.IsNull():
			if out[f.Name] = nil; v.DefinitionLevel() == 1 {
				out[f.Name] = []int64{}
			}
		case f.Type == trace.List:
			list, _ := out[f.Name].([]int64)
			out[f.Name] = append(list, v.Int64())
		case v.IsNull():
			out[f.Name] = nil
		case f.Type == trace.Float64:
			out[f.Name] = v.Double()
		case f.Type == trace.Bool:
			out[f.Name] = v.Boolean()
		case f.Type == trace.Text || f.Type == trace.Dict:
			out[f.Name] = string(v.ByteArray())
		default:
			out[f.Name] = v.Int64()
		}
	}
	return out
}

func compare(t *testing.T, got, want []tabletest.Row) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range want {
		for name, v := range want[i] {
			have, ok := got[i][name]
			if !ok || !tabletest.Equal(have, v) {
				t.Fatalf("row %d: %s is %#v, want %#v", i, name, have, v)
			}
		}
	}
}

// TestP79RoundTrip writes random batches, of several runs and clocks, and reads
// them back: columns that are null throughout, empty lists and null lists, and
// tables without rows included.
func TestP79RoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 30 {
		var batches []*trace.Batch
		for i := range n % 5 {
			label := string(rune('a' + i/2))
			batches = append(batches, tabletest.Requests(r, label, r.IntN(300), trace.Clock{Kind: trace.ClockKind(i % 4)}))
		}
		for _, tab := range []*table.Table{table.Requests(table.Options{}), table.Tokens()} {
			file, want := write(t, tab, batches...)
			compare(t, read(t, file, tab.Fields), want)
		}
	}
}

// TestExtremes: values at the ends of their types, and long texts and lists that
// fill pages of their own.
func TestExtremes(t *testing.T) {
	b := trace.NewBuilder(trace.Requests)
	ints := []int64{math.MinInt64, math.MaxInt64, 0, -1, 1, math.MinInt64, math.MinInt64, math.MaxInt64}
	for i := range 3000 {
		b.Int(trace.DQueue, ints[i%len(ints)])
		b.Text(trace.RequestID, []byte(strings.Repeat("x", i%4096)))
		b.Dict(trace.Model, []byte(strings.Repeat("m", i%1000)))
		if i%1000 == 0 {
			list := b.OpenList(trace.ChunkGaps)
			for j := range 2 * pageValues {
				list = append(list, ints[j%len(ints)])
			}
			b.CloseList(trace.ChunkGaps, list)
		} else if i%3 == 0 {
			b.List(trace.ChunkGaps, ints[:i%8])
		}
		b.EndRow()
	}
	batch := b.Take(&trace.RunMeta{Label: "r"}, "f")
	tab := table.Requests(table.Options{})
	file, want := write(t, tab, batch)
	compare(t, read(t, file, tab.Fields), want)
}

// TestRowGroups: a table of more rows than a row group holds.
func TestRowGroups(t *testing.T) {
	batch := load(2000, 300)
	var out bytes.Buffer
	w := NewWriter(&out, table.Tokens())
	for range 2 {
		if err := w.Write(batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := pq.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	groups := f.RowGroups()
	next := groups[0].NumRows()
	if len(groups) != 2 || next > maxGroupRows || next%300 == 0 || f.NumRows() != 2*2000*300 {
		t.Fatalf("%d row groups, the first of %d, %d rows", len(groups), next, f.NumRows())
	} // the second group begins inside a response
	rows := groups[1].Rows()
	defer rows.Close()
	buf := make([]pq.Row, 1000)
	for {
		n, err := rows.ReadRows(buf)
		for _, row := range buf[:n] {
			if row[2].Int64() != next/300 || row[3].Int64() != next%300 {
				t.Fatalf("row %d is chunk %d of request %d", next, row[3].Int64(), row[2].Int64())
			}
			next++
		}
		if err != nil {
			break
		}
	}
	if next != f.NumRows() {
		t.Errorf("the last row is %d", next)
	}
}

// TestMemoryIsBounded: the writer holds a row group and no more.
func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 32 million rows")
	}
	batch := load(2000, 200)
	for _, tab := range []*table.Table{table.Requests(table.Options{}), table.Tokens()} {
		w := NewParallel(io.Discard, tab, 2)
		most := 0
		for range 40 {
			if err := w.Write(batch); err != nil {
				t.Fatal(err)
			}
			size := 0
			for i := range w.chunks {
				size += w.chunks[i].size()
			}
			most = max(most, size)
		}
		if w.Close(); most > maxGroupBytes+(8<<20) {
			t.Errorf("%s held %d bytes", tab.Name, most)
		}
	}
}

// TestP76P80Schema: the schema has no timestamps in nanoseconds unless they are
// asked for, no unsigned integers, and lists in the standard form.
func TestP76P80Schema(t *testing.T) {
	for _, nanos := range []bool{false, true} {
		for _, tab := range table.All(table.Options{Nanos: nanos}) {
			var out bytes.Buffer
			if err := NewWriter(&out, tab).Close(); err != nil {
				t.Fatal(err)
			}
			f, err := pq.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
			if err != nil {
				t.Fatal(err)
			}
			if f.NumRows() != 0 || len(f.Schema().Fields()) != len(tab.Fields) {
				t.Errorf("%s: %d rows, %d columns", tab.Name, f.NumRows(), len(f.Schema().Fields()))
			}
			text := f.Schema().String()
			for _, never := range []string{"UINT", "INT96", "DECIMAL", "INTERVAL"} {
				if strings.Contains(strings.ToUpper(text), never) {
					t.Errorf("%s has a column of type %s", tab.Name, never)
				}
			}
			stamps := tab.Name != "tokens" && tab.Name != "summary" && tab.Name != "reported"
			if strings.Contains(text, "unit=NANOS") != (nanos && stamps) || strings.Contains(text, "unit=MICROS") != (!nanos && stamps) {
				t.Errorf("%s with nanos %v: %s", tab.Name, nanos, text)
			}
			if tab.Name == "requests" && !strings.Contains(text, "optional group chunk_gaps (LIST) {\n\t\trepeated group list {\n\t\t\trequired int64 element ") {
				t.Errorf("chunk_gaps is not a standard list: %s", text)
			}
		}
	}
}

// TestStatistics compares the statistics of the file with the values.
func TestStatistics(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	tab := table.Requests(table.Options{})
	file, rows := write(t, tab, tabletest.Requests(r, "a", 500, trace.Clock{}))
	f, err := pq.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range f.Metadata().RowGroups[0].Columns {
		field := &tab.Fields[i]
		nulls, least, greatest := int64(0), int64(math.MaxInt64), int64(math.MinInt64)
		for _, row := range rows {
			switch v := row[field.Name].(type) {
			case nil:
				nulls++
			case int64:
				least, greatest = min(least, v), max(greatest, v)
			}
		}
		s := c.MetaData.Statistics
		if field.Type != trace.List && s.NullCount != nulls {
			t.Errorf("%s: %d nulls, want %d", field.Name, s.NullCount, nulls)
		}
		if field.Type == trace.Int64 && nulls < int64(len(rows)) {
			lo, hi := int64(binary.LittleEndian.Uint64(s.MinValue)), int64(binary.LittleEndian.Uint64(s.MaxValue))
			if lo != least || hi != greatest {
				t.Errorf("%s: %d to %d, want %d to %d", field.Name, lo, hi, least, greatest)
			}
		}
		if nulls == int64(len(rows)) && s.MinValue != nil {
			t.Errorf("%s is null throughout and has a minimum", field.Name)
		}
	}
}

// TestWriteError: an error of the file is reported by Write or Close.
func TestWriteError(t *testing.T) {
	broken := errors.New("disk full")
	for limit := range 40 {
		w := NewParallel(&failing{left: limit * 100, err: broken}, table.Requests(table.Options{}), 2)
		err := w.Write(load(10, 3))
		if cerr := w.Close(); err == nil {
			err = cerr
		}
		if !errors.Is(err, broken) {
			t.Errorf("after %d bytes: %v", limit*100, err)
		}
	}
}

type failing struct {
	left int
	err  error
}

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, f.err
	}
	return len(b), nil
}
