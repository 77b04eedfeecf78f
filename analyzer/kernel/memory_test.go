package kernel

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
)

// disk is a store.
type disk struct {
	sync.Mutex
	bytes []byte
}

func (d *disk) Append(p []byte) (int64, error) {
	d.Lock()
	defer d.Unlock()
	d.bytes = append(d.bytes, p...)
	return int64(len(d.bytes) - len(p)), nil
}

func (d *disk) Read(p []byte, off int64) error {
	d.Lock()
	defer d.Unlock()
	copy(p, d.bytes[off:])
	return nil
}

// TestCellsShareTheBudget folds the gaps of many runs, and asks of what the states
// hold of them: it is not what a cell may hold times the number of cells. The
// quantiles are those of the sorted gaps all the same.
func TestCellsShareTheBudget(t *testing.T) {
	const runs, requests, gaps = 400, 24, 1000
	r := rand.New(rand.NewPCG(8, 9))
	const memory = 3 << 20
	store := new(disk)
	q, facts := new(query.Query), &Facts{Store: store, Memory: memory}
	k := tokens{metric.Default, new(foundTokens), nil}
	states := []*tokensState{k.New(q, facts).(*tokensState), k.New(q, facts).(*tokensState)}
	want := make([][]int64, runs)
	for run := range want {
		var rows []req
		for range requests {
			times := []int64{100}
			for range gaps {
				gap := 1 + int64(r.ExpFloat64()*1e4)
				times = append(times, times[len(times)-1]+gap)
				want[run] = append(want[run], gap*ms)
			}
			rows = append(rows, streamed(0, gaps+1, times...))
		}
		slices.Sort(want[run])
		b := build(wallMeta(), rows...)
		states[run%2].Update(&View{Batch: b, RunIndex: int32(run), Group: make([]int32, b.Rows)})
	}
	if err := states[0].Merge(states[1]); err != nil {
		t.Fatal(err)
	}
	values := int64(runs * requests * gaps)
	if size, most := states[0].Size(), int64(3*memory); size > most || values*8 < 4*most {
		t.Errorf("%d values of %d runs take %d bytes, more than %d", values, runs, size, most)
	}
	if len(store.bytes) < 1<<20 {
		t.Errorf("%d bytes are stored", len(store.bytes))
	}
	for run := range want {
		d := states[0].cells.byPlace[place{NoWindow, int32(run), -1, int32(trace.Client)}].digests[gapDigest]
		for _, p := range []float64{0.5, 0.99} {
			lo, hi, f := stat.Linear.Ranks(int64(len(want[run])), p)
			exactly := stat.Lerp(float64(want[run][lo]), float64(want[run][hi]), f)
			if got, exact := d.Quantile(stat.Linear, p); got != exactly || !exact {
				t.Fatalf("run %d: q%v is %v (exact: %v), want %v", run, p, got, exact, exactly)
			}
		}
		d.Rest()
	}
}

// TestSamplesShareTheBudget folds the requests of many runs, each with too few to be
// counted in buckets, and asks of what the states hold of them. The order statistics
// are those of the sorted values all the same.
func TestSamplesShareTheBudget(t *testing.T) {
	const runs, requests, batches = 40, 1000, 5
	r := rand.New(rand.NewPCG(9, 10))
	store := new(disk)
	facts := &Facts{Store: store, Memory: leastMemory}
	k := latency{def: metric.Default}
	states := []*latencyState{k.New(new(query.Query), facts).(*latencyState), k.New(new(query.Query), facts).(*latencyState)}
	want := make([][]int64, runs)
	for batch := range batches {
		for run := range want {
			var rows []req
			for range requests {
				first, last := 1+r.Int64N(1e6), 1e6+r.Int64N(1e7)
				rows = append(rows, streamed(0, 2, first, last))
				want[run] = append(want[run], last*ms)
			}
			b := build(wallMeta(), rows...)
			states[(run+batch)%2].Update(&View{Batch: b, RunIndex: int32(run), Group: make([]int32, b.Rows)})
		}
	}
	if err := states[0].Merge(states[1]); err != nil {
		t.Fatal(err)
	}
	raw, values := 0, 0
	for _, cell := range states[0].cells.byPlace {
		for slot := range cell.values {
			raw, values = raw+cell.values[slot].Raw(), values+int(cell.values[slot].N())
		}
	}
	if most := leastPacked * len(measures) * runs; raw > max(most, latencyShare*leastMemory/3/8) || values < 4*most || len(store.bytes) == 0 {
		t.Errorf("%d of %d values are held as they are, and %d bytes are stored", raw, values, len(store.bytes))
	}
	for run := range want {
		slices.Sort(want[run])
		v := &states[0].cells.byPlace[place{NoWindow, int32(run), 0, int32(trace.Client)}].values[slotE2E]
		for k, value := range want[run] {
			if got, exact := v.At(int64(k)); got != value || !exact {
				t.Fatalf("run %d: value %d is %d (exact: %v), want %d", run, k, got, exact, value)
			}
		}
		v.Rest()
	}
}
