package latency

import (
	"fmt"
	"testing"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/kerneltest"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
)

// TestDroppedWindowsKeepWhatWaits: requests of one choice and of two by turns, one in
// each window, of which few are kept: windows are dropped right behind either. The
// whole run holds every request, each with its first token after 100 ms and its
// second after 200 ms.
func TestDroppedWindowsKeepWhatWaits(t *testing.T) {
	defer func(n int) { cell.MaxCells = n }(cell.MaxCells)
	cell.MaxCells = 8
	for first := range 2 {
		const requests = 40
		b := trace.NewBuilder(trace.Requests)
		sequences := 0
		for i := range requests {
			at := int64(i) * 1e9
			for choice := range 1 + (i+first)%2 {
				b.Text(trace.RequestID, fmt.Appendf(nil, "r%d", i))
				b.Int(trace.Choice, int64(choice))
				b.Int(trace.Sent, at)
				b.Int(trace.FirstToken, at+100*kerneltest.MS)
				b.Int(trace.LastToken, at+200*kerneltest.MS)
				b.Int(trace.OutputTokens, 2)
				b.Code(trace.StatusCol, int32(trace.OK))
				b.Bool(trace.Stream, true)
				b.EndRow()
				sequences++
			}
		}
		v := &kernel.View{Batch: b.Take(kerneltest.WallMeta(), "test.jsonl"), Choices: new(request.Choices), Memory: new(request.Memory)}
		v.Group = make([]int32, v.Rows)
		v.Choices.Find(v)
		v.Choices.Add(v)
		v.Choices.Join()
		s := New(metric.Default, nil).New(&query.Query{Window: 1e9}, &kernel.Facts{Pass: 1})
		s.Update(v)
		out := kerneltest.NewSink()
		s.Finish(out)
		c := out.Cell(0, -1, kernel.NoWindow)
		for _, want := range []struct {
			name string
			n    int64
			mean float64
		}{{"ttft", requests, 100e6}, {"e2e", requests, 200e6}, {"tpot", int64(sequences), 100e6}} {
			if m := c.Metrics[want.name]; m.N != want.n || m.Mean != want.mean {
				t.Errorf("%s: %d values of mean %g, want %d of %g", want.name, m.N, m.Mean, want.n, want.mean)
			}
		}
	}
}
