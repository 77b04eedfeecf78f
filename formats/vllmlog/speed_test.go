package vllmlog

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"servescope/formats"
	"servescope/formats/formatstest/generate/shapes"
)

// BenchmarkRead reads a log with the lines of 10 000 requests.
func BenchmarkRead(b *testing.B) {
	var text bytes.Buffer
	if err := shapes.VLLMLog(&text, shapes.Config{Seed: 1, Count: 10_000, Tokens: 200, Open: 100}); err != nil {
		b.Fatal(err)
	}
	src := formats.FromBytes("server.log", text.Bytes())
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
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
				if r.Err() != nil || rows < 10 {
					b.Fatal(rows, r.Err())
				}
				r.Close()
			}
		})
	}
}
