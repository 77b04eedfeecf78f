package kernel

import (
	"math"
	"testing"
)

// The last window of time ends where int64 ends: an end that wrapped around would
// never be reached by a loop over windows.
func TestLastWindowEnds(t *testing.T) {
	a := axis{length: 5e9, from: math.MinInt64, to: math.MaxInt64}
	for _, at := range []int64{math.MaxInt64 - 1, math.MaxInt64 - 5e9, 9223372036500000000} {
		window, end := a.stretch(at)
		if window > at || end <= at {
			t.Errorf("stretch(%d) = [%d, %d), which does not hold it", at, window, end)
		}
	}
}
