package view

import (
	"math"
	"testing"
)

func TestLogScale(t *testing.T) {
	for b := -5; b <= 8; b++ {
		s, last := logScale{b}, int64(-1)
		for _, v := range []int64{0, 1, 2, 3, 5, 8, 31, 255, 256, 257, 511, 512, 1000, 4097, 1e6, 123456789, 1e12, 1<<62 - 1, 1 << 62, math.MaxInt64} {
			at := s.bucket(v)
			if at < last || s.edge(at) > v || s.edge(at+1) <= v && v != math.MaxInt64 {
				t.Errorf("bits %d: %d is in bucket %d, [%d, %d)", b, v, at, s.edge(at), s.edge(at+1))
			}
			last = at
		}
	}
	if s := logScaleFor(1e6, 1e9, 64); s.bucket(1e9)-s.bucket(1e6) >= 64 || s.bucket(1e9)-s.bucket(1e6) < 31 {
		t.Errorf("%d bits", s.Bits)
	}
}
