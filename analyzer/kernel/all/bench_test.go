package all

import (
	"math/rand/v2"
	"testing"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/kerneltest"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
)

// benchBatch holds requests of 200 tokens of 12 ms on average.
func benchBatch(rows int) *trace.Batch {
	r := rand.New(rand.NewPCG(5, 5))
	b := trace.NewBuilder(trace.Requests)
	gaps := make([]int64, 199)
	for i := range rows {
		send := int64(i) * 3e6
		at := send + int64(2e8*r.ExpFloat64())
		b.Int(trace.Received, send)
		b.Int(trace.Queued, send+2e6)
		b.Int(trace.Admitted, at-50e6)
		b.Int(trace.FirstToken, at)
		for k := range gaps {
			gaps[k] = int64(8e6 + 4e6*r.ExpFloat64())
			at += gaps[k]
		}
		b.Int(trace.LastToken, at)
		b.Int(trace.Finished, at)
		b.Int(trace.OutputTokens, 200)
		b.Int(trace.PromptTokens, 512)
		b.Code(trace.StatusCol, int32(trace.OK))
		b.List(trace.ChunkGaps, gaps)
		b.EndRow()
	}
	return b.Take(&trace.RunMeta{Side: trace.Server}, "bench")
}

// BenchmarkKernels gives the time per gap of each kernel, whole runs and
// windows of a second.
func BenchmarkKernels(b *testing.B) {
	const rows = 2000
	v := kerneltest.View{B: benchBatch(rows)}.Of()
	for name, q := range map[string]*query.Query{"run": {}, "windows": {Window: 1e9}} {
		for _, k := range All(metric.Default) {
			b.Run(k.Name()+"/"+name, func(b *testing.B) {
				s := k.New(q, &kernel.Facts{})
				s.Update(v)
				for b.Loop() {
					s.Update(v)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows/199, "ns/gap")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/request")
			})
		}
	}
}
