package loads

import (
	"slices"
	"sort"

	"servescope/analyzer/kernel/request"
)

// marks are the values of a gauge in order of time, one per stamp: several of one
// stamp are one, their mean.
type marks struct {
	sequences  []mark
	generation []mark // tokens per second
	prompted   []mark
	far        uint64 // 2.5 intervals between lines: for no longer does a value hold
	interval   int64  // ns; 0 with fewer than two lines
}

// marksOf returns the marks of points, which it sorts.
func marksOf(points []point, resolution int64) *marks {
	slices.SortFunc(points, point.compare)
	m := new(marks)
	for i := 0; i < len(points); {
		var running, generation, prompted average
		at := mark{t: points[i].t, idle: true}
		for ; i < len(points) && points[i].t == at.t; i++ {
			p := &points[i]
			running.add(p.running)
			generation.add(p.generation)
			prompted.add(p.prompted)
			at.length = max(at.length, p.length)
			at.idle = at.idle && p.running == 0 && p.waiting == 0
		}
		m.sequences = running.mark(m.sequences, at, 1)
		at.length = 0
		m.generation = generation.mark(m.generation, at, 100)
		m.prompted = prompted.mark(m.prompted, at, 100)
	}
	var gaps []int64
	for i := 1; i < len(m.sequences); i++ {
		if d := m.sequences[i].t - m.sequences[i-1].t; d > 0 { // not below 0 but by overflow
			gaps = append(gaps, d)
		}
	}
	if len(gaps) > 0 {
		slices.Sort(gaps)
		m.interval = max(gaps[len(gaps)/2], resolution)
	}
	m.far = uint64(min(m.interval, request.Day)) * 5 / 2
	return m
}

// batch returns what the gauge says over [lo, hi): a value of a step for the
// length of the step, any other until the next line, unless that is too far away.
func (m *marks) batch(lo, hi int64) holding {
	var s holding
	list := m.sequences
	for i := max(fromMark(list, lo)-1, 0); i < len(list); i++ {
		x := &list[i]
		if lo <= x.t && x.t < hi {
			s.lines++
		}
		switch {
		case x.length > 0 && x.t-x.length >= hi, x.length == 0 && x.t >= hi:
			return s
		case x.length > 0:
			s.hold(x.t-x.length, x.t, lo, hi, x.v)
		case i+1 < len(list) && list[i+1].length == 0 && m.near(x.t, list[i+1].t):
			s.hold(x.t, list[i+1].t, lo, hi, x.v)
		}
	}
	return s
}

// near reports whether what is said at a is still told at b.
func (m *marks) near(a, b int64) bool { return uint64(b)-uint64(a) <= m.far }

// rate returns what rates of list say over [lo, hi): each covers the time
// since the one before.
func (m *marks) rate(list []mark, lo, hi int64) holding {
	var s holding
	for i := max(fromMark(list, lo), 1); i < len(list) && list[i-1].t < hi; i++ {
		if m.near(list[i-1].t, list[i].t) {
			s.hold(list[i-1].t, list[i].t, lo, hi, list[i].v)
			s.lines++
		}
	}
	return s
}

// mark is a value at a stamp.
type mark struct {
	t, length int64 // length: of the step that ends at t; 0: the value holds from t on
	v         float64
	idle      bool // nothing runs and nothing waits
}

// average adds up the values of one stamp.
type average struct{ sum, n float64 }

func (m *average) add(v int32) {
	if v >= 0 {
		m.sum, m.n = m.sum+float64(v), m.n+1
	}
}

// mark appends the mean, in units of scale, to list, if there is one.
func (m *average) mark(list []mark, at mark, scale float64) []mark {
	if m.n == 0 {
		return list
	}
	at.v = m.sum / m.n / scale
	return append(list, at)
}

// holding holds what marks say of a part of time.
type holding struct {
	covered int64   // ns in which there is a value
	area    float64 // value times ns
	most    float64
	lines   int64 // values in it
}

// mean returns the mean over the covered time.
func (s *holding) mean() float64 { return s.area / float64(s.covered) }

// hold adds a value that holds in [from, to) as far as that is in [lo, hi).
func (s *holding) hold(from, to, lo, hi int64, v float64) {
	from, to = max(from, lo), min(to, hi)
	if from >= to {
		return
	}
	s.covered += to - from
	s.area += float64(v * float64(to-from))
	s.most = max(s.most, v)
}

// fromMark returns the index of the first of list at lo or later.
func fromMark(list []mark, lo int64) int {
	return sort.Search(len(list), func(i int) bool { return list[i].t >= lo })
}
