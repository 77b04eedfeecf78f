package parquet_test

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"testing"

	"servescope/analyzer/render/arrow"
	"servescope/analyzer/render/parquet"
	"servescope/analyzer/render/table"
	"servescope/analyzer/trace"
	"servescope/analyzer/trace/manifest"
	"servescope/formats"
	arrowformat "servescope/formats/arrow"
	parquetformat "servescope/formats/parquet"
	"servescope/formats/source"
)

// Tokens of the file that is read: many times what a cache holds.
const (
	batches   = 40
	perBatch  = 1000
	perOutput = 200
	tokens    = batches * perBatch * perOutput
)

// export is a file of requests whose stamps have microseconds, as servers write
// them.
func export(write func(io.Writer, *table.Table) interface {
	Write(*trace.Batch) error
	Close() error
}) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	run := &trace.RunMeta{Label: "bench", Side: trace.Server}
	tab := table.Requests(table.Options{})
	tab.Manifest = func() *manifest.Manifest {
		return &manifest.Manifest{Version: manifest.Version, Runs: []manifest.Run{{File: "log", Meta: *run}}}
	}
	var out bytes.Buffer
	w := write(&out, tab)
	at := int64(1764428000_000000)
	for range batches {
		b := trace.NewBuilder(trace.Requests)
		for range perBatch {
			at += r.Int64N(50_000)
			b.Text(trace.RequestID, []byte("cmpl-0123456789"))
			b.Code(trace.StatusCol, int32(trace.OK))
			b.Int(trace.Received, at*1000)
			b.Int(trace.FirstToken, at*1000+100e6)
			b.Int(trace.PromptTokens, r.Int64N(4000))
			b.Int(trace.OutputTokens, perOutput)
			gaps := b.OpenList(trace.ChunkGaps)
			for range perOutput - 1 {
				gaps = append(gaps, (9500+r.Int64N(4000))*1000)
			}
			b.CloseList(trace.ChunkGaps, gaps)
			b.EndRow()
		}
		w.Write(b.Take(run, "log"))
	}
	w.Close()
	return out.Bytes()
}

func benchmarkRead(b *testing.B, f *formats.Format, data []byte) {
	src := source.FromBytes("export", data)
	b.ReportAllocs()
	for b.Loop() {
		r, err := f.Open(context.Background(), src, formats.Whole, formats.Options{Workers: 1, Lists: true})
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for r.Next() {
			n += len(r.Batch().Lists(trace.ChunkGaps).Values) + r.Batch().Rows
		}
		if r.Err() != nil || n != tokens {
			b.Fatal(n, r.Err(), r.Diags().All())
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/tokens, "ns/token")
	b.ReportMetric(float64(len(data))/tokens, "B/token")
}

// BenchmarkRead reads an export as batches of the model, on one goroutine.
func BenchmarkRead(b *testing.B) {
	b.Run("parquet", func(b *testing.B) {
		benchmarkRead(b, &parquetformat.Format, export(func(w io.Writer, t *table.Table) interface {
			Write(*trace.Batch) error
			Close() error
		} {
			return parquet.NewWriter(w, t)
		}))
	})
	b.Run("arrow", func(b *testing.B) {
		benchmarkRead(b, &arrowformat.Format, export(func(w io.Writer, t *table.Table) interface {
			Write(*trace.Batch) error
			Close() error
		} {
			return arrow.NewWriter(w, t, arrow.Options{})
		}))
	})
}
