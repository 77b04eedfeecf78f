package stat

import (
	"math/big"
	"sort"
)

// Sweep is the number of intervals [start, end) that are open over time, as an
// exact step curve. Where one interval ends at the instant another starts, the
// end comes first: touching intervals do not overlap, and empty ones never
// count.
type Sweep struct{ starts, ends []int64 }

// NewSweep returns the sweep of the intervals with the given starts and ends,
// which need not be in pairs: only their order in time matters. No interval may
// end before it starts. Both slices are sorted and kept.
func NewSweep(starts, ends []int64) *Sweep {
	Sort(starts)
	Sort(ends)
	return &Sweep{starts, ends}
}

// Walk calls f for every step of the curve within [from, to), in order: n
// intervals are open from t0 to t1. Steps of no length are left out.
func (s *Sweep) Walk(from, to int64, f func(t0, t1, n int64)) {
	i := sort.Search(len(s.starts), func(i int) bool { return s.starts[i] > from })
	j := sort.Search(len(s.ends), func(j int) bool { return s.ends[j] > from })
	for t := from; t < to; {
		next := to
		if i < len(s.starts) && s.starts[i] < next {
			next = s.starts[i]
		}
		if j < len(s.ends) && s.ends[j] < next {
			next = s.ends[j]
		}
		if next > t {
			f(t, next, int64(i-j))
		}
		for j < len(s.ends) && s.ends[j] <= next {
			j++
		}
		for i < len(s.starts) && s.starts[i] <= next {
			i++
		}
		t = next
	}
}

// Mean returns the time-weighted mean over [from, to), which is not empty,
// rounded once.
func (s *Sweep) Mean(from, to int64) float64 {
	var area wide
	s.Walk(from, to, func(t0, t1, n int64) { area.addProduct(t1-t0, n) })
	f, _ := new(big.Rat).SetFrac(area.int(), big.NewInt(to-from)).Float64()
	return f
}

// Max returns the greatest number open within [from, to).
func (s *Sweep) Max(from, to int64) int64 {
	most := int64(0)
	s.Walk(from, to, func(_, _, n int64) { most = max(most, n) })
	return most
}

// Median returns the time-weighted median over [from, to): the least number
// such that no more than it are open for at least half of the time.
func (s *Sweep) Median(from, to int64) int64 {
	time := make(map[int64]int64)
	most := int64(0)
	s.Walk(from, to, func(t0, t1, n int64) {
		time[n] += t1 - t0
		most = max(most, n)
	})
	left := (to - from) - (to-from)/2
	for n := range most {
		if left -= time[n]; left <= 0 {
			return n
		}
	}
	return most
}

// Started returns the number of intervals that start within [from, to].
func (s *Sweep) Started(from, to int64) int64 {
	i := sort.Search(len(s.starts), func(i int) bool { return s.starts[i] >= from })
	j := sort.Search(len(s.starts), func(i int) bool { return s.starts[i] > to })
	return int64(j - i)
}

// Step is one step of a curve: N from T to the next step.
type Step struct {
	T int64
	N float64
}

// Curve returns the curve over [from, to) in at most limit steps: exactly when
// it has no more, else the mean of each of limit equal stretches of time.
func (s *Sweep) Curve(from, to int64, limit int) []Step {
	steps := []Step{}
	s.Walk(from, to, func(t0, _, n int64) {
		if len(steps) <= limit {
			steps = append(steps, Step{t0, float64(n)})
		}
	})
	if len(steps) <= limit {
		return steps
	}
	steps = steps[:0]
	width := (to - from) / int64(limit)
	if width == 0 {
		return steps
	}
	for k := range int64(limit) {
		t0, t1 := from+k*width, from+(k+1)*width
		if k == int64(limit)-1 {
			t1 = to
		}
		steps = append(steps, Step{t0, s.Mean(t0, t1)})
	}
	return steps
}
