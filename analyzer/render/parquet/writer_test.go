package parquet

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"servescope/analyzer/render/table"
	"servescope/analyzer/render/tabletest"
	"servescope/analyzer/trace"
)

// load returns a batch of n streamed requests with k chunks each, stamps as a
// server would write them.
func load(n, k int) *trace.Batch {
	r := rand.New(rand.NewPCG(1, 2))
	b := trace.NewBuilder(trace.Requests)
	at := int64(1764428000_000000000)
	for i := range n {
		at += r.Int64N(50e6)
		b.Text(trace.RequestID, []byte("cmpl-"+string(rune('a'+i%26))+"0123456789abcdef"[:8+i%8]))
		b.Code(trace.SideCol, int32(trace.Server))
		b.Code(trace.StatusCol, int32(trace.OK))
		b.Dict(trace.ClockCol, []byte("wall"))
		b.Dict(trace.Model, []byte("llama"))
		b.Int(trace.Received, at)
		b.Int(trace.FirstToken, at+100e6)
		b.Int(trace.PromptTokens, 512)
		b.Int(trace.OutputTokens, int64(k))
		gaps := b.OpenList(trace.ChunkGaps)
		sum := at + 100e6
		for range k - 1 {
			g := (9500 + r.Int64N(4000)) * 1000 // stamps have microseconds
			gaps = append(gaps, g)
			sum += g
		}
		b.CloseList(trace.ChunkGaps, gaps)
		b.Int(trace.LastToken, sum)
		b.EndRow()
	}
	return b.Take(&trace.RunMeta{Label: "bench"}, "log.jsonl")
}

func benchmark(b *testing.B, t func() *table.Table) {
	batch := load(1000, 200)
	var out bytes.Buffer
	w := NewWriter(&out, t())
	for range 20 {
		w.Write(batch)
	}
	w.Close()
	b.ReportAllocs()
	tokens := 0
	w = NewWriter(io.Discard, t())
	for b.Loop() {
		if err := w.Write(batch); err != nil {
			b.Fatal(err)
		}
		tokens += 1000 * 200
	}
	w.Close()
	b.ReportMetric(float64(out.Len())/(20*1000*200), "B/token")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(tokens), "ns/token")
}

func BenchmarkRequests(b *testing.B) {
	benchmark(b, func() *table.Table { return table.Requests(table.Options{}) })
}
func BenchmarkTokens(b *testing.B) { benchmark(b, table.Tokens) }

// TestWorkers: the bytes of a file do not depend on how many goroutines encode it.
func TestWorkers(t *testing.T) {
	rows := 3000
	if testing.Short() {
		rows = 1000
	}
	batches := []*trace.Batch{load(rows, 300), tabletest.Requests(rand.New(rand.NewPCG(7, 8)), "r", 500, trace.Clock{}), load(rows, 300)}
	for _, fresh := range []func() *table.Table{func() *table.Table { return table.Requests(table.Options{}) }, table.Tokens} {
		var want []byte
		for _, workers := range []int{1, 2, 7} {
			var out bytes.Buffer
			w := NewParallel(&out, fresh(), workers)
			for range 4 {
				for _, b := range batches {
					if err := w.Write(b); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = out.Bytes()
			}
			if !bytes.Equal(out.Bytes(), want) {
				t.Errorf("%s: %d workers write other bytes than one", fresh().Name, workers)
			}
		}
	}
}
