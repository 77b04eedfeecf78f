package sorting

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSorting compares with package slices.
func TestSorting(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	type pair struct{ key, place int }
	for n := range 60 {
		var x []pair
		for i := range n {
			x = append(x, pair{r.IntN(8), i})
		}
		byKey := func(a, b pair) int { return cmp.Compare(a.key, b.key) }
		want, got := slices.Clone(x), slices.Clone(x)
		slices.SortStableFunc(want, byKey)
		Stable(got, byKey)
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
		By(x, func(a, b pair) int { return cmp.Or(byKey(a, b), cmp.Compare(a.place, b.place)) })
		if !slices.Equal(x, want) {
			t.Fatalf("%v, want %v", x, want)
		}
	}
}
