package request

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestWalk compares the stretches of a request's tokens with its tokens, each put
// into its bucket on its own: gaps that are short and long, back in time, and so
// long that their sum has no place in an int64.
func TestWalk(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 4))
	draws := []func() int64{
		func() int64 { return r.Int64N(12e6) },
		func() int64 { return r.Int64N(3e9) },
		func() int64 { return r.Int64N(30e6) - 2e6 },
		func() int64 { return int64(r.Uint64() >> r.IntN(64)) },
		func() int64 { return 1 << 61 },
	}
	type stretch struct{ start, n int64 }
	for range 3000 {
		e := Emission{Base: 1764428000e9 + r.Int64N(1e9)}
		draw := draws[r.IntN(len(draws))]
		for range r.IntN(80) {
			gap := draw()
			if r.IntN(30) == 0 {
				gap = draws[r.IntN(len(draws))]()
			}
			e.gaps = append(e.gaps, gap)
		}
		e.N = int64(len(e.gaps)) + 1
		if e.N == 1 {
			continue // is another way
		}
		origin, length := r.Int64N(5e9), []int64{1e6, 1e9, 1, 7e8}[r.IntN(4)]
		var want, got []stretch
		at := e.Base
		for i := range e.N {
			if i > 0 {
				at += e.gaps[i-1]
			}
			start := at - FloorMod(at-origin, length)
			if k := len(want) - 1; k >= 0 && want[k].start == start {
				want[k].n++
				continue
			}
			want = append(want, stretch{start, 1})
		}
		e.Walk(origin, length, func(start, n int64) bool {
			got = append(got, stretch{start, n})
			return true
		})
		if !slices.Equal(got, want) {
			t.Fatalf("gaps %v from %d, in buckets of %d:\ngot  %v\nwant %v", e.gaps, e.Base, length, got, want)
		}
	}
}
