package vllmlog

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"servescope/formats"
	"servescope/formats/source"
	"servescope/testdata/generate/shapes"
)

// BenchmarkRead reads a log with the lines of 10 000 requests.
func BenchmarkRead(b *testing.B) {
	var text bytes.Buffer
	if err := shapes.VLLMLog(&text, shapes.Config{Seed: 1, Count: 10_000, Tokens: 200, Open: 100}); err != nil {
		b.Fatal(err)
	}
	benchmark(b, text.Bytes(), 10_000)
}

// BenchmarkDense reads a log in which every line is a row.
func BenchmarkDense(b *testing.B) {
	var text bytes.Buffer
	const lines = 100_000
	for i := range lines {
		fmt.Fprintf(&text, "(EngineCore_DP%d pid=1205) INFO 07-09 %02d:%02d:%02d [v1/engine/core.py:359] Iteration(%d): 2 context requests, %d context tokens, 14 generation requests, 14 generation tokens, iteration elapsed time: %d.64 ms\n",
			i%8, i/36000, i/600%60, i/10%60, i, 100+i%8000, 5+i%1100)
	}
	benchmark(b, text.Bytes(), lines)
}

func benchmark(b *testing.B, text []byte, want int) {
	src := source.FromBytes("server.log", text)
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				r, err := Format.Open(context.Background(), src, formats.Whole, formats.Options{Workers: workers})
				if err != nil {
					b.Fatal(err)
				}
				rows := 0
				for r.Next() {
					rows += r.Batch().Rows
				}
				if r.Err() != nil || rows < want {
					b.Fatal(rows, r.Err())
				}
				r.Close()
			}
		})
	}
}
