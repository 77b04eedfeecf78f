package otlp

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestEndsOf: a decode step that was exported twice ends once, in whatever order
// the steps come; those without a number all count.
func TestEndsOf(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var list []rec
		var want []passEnd
		seen := make(map[int32]bool)
		for i := range int64(r.IntN(12)) {
			x := rec{stage: decodeLoop, count: int32(r.IntN(7)) - 1, end: 100 + i}
			if r.IntN(2) == 0 {
				x.count = int32(i)
			}
			if r.IntN(8) == 0 {
				x.stage = forward
			}
			list = append(list, x)
			if x.stage == decodeLoop && x.count >= 0 {
				if seen[x.count] {
					continue
				}
				seen[x.count] = true
			}
			want = append(want, passEnd{x.end, x.stage == decodeLoop})
		}
		if got := endsOf(list, forward); !slices.Equal(got, want) {
			t.Fatalf("%+v: %v, want %v", list, got, want)
		}
	}
}
