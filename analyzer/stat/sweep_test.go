package stat

import (
	"math/rand/v2"
	"testing"
)

// TestSweepTouching is worked vector D3: the bucket method says 2 for both.
func TestSweepTouching(t *testing.T) {
	apart := NewSweep(InstantsOf([]int64{0, 500}), InstantsOf([]int64{400, 900}))
	if got := apart.Summarize(0, 900, 0).Max; got != 1 {
		t.Errorf("apart: max %d, want 1", got)
	}
	if got, want := apart.Summarize(0, 900, 0).Mean, 800.0/900; got != want {
		t.Errorf("apart: mean %v, want %v", got, want)
	}
	touching := NewSweep(InstantsOf([]int64{0, 500}), InstantsOf([]int64{500, 1000}))
	if got := touching.Summarize(0, 1000, 0).Max; got != 1 {
		t.Errorf("touching: max %d, want 1", got)
	}
	for _, s := range []*Sweep{apart, touching} {
		if got := s.MaxTouching(1000); got != 2 {
			t.Errorf("by stretches of 1000: max %d, want 2", got)
		}
	}
	if got := apart.MaxTouching(500); got != 1 { // [0, 500) and [500, 1000)
		t.Errorf("by stretches of 500: max %d, want 1", got)
	}
	empty := NewSweep(InstantsOf([]int64{5, 5}), InstantsOf([]int64{5, 5}))
	if got := empty.Summarize(0, 10, 0).Max; got != 0 {
		t.Errorf("empty intervals: max %d, want 0", got)
	}
}

// TestSweepAgainstCounting counts open intervals instant by instant.
func TestSweepAgainstCounting(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 400 {
		n, span := r.IntN(60), int64(1+r.IntN(80))
		var starts, ends []int64
		open := make([]int64, 3*span)
		for range n {
			a := int64(r.IntN(int(2 * span)))
			b := a + int64(r.IntN(int(span)))
			starts, ends = append(starts, a), append(ends, b)
			for t := a; t < b; t++ {
				open[t]++
			}
		}
		r.Shuffle(len(ends), func(i, j int) { ends[i], ends[j] = ends[j], ends[i] })
		s := NewSweep(InstantsOf(starts), InstantsOf(ends))
		from := int64(r.IntN(int(2 * span)))
		to := from + 1 + int64(r.IntN(int(3*span-from)))
		sum, most := int64(0), int64(0)
		below := map[int64]int64{}
		for _, c := range open[from:to] {
			sum, most = sum+c, max(most, c)
			below[c]++
		}
		if got, want := s.Summarize(from, to, 0).Mean, float64(sum)/float64(to-from); got != want {
			t.Fatalf("mean %v, want %v", got, want)
		}
		if got := s.Summarize(from, to, 0).Max; got != most {
			t.Fatalf("max %d, want %d", got, most)
		}
		median, seen := int64(0), below[0]
		for 2*seen < to-from {
			median++
			seen += below[median]
		}
		if got, max := s.Median(from, to); got != median || max != most {
			t.Fatalf("median %d, max %d, want %d, %d", got, max, median, most)
		}
		area := 0.0
		curve := s.Summarize(from, to, 1+r.IntN(50)).Curve
		for i, step := range curve {
			end := to
			if i+1 < len(curve) {
				end = curve[i+1].T
			}
			area += step.N * float64(end-step.T)
		}
		if len(curve) > 0 && (area-float64(sum) > 1e-6 || float64(sum)-area > 1e-6) {
			t.Fatalf("the curve covers %v, want %d", area, sum)
		}
	}
}

func BenchmarkSweep(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	n := 1 << 18
	starts, ends := make([]int64, n), make([]int64, n)
	s, e := make([]int64, n), make([]int64, n)
	for i := range starts {
		starts[i] = int64(i)*1e6 + r.Int64N(1e6)
		ends[i] = starts[i] + r.Int64N(3e9)
	}
	for b.Loop() {
		copy(s, starts)
		copy(e, ends)
		NewSweep(InstantsOf(s), InstantsOf(e)).Summarize(starts[0], ends[n-1], 0)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/interval")
}
