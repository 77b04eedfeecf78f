package estimate

import (
	"math"
)

// model is the cost of a step in ns: a + b·B + c·C.
type model struct{ a, b, c float64 }

// of returns the cost of a step of n sequences with the given context.
func (m model) of(n int32, context float64) float64 {
	return m.a + float64(m.b*float64(n)) + float64(m.c*context)
}

// sums are weighted sums over steps of products of 1, B, C and y.
type sums struct {
	w, b, c, y, bb, bc, cc, by, cy, yy float64
}

// add adds a step of weight w.
func (s *sums) add(w, b, c, y float64) {
	wb, wc, wy := float64(w*b), float64(w*c), float64(w*y)
	s.w += w
	s.b += wb
	s.c += wc
	s.y += wy
	s.bb += float64(wb * b)
	s.bc += float64(wb * c)
	s.cc += float64(wc * c)
	s.by += float64(wb * y)
	s.cy += float64(wc * y)
	s.yy += float64(wy * y)
}

// plus adds the sums of o.
func (s *sums) plus(o *sums) {
	s.w += o.w
	s.b += o.b
	s.c += o.c
	s.y += o.y
	s.bb += o.bb
	s.bc += o.bc
	s.cc += o.cc
	s.by += o.by
	s.cy += o.cy
	s.yy += o.yy
}

// solve returns the least-squares model whose coefficients are not negative. At the
// optimum some coefficients are 0, and the others solve the problem without
// constraint; solve therefore tries all subsets.
func (s *sums) solve() model {
	x := [3][3]float64{{s.w, s.b, s.c}, {s.b, s.bb, s.bc}, {s.c, s.bc, s.cc}}
	y := [3]float64{s.y, s.by, s.cy}
	var best [3]float64
	least := math.Inf(1)
	for set := 1; set < 8; set++ {
		beta, ok := subset(&x, &y, set)
		if !ok {
			continue
		}
		loss := s.yy
		for i := range beta {
			loss -= float64(beta[i] * y[i])
		}
		if loss < least-float64(1e-12*s.yy) {
			best, least = beta, loss
		}
	}
	return model{best[0], best[1], best[2]}
}

// subset solves the normal equations of the coefficients in set, the others 0. It
// reports false where they have no unique solution, or a negative one.
func subset(x *[3][3]float64, y *[3]float64, set int) (beta [3]float64, ok bool) {
	var index []int
	for i := range 3 {
		if set>>i&1 == 1 {
			index = append(index, i)
		}
	}
	var m [3][4]float64
	for i, p := range index {
		if x[p][p] <= 0 {
			return beta, false
		}
		for j, q := range index { // scaled, so that pivots are between 0 and 1
			m[i][j] = x[p][q] / math.Sqrt(float64(x[p][p]*x[q][q]))
		}
		m[i][3] = y[p] / math.Sqrt(x[p][p])
	}
	n := len(index)
	for i := range n { // symmetric and positive: no pivoting
		if m[i][i] < 1e-9 {
			return beta, false
		}
		for j := i + 1; j < n; j++ {
			f := m[j][i] / m[i][i]
			for k := i; k < 4; k++ {
				m[j][k] -= float64(f * m[i][k])
			}
		}
	}
	for i := n - 1; i >= 0; i-- {
		v := m[i][3]
		for j := i + 1; j < n; j++ {
			v -= float64(m[i][j] * beta[index[j]])
		}
		if v /= m[i][i]; v < 0 {
			return beta, false
		}
		beta[index[i]] = v
	}
	for _, p := range index {
		beta[p] /= math.Sqrt(x[p][p])
	}
	return beta, true
}

// point is a clean step with its weight in the fit.
type point struct {
	k int32
	w float64
}

// Huber's loss is quadratic up to huberAt median absolute deviations. The model is
// refined until it stands, at most huberRounds times.
const (
	huberAt     = 1.5
	huberRounds = 30
)

func near(a, b float64) bool { return math.Abs(a-b) <= float64(1e-6*math.Abs(b)) }

// madSample is how many steps the median absolute deviation is taken of at most.
const madSample = 20_000
