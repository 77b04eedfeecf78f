package kernel

import (
	"maps"
	"math/rand/v2"
	"testing"

	"servescope/analyzer/metric"
	"servescope/analyzer/query"
)

// TestFractions: the mean of a quotient's parts is over the requests that have
// the quotient, and does not depend on how rows are cut.
func TestFractions(t *testing.T) {
	fractions := func(def *metric.Definition, views []view, split func(func() State, []view) State) map[int32]Fractions {
		out := make(map[int32]Fractions)
		k := FractionsOf(def, out)
		split(func() State { return k.New(new(query.Query), new(Facts)) }, views).Finish(newSink())
		return out
	}
	rows := []view{{b: build(wallMeta(), streamed(0, 11, 100, 300), streamed(50, 21, 250, 450), streamed(0, 1, 700))}}
	got := fractions(metric.Default, rows, whole)[0]
	if want := (Fraction{2, 150e6, 350e6, 15}); got.TPOT != want { // by N - 1; the request of one token has none
		t.Errorf("tpot of %+v, want %+v", got.TPOT, want)
	}
	if want := (Fraction{3, 0, 1400e6 / 3.0, 11}); got.E2E != want {
		t.Errorf("e2e of %+v, want %+v", got.E2E, want)
	}
	if got := fractions(set(t, "guidellm"), rows, whole)[0]; got.TPOT != (Fraction{3, 0, 1400e6 / 3.0, 11}) || got.ITL != (Fraction{2, 150e6, 350e6, 15}) {
		t.Errorf("guidellm: %+v", got)
	}
	r := rand.New(rand.NewPCG(7, 7))
	views := randomViews(r, 200)
	for _, def := range metric.Definitions() {
		want := fractions(def, views, whole)
		for range 3 {
			if got := fractions(def, views, shuffled(t, r)); !maps.Equal(got, want) {
				t.Fatalf("%s: %+v, want %+v", def.Name, got, want)
			}
		}
	}
}
