package stat

import "math"

// Sweep is the number of intervals [start, end) that are open over time, as an
// exact step curve. If an interval ends at the instant another starts, the end
// comes first: touching intervals do not overlap, and empty intervals never
// count.
//
// A Sweep is not safe for concurrent use, and the function passed to Walk must
// not use it.
type Sweep struct{ starts, ends cursor }

// NewSweep returns the sweep of the intervals with the given starts and ends.
// They need not be in pairs, because only their order in time matters. No
// interval may end before it starts. The Sweep keeps both, and they must not
// change.
func NewSweep(starts, ends *Instants) *Sweep {
	return &Sweep{newCursor(starts), newCursor(ends)}
}

// Walk calls f for every step of the curve within [from, to), in order: n
// intervals are open from t0 to t1. It skips steps of length 0.
func (s *Sweep) Walk(from, to int64, f func(t0, t1, n int64)) {
	n := s.starts.seek(from) - s.ends.seek(from)
	starts, i := s.starts.buf, s.starts.at
	ends, j := s.ends.buf, s.ends.at
	for t := from; t < to; {
		// The step ends at the next start or end.
		next := to
		if i < len(starts) && starts[i] < next {
			next = starts[i]
		}
		if j < len(ends) && ends[j] < next {
			next = ends[j]
		}
		if next > t {
			f(t, next, n)
		}
		// Pass all starts and ends at that instant.
		for i < len(starts) && starts[i] <= next {
			n++
			if i++; i == len(starts) {
				starts, i = s.starts.following(), 0
			}
		}
		for j < len(ends) && ends[j] <= next {
			n--
			if j++; j == len(ends) {
				ends, j = s.ends.following(), 0
			}
		}
		t = next
	}
}

// Summary summarizes a sweep within a stretch of time.
type Summary struct {
	Mean  float64 // weighted by time, rounded once
	Max   int64   // the largest number of open intervals
	Curve []Step
}

// Summarize returns the summary of s within [from, to), which must not be
// empty. If the curve has more than limit steps, it becomes the means of limit
// equal stretches.
func (s *Sweep) Summarize(from, to int64, limit int) Summary {
	o := Summary{Curve: make([]Step, 0, limit+1)}
	parts := max(limit, 1)
	width := (to - from) / int64(parts)
	if width == 0 { // such a short time has fewer steps than limit
		parts, width = 1, to-from
	}
	areas := make([]wide, parts)
	k, end := 0, from+width
	if parts == 1 {
		end = to
	}
	// Walk the curve: collect its steps as long as they fit, and the area of
	// each stretch.
	s.Walk(from, to, func(t0, t1, n int64) {
		o.Max = max(o.Max, n)
		if len(o.Curve) <= limit {
			o.Curve = append(o.Curve, Step{t0, float64(n)})
		}
		for t1 > end {
			areas[k].addProduct(end-t0, n)
			t0 = end
			if k++; k == parts-1 {
				end = to
			} else {
				end += width
			}
		}
		areas[k].addProduct(t1-t0, n)
	})
	// The mean is the total area by the length.
	var area wide
	for i := range areas {
		area.add(areas[i])
	}
	o.Mean = area.over(to - from)
	if len(o.Curve) <= limit {
		return o
	}
	// The curve has too many steps: return the mean of each stretch.
	o.Curve = o.Curve[:0]
	for k := range parts {
		t0, t1 := from+int64(k)*width, from+int64(k+1)*width
		if k == parts-1 {
			t1 = to
		}
		o.Curve = append(o.Curve, Step{t0, areas[k].over(t1 - t0)})
	}
	return o
}

// Median returns the time-weighted median over [from, to): the smallest number
// such that for at least half of the time no more intervals are open. It also
// returns the largest number of open intervals.
func (s *Sweep) Median(from, to int64) (median, most int64) {
	var time []int64 // by number of open intervals
	s.Walk(from, to, func(t0, t1, n int64) {
		for int64(len(time)) <= n {
			time = append(time, 0)
		}
		time[n] += t1 - t0
	})
	most = max(int64(len(time))-1, 0)
	left := (to - from) - (to-from)/2
	for n := range most {
		if left -= time[n]; left <= 0 {
			return n, most
		}
	}
	return most, most
}

// Started returns the number of intervals that start within [from, to].
func (s *Sweep) Started(from, to int64) int64 {
	before := int64(0)
	if from > math.MinInt64 {
		before = s.starts.seek(from - 1)
	}
	return s.starts.seek(to) - before
}

// MaxTouching cuts time into stretches of the given width from the first start
// on. It returns the largest number of intervals that touch a stretch in which
// an interval starts.
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

// Step is one step of a curve: the value is N from T to the next step.
type Step struct {
	T int64
	N float64
}
