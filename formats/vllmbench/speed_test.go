package vllmbench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
	"servescope/testdata/generate/shapes"
)

// generated returns a result on one line.
func generated(t testing.TB, requests int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := shapes.Bench(&b, shapes.Config{Seed: 1, Count: requests, Tokens: 200, Open: 100}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// BenchmarkRead reads a result on one line, all rows and gaps included.
func BenchmarkRead(b *testing.B) {
	text := generated(b, 15_000)
	if path := os.Getenv("SERVESCOPE_BENCH"); path != "" {
		text, _ = os.ReadFile(path)
	}
	src := source.FromBytes("bench.json", text)
	for _, lists := range []bool{true, false} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("lists=%v/workers=%d", lists, workers), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					r, err := Format.Open(context.Background(), src, formats.Whole, formats.Options{Workers: workers, Lists: lists})
					if err != nil {
						b.Fatal(err)
					}
					gaps := 0
					for r.Next() {
						gaps += len(r.Batch().Lists(trace.ChunkGaps).Values)
					}
					if r.Err() != nil || lists && gaps < 100*15_000 {
						b.Fatal(gaps, r.Err())
					}
					r.Close()
				}
			})
		}
	}
}
