package dataset

import (
	"math/rand/v2"
	"slices"
	"testing"

	"servescope/formats"
)

// TestCommon compares the estimate from few hashes with a count.
func TestCommon(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, 100, 3000, 20_000, 100_000} {
		share := r.IntN(size + 1)
		sides := [2]map[uint64]bool{{}, {}}
		for i := range size {
			h := r.Uint64()
			if i < share {
				sides[0][h], sides[1][h] = true, true
			} else {
				sides[i%2][h] = true
			}
		}
		got, exact := common(printsOf(sides[0]), printsOf(sides[1]))
		tolerance := 0.0
		if !exact {
			tolerance = 0.1 * float64(size)
		}
		if d := float64(got) - float64(share); d < -tolerance || d > tolerance || exact && got != int64(share) {
			t.Errorf("%d lines: %d in common (exact: %v), want %d", size, got, exact, share)
		}
		if size > 10_000 && exact {
			t.Errorf("%d lines: exact", size)
		}
	}
}

// printsOf keeps the 4096 smallest of a set of hashes.
func printsOf(set map[uint64]bool) formats.Prints {
	p := formats.Prints{Lines: int64(len(set))}
	for h := range set {
		p.Hashes = append(p.Hashes, h)
	}
	slices.Sort(p.Hashes)
	if len(p.Hashes) > 4096 {
		p.Below, p.Hashes = p.Hashes[4096], p.Hashes[:4096]
	}
	return p
}
