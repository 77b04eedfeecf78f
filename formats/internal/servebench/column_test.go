package servebench

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestColumn: a column gives back what was put into it, whichever of its chunks
// take half of the memory, and is empty after reset.
func TestColumn(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	small := func(least int64) func() int64 {
		return func() int64 { return least + int64(rng.Uint32()) }
	}
	for name, kinds := range map[string][]func() int64{
		"all small":    {small(0), small(-1), small(1 << 62), small(math.MinInt64), small(math.MaxInt64 - math.MaxUint32)},
		"none":         {rng.Int64, rng.Int64, rng.Int64},
		"some":         {rng.Int64, small(7), rng.Int64, small(-1 << 40), small(0)},
		"extremes":     {func() int64 { return []int64{math.MinInt64, math.MaxInt64}[rng.IntN(2)] }, small(0)},
		"just too far": {func() int64 { return []int64{-1, math.MaxUint32}[rng.IntN(2)] }, small(0)},
		"just in":      {func() int64 { return []int64{0, math.MaxUint32}[rng.IntN(2)] }, small(0)},
	} {
		var c column[int64]
		for range 2 {
			var want []int64
			for _, kind := range kinds {
				for range chunk {
					want = append(want, kind())
				}
			}
			want = append(want, 5, 6)
			for _, v := range want {
				c.append(v)
			}
			held := int64(0)
			for _, p := range c.chunks {
				held += 8*int64(len(p.wide)) + 4*int64(len(p.above))
			}
			if c.n != len(want) || c.bytes() != held {
				t.Fatalf("%s: %d values in %d bytes, want %d in %d", name, c.n, c.bytes(), len(want), held)
			}
			if all := 8 * int64(len(want)); name == "none" && held != all || name == "all small" && held != all/2+8 {
				t.Errorf("%s: %d bytes of %d", name, held, all)
			}
			for i, v := range want {
				if c.at(i) != v {
					t.Fatalf("%s: value %d is %d, want %d", name, i, c.at(i), v)
				}
			}
			if c.reset(); c.n != 0 || c.bytes() != 0 {
				t.Fatalf("%s: %d values in %d bytes are left", name, c.n, c.bytes())
			}
		}
	}
}
