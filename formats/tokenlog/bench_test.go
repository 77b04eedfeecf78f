package tokenlog

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/block"
	"servescope/formats/source"
	"servescope/testdata/generate/shapes"
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
	src := source.FromBytes("bench", text)
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

// spellings are the ways in which writers put down the stamps of tokens.
var spellings = map[string]func(at float64) string{
	"6 decimals":   func(at float64) string { return fmt.Sprintf("%.6f", at) },
	"9 decimals":   func(at float64) string { return fmt.Sprintf("%.6f%03d", at, int64(at*1e9)%1000) },
	"3 decimals":   func(at float64) string { return fmt.Sprintf("%.3f", at) },
	"Python":       func(at float64) string { return strconv.FormatFloat(at, 'f', -1, 64) },
	"space":        func(at float64) string { return fmt.Sprintf(" %.6f", at) },
	"monotonic":    func(at float64) string { return strconv.FormatFloat(at-1764400000, 'f', -1, 64) },
	"exponent":     func(at float64) string { return strconv.FormatFloat(at, 'e', 15, 64) },
	"milliseconds": func(at float64) string { return fmt.Sprintf("%d", int64(at*1e3)) },
	"microseconds": func(at float64) string { return fmt.Sprintf("%d", int64(at*1e6)) },
	"nanoseconds":  func(at float64) string { return fmt.Sprintf("%d", int64(at*1e9)) },
	"quoted":       func(at float64) string { return fmt.Sprintf(`"%.6f"`, at) },
}

// BenchmarkSpellings scans a block of each spelling: none may fall off a cliff.
func BenchmarkSpellings(b *testing.B) {
	keys := map[string]string{"milliseconds": "token_timestamps_ms", "microseconds": "token_timestamps_us", "nanoseconds": "token_timestamps_ns"}
	for name, spell := range spellings {
		b.Run(name, func(b *testing.B) {
			key := cmp.Or(keys[name], "token_timestamps")
			blk := makeBlock(b, func(w io.Writer, c shapes.Config) error {
				r := rand.New(rand.NewPCG(c.Seed, 7))
				at := 1764428000.0
				for n := 0; n < int(c.Size); {
					at += 0.1
					line := fmt.Sprintf(`{"request_id":"r%d","arrival":%.6f,%q:[`, n, at, key)
					for k := range int(c.Tokens) {
						at += 0.005 + r.ExpFloat64()*0.007
						if k > 0 {
							line += ","
						}
						line += spell(at)
					}
					m, err := io.WriteString(w, line+"]}\n")
					if n += m; err != nil {
						return err
					}
				}
				return nil
			}, shapes.Config{Seed: 1, Size: 240 << 10, Tokens: 200})
			out := newRecords("bench", new(trace.RunMeta), trace.Clock{}, true)
			for b.Loop() {
				scanRecords(blk, out)
			}
			if out.parsed == 0 || out.diagnosed > 0 {
				b.Fatal(out.parsed, out.diagnosed)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(out.parsed)/200, "ns/token")
		})
	}
}
