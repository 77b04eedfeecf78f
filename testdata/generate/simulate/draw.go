package simulate

import "math/rand/v2"

// random draws numbers, the same on every target.
type random struct{ *rand.Rand }

// stream is the purpose of random numbers.
type stream uint64

const (
	ofArrivals stream = iota + 1
	ofLengths
	ofSteps
	ofDelivery
	ofMissing
	ofClocks
	ofScenario
)

// newRandom returns the n-th generator of a purpose.
func newRandom(seed uint64, s stream, n int) random {
	return random{rand.New(rand.NewPCG(seed, uint64(s)<<40+uint64(n)))}
}

// normal draws from the sum of twelve uniform distributions, which is normal but
// for its ends at ± 6 standard deviations.
func (r random) normal() float64 {
	sum := -6.0
	for range 12 {
		sum += float64(r.Float64())
	}
	return sum
}

// exp draws from the exponential distribution of mean 1 by comparisons alone
// (J. von Neumann, Various techniques used in connection with random digits,
// 1951): the first number of a falling run of odd length, plus the number of runs
// of even length before it.
func (r random) exp() float64 {
	for whole := 0.0; ; whole++ {
		first := float64(r.Float64())
		last, odd := first, true
		for {
			next := float64(r.Float64())
			if next > last {
				break
			}
			last, odd = next, !odd
		}
		if odd {
			return whole + first
		}
	}
}

// delay draws an exponential time of the given mean in ns.
func (r random) delay(mean float64) int64 {
	if mean <= 0 {
		return 0
	}
	return int64(float64(mean * r.exp()))
}

// between draws uniformly from [lo, hi).
func (r random) between(lo, hi float64) float64 {
	return lo + float64((hi-lo)*r.Float64())
}

// chance is true with probability p.
func (r random) chance(p float64) bool { return r.Float64() < p }

// draw draws a length.
func (l Lengths) draw(r random) int {
	x := l.Mean
	switch l.Shape {
	case Uniform:
		x = r.between(l.Mean/2, 1.5*l.Mean)
	case Exponential:
		x *= r.exp()
	case Skewed:
		x = float64(x*r.exp()) * r.exp()
	case Mixed:
		if x *= 0.5; r.chance(0.1) {
			x *= 11
		}
		x = r.between(0.75*x, 1.25*x)
	}
	n := max(1, int(x+0.5))
	if l.Max > 0 {
		n = min(n, l.Max)
	}
	return n
}
