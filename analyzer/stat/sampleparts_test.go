package stat

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSampleParts fills samples with values one by one and many at a time, so that
// they lie in several pieces, some of them packed or stored, unites them, and compares all
// that they say with the sorted values. The samples that were united stay as they are.
func TestSampleParts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	var to memory
	for range 40 {
		var samples [3]Sample
		var values [3][]int64
		for i := range samples {
			for range r.IntN(12) {
				some := make([]int64, r.IntN(3*sampleChunk/2))
				for k := range some {
					some[k] = r.Int64N(1e9)
				}
				values[i] = append(values[i], some...)
				if r.IntN(3) == 0 {
					samples[i].Pack([]Store{nil, &to}[r.IntN(2)])
				}
				if r.IntN(2) == 0 {
					samples[i].AddAll(some, false)
					continue
				}
				for _, v := range some {
					samples[i].Add(v, false)
				}
			}
		}
		sum := new(Sample)
		for i := range samples {
			if r.IntN(3) == 0 {
				samples[i].Settle(false)
			}
			sum.MergeUncounted(&samples[i])
		}
		checkParts(t, sum, slices.Concat(values[:]...))
		for i := range samples {
			checkParts(t, &samples[i], values[i])
		}
	}
}

func checkParts(t *testing.T, s *Sample, values []int64) {
	t.Helper()
	var m Moments
	m.Add(values)
	if mean, std := s.Moments(false); s.N() != int64(len(values)) || mean != m.Mean() || std != m.Std() {
		t.Fatalf("%d values with mean %v and deviation %v, want %d, %v, %v", s.N(), mean, std, len(values), m.Mean(), m.Std())
	}
	if least := 8 * int64(s.RawCount()); s.Size() < least {
		t.Fatalf("%d bytes, less than %d values take", s.Size(), len(values))
	}
	slices.Sort(values)
	for k, want := range values {
		if v, exact := s.At(int64(k)); v != want || !exact {
			t.Fatalf("value %d is %d, want %d", k, v, want)
		}
	}
}
