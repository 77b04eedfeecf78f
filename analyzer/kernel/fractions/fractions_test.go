package fractions

import (
	"maps"
	"math/rand/v2"
	"testing"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/kerneltest"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
)

// TestFractions: the mean of a quotient's parts is over the requests that have
// the quotient, and does not depend on how rows are cut.
func TestFractions(t *testing.T) {
	fractions := func(def *metric.Definition, views []kerneltest.View, split func(func() kernel.State, []kerneltest.View) kernel.State) map[int32]Run {
		out := make(map[int32]Run)
		k := New(def, out)
		split(func() kernel.State { return k.New(new(query.Query), new(kernel.Facts)) }, views).Finish(kerneltest.NewSink())
		return out
	}
	rows := []kerneltest.View{{B: kerneltest.Build(kerneltest.WallMeta(), kerneltest.Streamed(0, 11, 100, 300), kerneltest.Streamed(50, 21, 250, 450), kerneltest.Streamed(0, 1, 700))}}
	got := fractions(metric.Default, rows, kerneltest.Whole)[0]
	if want := (Quotient{2, 150e6, 350e6, 15}); got.TPOT != want { // by N - 1; the request of one token has none
		t.Errorf("tpot of %+v, want %+v", got.TPOT, want)
	}
	if want := (Quotient{3, 0, 1400e6 / 3.0, 11}); got.E2E != want {
		t.Errorf("e2e of %+v, want %+v", got.E2E, want)
	}
	if got := fractions(kerneltest.Definition(t, "guidellm"), rows, kerneltest.Whole)[0]; got.TPOT != (Quotient{3, 0, 1400e6 / 3.0, 11}) || got.ITL != (Quotient{2, 150e6, 350e6, 15}) {
		t.Errorf("guidellm: %+v", got)
	}
	r := rand.New(rand.NewPCG(7, 7))
	views := kerneltest.RandomViews(r, 200)
	for _, def := range metric.Definitions() {
		want := fractions(def, views, kerneltest.Whole)
		for range 3 {
			if got := fractions(def, views, kerneltest.Shuffled(t, r)); !maps.Equal(got, want) {
				t.Fatalf("%s: %+v, want %+v", def.Name, got, want)
			}
		}
	}
}
