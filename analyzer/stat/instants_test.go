package stat

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestInstants compares with a sorted slice, for times that come in order, nearly
// so, and in any order, added to several parts that are merged.
func TestInstants(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for name, spread := range map[string]int64{"in order": 1, "near": 50_000, "any": 1 << 40} {
		for _, n := range []int{0, 1, instantBlock, instantBlock + 1, 40 * instantBlock, 100_000} {
			want := make([]int64, n)
			parts := make([]Instants, 3)
			for i := range want {
				want[i] = int64(i)*1000 + r.Int64N(spread)
				if n > 1 && i < 2 {
					want[i] = []int64{math.MinInt64 + 1, math.MaxInt64}[i]
				}
				parts[i/777%3].Add(want[i])
			}
			var all Instants
			for i := range parts {
				all.Merge(&parts[i])
			}
			slices.Sort(want)
			if got := all.AppendTo(nil); !bytes.Equal(got, AppendSorted(nil, want)) {
				t.Errorf("%s, %d values: they differ from the sorted ones", name, n)
			}
			parts[0].Add(1) // what was merged does not change
			var loaded Instants
			rest, err := loaded.Load(append(all.AppendTo(nil), 7))
			if err != nil || len(rest) != 1 || loaded.N() != int64(n) {
				t.Fatalf("%s, %d values: load: %v, %d bytes left, %d values", name, n, err, len(rest), loaded.N())
			}
			for _, in := range []*Instants{&all, &loaded} {
				c := newCursor(in)
				for range 50 {
					at := r.Int64N(int64(n+1) * 1000)
					k, _ := slices.BinarySearch(want, at+1)
					if got := c.seek(at); got != int64(k) {
						t.Fatalf("%s, %d values: %d up to %d, want %d", name, n, got, at, k)
					}
					to := at + r.Int64N(5_000_000)
					end, _ := slices.BinarySearch(want, to+1)
					if got := c.seek(to) - int64(k); got != int64(end-k) {
						t.Fatalf("%s, %d values: %d from %d to %d, want %d", name, n, got, at, to, end-k)
					}
					if end < n && c.next(math.MaxInt64) != want[end] {
						t.Fatalf("%s, %d values: %d follows %d, want %d", name, n, c.next(math.MaxInt64), to, want[end])
					}
				}
			}
			if perValue := all.Size() / int64(max(n, 1)); spread < 1<<40 && n > instantBlock && perValue > 4 {
				t.Errorf("%s, %d values take %d bytes each", name, n, perValue)
			}
		}
	}
}

// TestTuples compares with a list, of parts of all lengths that are merged.
func TestTuples(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for width := 1; width < 12; width++ {
		var all Tuples
		var want []int64
		for _, n := range []int{0, 1, 3, 10_000, 2, 200} {
			var part Tuples
			for range n {
				tuple := make([]int64, width)
				for i := range tuple {
					tuple[i] = int64(r.Uint64()) >> r.IntN(64)
				}
				part.Add(tuple)
				want = append(want, tuple...)
			}
			all.Merge(&part)
			tuple := make([]int64, width)
			part.Add(tuple) // is not in what was merged before
			all.Add(tuple)
			want = append(want, tuple...)
		}
		var got []int64
		all.Each(width, func(tuple []int64) { got = append(got, tuple...) })
		if !slices.Equal(got, want) || all.N() != int64(len(want)/width) {
			t.Errorf("width %d: %d values, %d tuples; want %d values", width, len(got), all.N(), len(want))
		}
	}
}
