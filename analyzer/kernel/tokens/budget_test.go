package tokens

import (
	"math/rand/v2"
	"slices"
	"testing"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/kerneltest"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
)

// TestCellsShareTheBudget folds the gaps of many runs, and asks of what the states
// hold of them: it is not what a cell may hold times the number of cells. The
// quantiles are those of the sorted gaps all the same.
func TestCellsShareTheBudget(t *testing.T) {
	const runs, requests, gaps = 400, 24, 1000
	r := rand.New(rand.NewPCG(8, 9))
	const memory = 3 << 20
	store := new(kerneltest.Disk)
	q, facts := new(query.Query), &kernel.Facts{Store: store, Memory: memory}
	k := New(metric.Default, nil)
	states := []*state{k.New(q, facts).(*state), k.New(q, facts).(*state)}
	want := make([][]int64, runs)
	for run := range want {
		var rows []kerneltest.Request
		for range requests {
			times := []int64{100}
			for range gaps {
				gap := 1 + int64(r.ExpFloat64()*1e4)
				times = append(times, times[len(times)-1]+gap)
				want[run] = append(want[run], gap*kerneltest.MS)
			}
			rows = append(rows, kerneltest.Streamed(0, gaps+1, times...))
		}
		slices.Sort(want[run])
		b := kerneltest.Build(kerneltest.WallMeta(), rows...)
		states[run%2].Update(&kernel.View{Batch: b, RunIndex: int32(run), Group: make([]int32, b.Rows)})
	}
	if err := states[0].Merge(states[1]); err != nil {
		t.Fatal(err)
	}
	values := int64(runs * requests * gaps)
	if size, most := states[0].Size(), int64(3*memory); size > most || values*8 < 4*most {
		t.Errorf("%d values of %d runs take %d bytes, more than %d", values, runs, size, most)
	}
	if len(store.Bytes) < 1<<20 {
		t.Errorf("%d bytes are stored", len(store.Bytes))
	}
	for run := range want {
		d := states[0].Cells.ByPlace[cell.Place{Window: kernel.NoWindow, Run: int32(run), Group: -1, Side: int32(trace.Client)}].digests[gapDigest]
		for _, p := range []float64{0.5, 0.99} {
			lo, hi, f := stat.Linear.Ranks(int64(len(want[run])), p)
			exactly := stat.Lerp(float64(want[run][lo]), float64(want[run][hi]), f)
			if got, exact := d.Quantile(stat.Linear, p); got != exactly || !exact {
				t.Fatalf("run %d: q%v is %v (exact: %v), want %v", run, p, got, exact, exactly)
			}
		}
		d.DropUnpacked()
	}
}
