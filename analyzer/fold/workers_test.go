package fold

import (
	"runtime"
	"sync"
	"testing"

	"servescope/analyzer/kernel"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
)

// summing is a kernel, and a state, that adds up what is easily overwritten. It
// implements nothing that a test of folding does not call.
type summing struct {
	kernel.Kernel
	kernel.State
	rows, sent, gaps, keys int64
}

func (s *summing) New(*query.Query, *kernel.Facts) kernel.State { return new(summing) }

func (s *summing) Update(v *kernel.View) {
	for i := range v.Rows {
		n, _ := v.Ints(trace.Sent).At(i)
		s.sent += n
		s.keys += v.Run.Key * int64(1+v.Group[i])
		s.rows++
	}
	for _, gap := range v.Lists(trace.ChunkGaps).Values {
		s.gaps += gap
	}
}

func (s *summing) Merge(o kernel.State) error {
	other := o.(*summing)
	s.rows, s.sent, s.gaps, s.keys = s.rows+other.rows, s.sent+other.sent, s.gaps+other.gaps, s.keys+other.keys
	return nil
}

func (s *summing) Finish(kernel.Output) {}
func (s *summing) Settle()              {}

// TestFoldPool folds the batches of one builder on two helpers while it goes on, and
// the run that they are of changes: batch k of 500 has k%7+1 rows, each sent at k,
// and a gap of k.
func TestFoldPool(t *testing.T) {
	p := newPass(new(query.Query), new(kernel.Facts), []kernel.Kernel{new(summing)}, 3)
	c := newFoldPool(p, 3)
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() { c.help(1 + w) })
	}
	for c.helping.Load() < 2 {
		runtime.Gosched() // browsers have one thread
	}
	b := trace.NewBuilder(trace.Requests)
	meta := new(trace.RunMeta)
	group := make([]int32, 7)
	var want summing
	for k := range int64(500) {
		meta.Key = k % 5
		for i := range k%7 + 1 {
			b.Int(trace.Sent, k)
			b.List(trace.ChunkGaps, []int64{k})
			b.EndRow()
			group[i] = int32(k % 3)
			want.rows, want.sent, want.gaps, want.keys = want.rows+1, want.sent+k, want.gaps+k, want.keys+k%5*(1+k%3)
		}
		batch := b.Take(meta, "f")
		c.fold(0, batch, &kernel.View{Batch: batch, Group: group[:batch.Rows]})
		if k == 0 && batch.Keep(nil) {
			t.Error("the first batch was not handed over")
		}
	}
	c.help(0)
	wg.Wait()
	states, err := p.merge()
	if err != nil {
		t.Fatal(err)
	}
	if got := *states[0].(*summing); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
