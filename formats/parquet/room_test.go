package parquet

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"servescope/formats"

	pq "github.com/parquet-go/parquet-go"
)

// TestPagesShareRoom reads columns whose pages are as large as their row group: one of
// them at a time is held decompressed, and none compressed, beside the values.
func TestPagesShareRoom(t *testing.T) {
	type numbers struct {
		A, B, C, D int64
		T          string
	}
	const n = 600_000 // of 4.8 MB a page of integers, which do not compress
	r := rand.New(rand.NewPCG(5, 5))
	rows := make([]numbers, n)
	text := make([]byte, 9)
	for i := range rows {
		for k := range text {
			text[k] = byte(r.IntN(256))
		}
		rows[i] = numbers{r.Int64(), r.Int64(), r.Int64(), r.Int64(), string(text)}
	}
	var file bytes.Buffer
	w := pq.NewGenericWriter[numbers](&file, pq.Compression(&pq.Zstd), pq.PageBufferSize(64<<20), pq.MaxRowsPerRowGroup(n))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := newCursor(bytes.NewReader(file.Bytes()), int64(file.Len()), formats.Whole)
	if err != nil {
		t.Fatal(err)
	}
	c.Select([]bool{true, true, true, true, true})
	at := 0
	for c.Next() {
		b := c.Batch()
		for i := range b.Rows {
			got := numbers{b.Columns[0].Ints[i], b.Columns[1].Ints[i], b.Columns[2].Ints[i], b.Columns[3].Ints[i],
				string(b.Columns[4].Data[b.Columns[4].Offsets[i]:b.Columns[4].Offsets[i+1]])}
			if got != rows[at+i] {
				t.Fatalf("row %d is %v, want %v", at+i, got, rows[at+i])
			}
		}
		at += b.Rows
		held := 0
		for _, p := range c.cols {
			if p.rows != n {
				t.Fatalf("a page of %d rows tests nothing", p.rows)
			}
			held += cap(p.in.raw) + cap(p.in.buf)
		}
		if held > 5*mostRead/4 {
			t.Fatalf("columns hold %d bytes of their pages", held)
		}
	}
	if c.Err() != nil || len(c.Damage()) > 0 || at != n {
		t.Errorf("%d rows, %v, %v", at, c.Err(), c.Damage())
	}
}
