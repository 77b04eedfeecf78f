package otlp

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"servescope/formats"
	"servescope/formats/source"
	"servescope/testdata/generate/shapes"
)

// BenchmarkRead reads spans of vLLM and trees of SGLang.
func BenchmarkRead(b *testing.B) {
	for name, write := range map[string]func(*bytes.Buffer) error{
		"vllm": func(w *bytes.Buffer) error {
			return shapes.OTLP(w, shapes.Config{Seed: 1, Size: 32 << 20, Tokens: 200})
		},
		"sglang": func(w *bytes.Buffer) error {
			return shapes.OTLPTree(w, shapes.Config{Seed: 1, Size: 32 << 20, Tokens: 200, Open: 50})
		},
	} {
		var text bytes.Buffer
		if err := write(&text); err != nil {
			b.Fatal(err)
		}
		src := source.FromBytes("spans.json", text.Bytes())
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/workers=%d", name, workers), func(b *testing.B) {
				b.SetBytes(int64(text.Len()))
				b.ReportAllocs()
				for b.Loop() {
					r, err := Format.Open(context.Background(), src, formats.Whole, formats.Options{Workers: workers, Lists: true})
					if err != nil {
						b.Fatal(err)
					}
					rows := 0
					for r.Next() {
						rows += r.Batch().Rows
					}
					if r.Err() != nil || rows < 100 {
						b.Fatal(rows, r.Err(), r.Diags().All())
					}
					r.Close()
				}
			})
		}
	}
}
