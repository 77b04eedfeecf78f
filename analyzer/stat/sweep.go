package stat

import (
	"math"
	"math/big"
)

// Sweep is the number of intervals [start, end) that are open over time, as an
// exact step curve. Where one interval ends at the instant another starts, the
// end comes first: touching intervals do not overlap, and empty ones never
// count.
//
// It is not safe for concurrent use, nor may the function that Walk calls use it.
type Sweep struct{ starts, ends cursor }

// NewSweep returns the sweep of the intervals with the given starts and ends,
// which need not be in pairs: only their order in time matters. No interval may
// end before it starts. Both are kept, and must not change.
func NewSweep(starts, ends *Instants) *Sweep {
	return &Sweep{newCursor(starts), newCursor(ends)}
}

// Walk calls f for every step of the curve within [from, to), in order: n
// intervals are open from t0 to t1. Steps of no length are left out.
func (s *Sweep) Walk(from, to int64, f func(t0, t1, n int64)) {
	n := s.starts.seek(from) - s.ends.seek(from)
	for t := from; t < to; {
		next := s.ends.next(s.starts.next(to))
		if next > t {
			f(t, next, n)
		}
		n += s.starts.skip(next) - s.ends.skip(next)
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
	before := int64(0)
	if from > math.MinInt64 {
		before = s.starts.seek(from - 1)
	}
	return s.starts.seek(to) - before
}

// MaxTouching returns the greatest number of intervals that lie in full or in
// part in one stretch of the given width in which one starts; stretches follow
// each other from the first start.
func (s *Sweep) MaxTouching(width int64) int64 {
	if s.starts.in.n == 0 {
		return 0
	}
	most := int64(0)
	first := s.starts.in.blocks[0].first
	for t := first; ; {
		from := first + (t-first)/width*width
		most = max(most, s.starts.seek(from+width-1)-s.ends.seek(from-1))
		next := s.starts.next(math.MaxInt64)
		if next <= t || next == math.MaxInt64 {
			return most
		}
		t = next
	}
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
