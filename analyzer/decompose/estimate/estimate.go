package estimate

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Estimate holds the fitted model and the decode spans of one replica.
type Estimate struct {
	Refused Reason // why nothing is known; None where something is

	Steps, Clean int     // steps that gave tokens; those that did nothing but decode
	Together     float64 // share of neighbouring chunks that belong to neighbouring steps
	Compact      float64 // share of chunks in steps that stand apart
	A, B, C      float64 // cost of a step: ns; ns per sequence; ns per token of context
	Low          int64   // f_lo: cost of a step at the least load, ns
	Merged       bool    // floor and load cannot be told apart
	Correlation  float64 // of B and C over the clean steps
	Drift        float64 // relative change of the cost from the first to the second half
	Unexplained  float64 // share of the clean steps' token time beyond 1.25·ŷ

	replica *Replica
	steps   *steps
	points  []point
	model   model
	lowB    int32
	lowC    float64
	models  []model // of the bootstrap
}

// The limits of the checks.
const (
	fewestClean    = 200
	leastTogether  = 0.95
	leastCompact   = 0.95
	leastSpread    = 1.5  // of the 95th to the 5th percentile of B or C
	longStep       = 1.25 // times ŷ
	mostLong       = 0.02 // of token time beyond it
	mostDrift      = 0.10
	widest         = 0.10 // of the interval of a share
	mostCorrelated = 0.90 // B and C, for load to be split
)

// resolvable checks whether stamps tell steps apart.
func (e *Estimate) resolvable() bool {
	s := e.steps
	decoding := make([]int32, len(s.at)) // steps up to k that gave more than first chunks
	n, chunks, compact := int32(0), int64(0), int64(0)
	for k, b := range s.b {
		if b > 0 {
			n++
		}
		decoding[k] = n
		chunks += int64(b)
		if s.flags[k]&wide == 0 {
			compact += int64(b)
		}
	}
	if chunks == 0 {
		return false
	}
	together := chunks
	for i := range s.absences {
		if a := &s.absences[i]; decoding[a.to] != decoding[a.from-1]+1 {
			together--
		}
	}
	e.Together = float64(together) / float64(chunks)
	e.Compact = float64(compact) / float64(chunks)
	return e.Together >= leastTogether && e.Compact >= leastCompact
}

// extent finds the range of B and C over the clean steps.
func (e *Estimate) extent() {
	s, n := e.steps, len(e.points)
	b, c := make([]int32, n), make([]float64, n)
	for i, p := range e.points {
		b[i], c[i] = s.b[p.k], s.context[p.k]
	}
	e.Correlation = correlation(b, c)
	slices.Sort(b)
	slices.Sort(c)
	lo, hi := (5*n+99)/100-1, (95*n+99)/100-1
	e.lowB, e.lowC = b[lo], c[lo]
	e.Merged = float64(b[hi]) < float64(leastSpread*float64(b[lo])) && c[hi] < float64(leastSpread*c[lo])
}

// correlation returns the correlation of b and c; 1 where either does not vary.
func correlation(b []int32, c []float64) float64 {
	var mb, mc, bb, bc, cc float64
	for i := range b {
		mb += float64(b[i])
		mc += c[i]
	}
	n := float64(len(b))
	mb, mc = mb/n, mc/n
	for i := range b {
		x, y := float64(b[i])-mb, c[i]-mc
		bb += float64(x * x)
		bc += float64(x * y)
		cc += float64(y * y)
	}
	if bb == 0 || cc == 0 {
		return 1
	}
	return bc / math.Sqrt(float64(bb*cc))
}

// fit fits the model, to the halves of the log for comparison too.
func (e *Estimate) fit() {
	s, half := e.steps, len(e.points)/2
	early, late := s.huber(e.points[:half]), s.huber(e.points[half:])
	e.model = s.huber(e.points)
	e.A, e.B, e.C = e.model.a, e.model.b, e.model.c
	e.Low = int64(e.model.of(e.lowB, e.lowC) + 0.5)
	var before, after, long, all float64
	for _, p := range e.points {
		b, y, fit := float64(s.b[p.k]), float64(s.y(int(p.k))), s.expect(e.model, int(p.k))
		before += s.expect(early, int(p.k))
		after += s.expect(late, int(p.k))
		all += float64(b * y)
		long += float64(b * max(0, y-float64(longStep*fit)))
	}
	e.Drift = math.Abs(after-before) / before
	e.Unexplained = long / all
}

// The bootstrap draws runs of blockSteps steps, as many as there are but at most
// maxBlocks, which makes intervals wider, and fits the model to the clean ones.
const (
	blockSteps = 50
	maxBlocks  = 20_000
	resamples  = 200
	seed       = 0x5e7_5c09e // the same every time
)

// bootstrap fits the model to resampled steps, with the weights of the last fit.
func (e *Estimate) bootstrap() {
	blocks := make([]sums, (e.Steps+blockSteps-1)/blockSteps)
	for _, p := range e.points {
		e.steps.sum(&blocks[p.k/blockSteps], p)
	}
	rnd := rand.New(rand.NewPCG(seed, uint64(e.Steps)))
	for range resamples {
		var fit sums
		for range min(len(blocks), maxBlocks) {
			fit.plus(&blocks[rnd.IntN(len(blocks))])
		}
		if fit.w > 0 {
			e.models = append(e.models, fit.solve())
		}
	}
}
