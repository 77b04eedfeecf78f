package latency

import (
	"math/rand/v2"
	"slices"
	"testing"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/kerneltest"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
)

// TestSamplesShareTheBudget folds the requests of many runs, each with too few to be
// counted in buckets, and asks of what the states hold of them. The order statistics
// are those of the sorted values all the same.
func TestSamplesShareTheBudget(t *testing.T) {
	const runs, requests, batches = 40, 1000, 5
	r := rand.New(rand.NewPCG(9, 10))
	store := new(kerneltest.Disk)
	facts := &kernel.Facts{Store: store, Memory: cell.MinMemory}
	k := New(metric.Default, nil)
	states := []*state{k.New(new(query.Query), facts).(*state), k.New(new(query.Query), facts).(*state)}
	want := make([][]int64, runs)
	for batch := range batches {
		for run := range want {
			var rows []kerneltest.Request
			for range requests {
				first, last := 1+r.Int64N(1e6), 1e6+r.Int64N(1e7)
				rows = append(rows, kerneltest.Streamed(0, 2, first, last))
				want[run] = append(want[run], last*kerneltest.MS)
			}
			b := kerneltest.Build(kerneltest.WallMeta(), rows...)
			states[(run+batch)%2].Update(&kernel.View{Batch: b, RunIndex: int32(run), Group: make([]int32, b.Rows)})
		}
	}
	if err := states[0].Merge(states[1]); err != nil {
		t.Fatal(err)
	}
	raw, values := 0, 0
	for _, cell := range states[0].Cells.ByPlace {
		for slot := range cell.values {
			raw, values = raw+cell.values[slot].RawCount(), values+int(cell.values[slot].N())
		}
	}
	if most := cell.MinPacked * len(request.Measures) * runs; raw > max(most, latencyShare*cell.MinMemory/3/8) || values < 4*most || len(store.Bytes) == 0 {
		t.Errorf("%d of %d values are held as they are, and %d bytes are stored", raw, values, len(store.Bytes))
	}
	for run := range want {
		slices.Sort(want[run])
		v := &states[0].Cells.ByPlace[cell.Place{Window: kernel.NoWindow, Run: int32(run), Group: 0, Side: int32(trace.Client)}].values[request.MeasureE2E]
		for k, value := range want[run] {
			if got, exact := v.At(int64(k)); got != value || !exact {
				t.Fatalf("run %d: value %d is %d (exact: %v), want %d", run, k, got, exact, value)
			}
		}
		v.DropUnpacked()
	}
}
