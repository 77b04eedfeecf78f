package stat

import "math"

// Method is a definition of the quantile of a finite sample.
type Method uint8

// The methods. With n sorted values x[0] … x[n-1] and 0 ≤ q ≤ 1:
const (
	Linear  Method = iota // numpy's default: h = (n-1)q, interpolated between x[⌊h⌋] and its successor
	Nearest               // smallest x[k] whose share (k+1)/n reaches q (GuideLLM)
	Index                 // x[⌊nq⌋], at most x[n-1] (MLPerf loadgen)
)

var methodNames = [...]string{"linear", "nearest", "index"}

// String returns the method's name as printed in reports.
func (m Method) String() string { return methodNames[m] }

// Ranks returns the order statistics (0-based) between which the q-quantile of
// n values lies, and a weight t: the quantile is Lerp(x[lo], x[hi], t). n must
// be positive and q in [0, 1].
func (m Method) Ranks(n int64, q float64) (lo, hi int64, t float64) {
	switch m {
	case Nearest:
		k := max(int64(q*float64(n))-1, 1)
		for k < n && float64(k)/float64(n) < q {
			k++
		}
		return k - 1, k - 1, 0
	case Index:
		k := min(int64(q*float64(n)), n-1)
		return k, k, 0
	}
	h := float64(float64(n-1) * q)
	lo = min(int64(h), n-1)
	return lo, min(lo+1, n-1), h - float64(lo)
}

// Lerp interpolates between a and b exactly as numpy does: from the nearer end.
func Lerp(a, b, t float64) float64 {
	d := b - a
	if t >= 0.5 {
		return b - float64(d*(1-t))
	}
	return a + float64(d*t)
}

// Quantile returns the q-quantile of sorted values. There must be at least one.
func (m Method) Quantile(sorted []float64, q float64) float64 {
	lo, hi, t := m.Ranks(int64(len(sorted)), q)
	return Lerp(sorted[lo], sorted[hi], t)
}

// RankInterval returns the order statistics (0-based) of n values that enclose
// the q-quantile of their population with at least the given confidence, for
// any distribution. With B binomial(n, q), lo is the largest l with P(B ≤ l) ≤
// (1-confidence)/2, and hi is the smallest u with P(B > u) ≤ (1-confidence)/2.
// lo is -1, or hi is n, where the sample is too small to bound that end.
func RankInterval(n int64, q, confidence float64) (lo, hi int64) {
	if n <= 0 || !(q > 0 && q < 1) {
		return -1, n
	}
	tail := (1 - confidence) / 2
	odds := q / (1 - q)
	mode := min(int64(float64(n+1)*q), n)
	// Weights relative to the mode's, summed outwards until they vanish.
	var below, above float64
	for k, w := mode, 1.0; k > 0 && w > 1e-20; k-- {
		w = float64(w * (float64(k) / float64(n-k+1) / odds))
		below += w
	}
	for k, w := mode, 1.0; k < n && w > 1e-20; k++ {
		w = float64(w * (float64(n-k) / float64(k+1) * odds))
		above += w
	}
	limit := tail * (1 + below + above)
	// lo: the largest l with Σ_{k ≤ l} ≤ limit. Walk down from the mode.
	lo = mode
	for sum, w := below+1, 1.0; lo >= 0 && sum > limit; lo-- {
		sum -= w
		w = float64(w * (float64(lo) / float64(n-lo+1) / odds))
	}
	// hi: the smallest u with Σ_{k > u} ≤ limit. Walk up from the mode.
	hi = mode
	for sum, w := above, 1.0; hi < n && sum > limit; hi++ {
		w = float64(w * (float64(n-hi) / float64(hi+1) * odds))
		sum -= w
	}
	return lo, hi
}

// meanOf returns the mean and the population standard deviation (ddof 0) of
// floats, given as sorted keys. Sorting makes both independent of the order in
// which the values came.
func meanOf(sorted []int64) (mean, std float64) {
	if len(sorted) == 0 {
		return 0, 0
	}
	var values, squares compensated
	for _, key := range sorted {
		values.add(Unkey(key))
	}
	mean = values.total() / float64(len(sorted))
	for _, key := range sorted {
		d := Unkey(key) - mean
		squares.add(float64(d * d))
	}
	return mean, math.Sqrt(squares.total() / float64(len(sorted)))
}

// compensated is a sum of floats with Neumaier's compensation.
type compensated struct{ sum, rest float64 }

func (s *compensated) add(v float64) {
	t := s.sum + v
	if math.Abs(s.sum) >= math.Abs(v) {
		s.rest += (s.sum - t) + v
	} else {
		s.rest += (v - t) + s.sum
	}
	s.sum = t
}

func (s *compensated) total() float64 { return s.sum + s.rest }
