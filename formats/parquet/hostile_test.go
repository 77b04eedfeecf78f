package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"servescope/formats"
	"servescope/formats/internal/column"

	pq "github.com/parquet-go/parquet-go"
)

// drain reads all columns and touches every value. It returns the rows that were
// read, those that are told to be missing, and those that the footer promises.
func drain(t testing.TB, data []byte) (read, missing, promised int64, err error) {
	c, err := newCursor(bytes.NewReader(data), int64(len(data)), formats.Whole)
	if err != nil {
		if !errors.As(err, new(damaged)) {
			t.Fatalf("an error that is not of the content: %v", err)
		}
		return 0, 0, 0, err
	}
	fields := c.Fields()
	want := make([]bool, len(fields))
	for i := range want {
		want[i] = fields[i].Kind != column.None
	}
	c.Select(want)
	for c.Next() {
		b := c.Batch()
		if b.Rows < 1 || b.Rows > maxBatch {
			t.Fatalf("a batch of %d rows", b.Rows)
		}
		for k := range fields {
			for _, i := range []int{0, b.Rows / 2, b.Rows - 1} {
				valueOf(&fields[k], &b.Columns[k], i)
			}
		}
		if read += int64(b.Rows); read > 1<<22 {
			t.Skip("many rows")
		}
	}
	if c.Err() != nil {
		t.Fatal(c.Err())
	}
	for _, d := range c.Damage() {
		missing += d.Rows
	}
	if read+missing != c.rows {
		t.Fatalf("%d rows are read and %d missing of %d", read, missing, c.rows)
	}
	return read, missing, c.rows, nil
}

func small(t testing.TB, n int) []byte {
	r := rand.New(rand.NewPCG(3, 4))
	var out bytes.Buffer
	w := pq.NewGenericWriter[row](&out, pq.Compression(&pq.Zstd), pq.PageBufferSize(500), pq.MaxRowsPerRowGroup(20))
	if _, err := w.Write(randomRows(r, n)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestDamaged: whatever bytes are changed or missing, rows are read or told to be
// missing, and nothing panics.
func TestDamaged(t *testing.T) {
	data := small(t, 60)
	r := rand.New(rand.NewPCG(5, 6))
	lost := 0
	for range 3000 {
		bad := bytes.Clone(data)
		for range 1 + r.IntN(4) {
			bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
		}
		if _, missing, _, err := drain(t, bad); err != nil || missing > 0 {
			lost++
		}
	}
	if lost == 0 {
		t.Error("no damage was noticed")
	}
	for n := range data {
		if _, _, _, err := drain(t, data[:n]); err == nil {
			t.Fatalf("cut at byte %d of %d it is read", n, len(data))
		}
	}
}

// file returns a Parquet file of the given parts of a footer, made by hand.
func file(body []byte, footer ...byte) []byte {
	out := append([]byte(magic), body...)
	out = append(out, footer...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
	return append(out, magic...)
}

// column of the compact protocol: header of a field or list.
const (
	i32    = 0x10 | thriftI32
	i64    = 0x10 | thriftI64
	list   = 0x10 | thriftList
	text   = 0x10 | thriftBinary
	group1 = 0x10 | thriftStruct
)

// bomb is a file of one column of the given repetition, with a page of values
// levels in a row group of as many rows.
func bomb(repetition byte, values uint64, size uint64, body []byte) []byte {
	n := binary.AppendUvarint(nil, 2*values)
	sz := binary.AppendUvarint(nil, 2*size)
	page := []byte{i32, 0, i32} // data page, uncompressed size, compressed size
	page = append(page, sz...)
	page = append(page, i32)
	page = append(page, sz...)
	page = append(page, 0x20|thriftStruct, i32) // data page header
	page = append(page, n...)
	page = append(page, i32, 0, i32, 6, i32, 6, 0, 0)
	page = append(page, body...)
	footer := []byte{i32, 2, list, 0x20 | thriftStruct}
	footer = append(footer, 0x40|thriftBinary, 1, 'm', i32, 2, 0)                  // root of one child: fields 4 and 5
	footer = append(footer, i32, 4, 0x20|thriftI32, 2*repetition, text, 1, 'x', 0) // int64 x
	footer = append(footer, i64)                                                   // num_rows
	footer = append(footer, n...)                                                  //
	footer = append(footer, list, 0x10|thriftStruct, list, 0x10|thriftStruct)      // row group, its columns
	footer = append(footer, 0x30|thriftStruct, i32, 4)                             // column metadata: type
	footer = append(footer, 0x30|thriftI32, 0, i64)                                // codec, num_values
	footer = append(footer, n...)                                                  //
	footer = append(footer, 0x20|thriftI64)                                        // total_compressed_size
	footer = append(footer, binary.AppendUvarint(nil, 2*uint64(len(page)))...)     //
	footer = append(footer, 0x20|thriftI64, 8, 0, 0, 0x20|thriftI64)               // data_page_offset, num_rows
	return file(page, append(append(footer, n...), 0, 0)...)
}

// TestBombs: a few bytes that claim much cost no memory by their claims.
func TestBombs(t *testing.T) {
	levels := binary.AppendUvarint(nil, 1<<62) // a run for ever
	levels = append(levels, 0)
	levels = append([]byte{byte(len(levels)), 0, 0, 0}, levels...)
	if read, _, _, err := drain(t, bomb(1, 1<<16, uint64(len(levels)), levels)); err != nil || read != 1<<16 {
		t.Fatalf("65536 nulls: %d rows, %v", read, err) // the bombs are made as they should be
	}
	delta := append([]byte{128, 1, 4}, binary.AppendUvarint(nil, 1<<40)...)
	for name, data := range map[string][]byte{
		"rows":          bomb(1, 1<<50, uint64(len(levels)), levels),
		"rows of lists": bomb(2, 1<<24, uint64(2*len(levels)), bytes.Repeat(levels, 2)),
		"page":          bomb(1, 1<<10, 1<<40, levels),
		"values":        bomb(0, 1<<20, uint64(len(delta)), delta),
		"footer":        append([]byte("PAR1aaaa"), "\xff\xff\xff\x7fPAR1"...),
		"list":          file(nil, list, 0xf0|thriftStruct, 0xff, 0xff, 0xff, 0xff, 0x7f),
		"depth":         file(nil, bytes.Repeat([]byte{0xf0 | thriftStruct}, 1<<20)...),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		read, missing, _, err := drain(t, data)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 300<<20 {
			t.Errorf("%s: %d bytes of %d", name, used, len(data))
		}
		if err == nil && missing == 0 && name != "rows of lists" {
			t.Errorf("%s: %d rows and no error", name, read)
		}
	}
}

// FuzzRead: no bytes make reading panic, and every row that a footer promises is
// read or told to be missing.
func FuzzRead(f *testing.F) {
	f.Add(small(f, 30))
	inputs, _ := filepath.Glob(filepath.Join("..", "..", "testdata", "formats", "parquet", "*", "input.parquet"))
	for _, path := range inputs {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { drain(t, data) })
}
