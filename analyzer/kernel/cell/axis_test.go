package cell

import (
	"math"
	"testing"
)

// The last window of time ends where int64 ends: an end that wrapped around would
// never be reached by a loop over windows.
func TestLastWindowEnds(t *testing.T) {
	a := axis{Length: 5e9, From: math.MinInt64, To: math.MaxInt64}
	for _, at := range []int64{math.MaxInt64 - 1, math.MaxInt64 - 5e9, 9223372036500000000} {
		window, end := a.Stretch(at)
		if window > at || end <= at {
			t.Errorf("stretch(%d) = [%d, %d), which does not hold it", at, window, end)
		}
	}
}
