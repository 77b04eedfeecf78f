package stat

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTuplesEncoding reads back what is written, among other bytes, and refuses what
// is cut short or of another width.
func TestTuplesEncoding(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{0, 1, 7, 9000} {
		var from, to Tuples
		var want, got []int64
		for range n {
			tuple := []int64{r.Int64N(9), -r.Int64N(1e12), 5}
			want = append(want, tuple...)
			from.Add(tuple)
		}
		code := from.AppendTo([]byte("before"))[6:]
		rest, err := to.Load(append(code, "behind"...), 3)
		if err != nil || string(rest) != "behind" || to.N() != int64(n) {
			t.Fatalf("%d tuples: %d, %q, %v", n, to.N(), rest, err)
		}
		to.Add([]int64{1, 2, 3}) // is written behind what was read
		to.Each(3, func(tuple []int64) { got = append(got, tuple...) })
		if !slices.Equal(got, append(want, 1, 2, 3)) {
			t.Errorf("%d tuples are others", n)
		}
		if _, err := to.Load(code[:len(code)-1], 3); err == nil {
			t.Errorf("%d tuples cut short are read", n)
		}
		if _, err := to.Load(code, 2); err == nil && n > 0 {
			t.Errorf("%d tuples are read as of another width", n)
		}
	}
}
