package tokenlog

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/formatstest/generate/shapes"
	"servescope/formats/internal/block"
)

// read reads a source to its end and returns the number of rows.
func readAll(tb testing.TB, f *formats.Format, src formats.Source, opt formats.Options) (rows int, r formats.Reader) {
	tb.Helper()
	r, err := f.Open(context.Background(), src, formats.Whole, opt)
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
		rows += r.Batch().Rows
	}
	if r.Err() != nil {
		tb.Fatal(r.Err())
	}
	return rows, r
}

func BenchmarkRecords(b *testing.B) {
	var text bytes.Buffer
	shapes.Records(&text, shapes.Config{Seed: 1, Size: 32 << 20, Tokens: 200})
	benchmark(b, &Format, text.Bytes())
}

func benchmark(b *testing.B, f *formats.Format, text []byte) {
	src := formats.FromBytes("bench", text)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		rows, r := readAll(b, f, src, formats.Options{Workers: 1, Lists: true})
		if n := r.Diags().All(); rows == 0 || len(n) != 0 {
			b.Fatal(rows, n)
		}
	}
}

func BenchmarkEvents(b *testing.B) {
	for _, open := range []int{200, 50_000} {
		b.Run(fmt.Sprintf("open=%d", open), func(b *testing.B) {
			var text bytes.Buffer
			shapes.Events(&text, shapes.Config{Seed: 1, Size: 32 << 20, Tokens: 200, Open: open})
			benchmark(b, &Events, text.Bytes())
		})
	}
}

// BenchmarkScan scans one block over and over: no reading, no assembler.
func BenchmarkScan(b *testing.B) {
	c := shapes.Config{Seed: 1, Size: 240 << 10, Tokens: 200, Open: 20}
	b.Run("records", func(b *testing.B) {
		blk := makeBlock(b, shapes.Records, c)
		out := newRecords("bench", new(trace.RunMeta), trace.Clock{}, true)
		for b.Loop() {
			scanRecords(blk, out)
		}
		if out.parsed == 0 {
			b.Fatal("no records")
		}
	})
	b.Run("events", func(b *testing.B) {
		blk := makeBlock(b, shapes.Events, c)
		out := newEvents("bench", true)
		for b.Loop() {
			scanEvents(blk, out)
		}
		if len(out.List) == 0 {
			b.Fatal("no events")
		}
	})
}

func makeBlock(b *testing.B, write func(io.Writer, shapes.Config) error, c shapes.Config) *block.Block {
	var text bytes.Buffer
	if err := write(&text, c); err != nil {
		b.Fatal(err)
	}
	n := text.Len()
	text.Write(bytes.Repeat([]byte{'\n'}, block.Pad))
	b.SetBytes(int64(n))
	b.ReportAllocs()
	return &block.Block{Data: text.Bytes()[:n], TooLong: -1}
}
