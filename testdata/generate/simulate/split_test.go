package simulate

import (
	"slices"
	"testing"
)

// TestSplit holds split to worked examples in ms.
func TestSplit(t *testing.T) {
	f := func(name string, steps []step, s span, lo int64, want Parts) {
		t.Helper()
		end := int64(0)
		for i := range steps {
			end += steps[i].y
			steps[i].end = end
		}
		if got := split(steps, s, lo); got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
	start := step{y: 7}
	f("worked example", []step{start, {y: 24, decode: 24}, {y: 24, decode: 24}, {y: 61, decode: 25, prefill: 36, contexts: 1},
		{y: 24, decode: 24}, {y: 50, decode: 50}, {y: 25, decode: 24}},
		span{d: 208, from: 0, to: 6, own: []int32{1, 2, 3, 4, 6}}, 20,
		Parts{Floor: 100, Load: 21, Interference: 36, Stall: 50, Rest: 1})
	f("another's prompt alone, a stall of the host, delivery", []step{start, {y: 30, decode: 18, stall: 11}, {y: 40, prefill: 40, contexts: 2}, {y: 20, decode: 21}},
		span{d: 95, from: 0, to: 3, own: []int32{1, 3}}, 20,
		Parts{Floor: 38, Load: 1, Interference: 40, Rest: 12 - 1 + 5})
	f("preempted, computed anew alone, then beside another's prompt", []step{start, {y: 20, decode: 20}, {y: 30, decode: 10, prefill: 20, contexts: 1},
		{y: 45, decode: 10, prefill: 35, contexts: 2}, {y: 50, decode: 12, prefill: 37, contexts: 1}},
		span{d: 145, from: 0, to: 4, own: []int32{4}, redone: []int32{2, 3, 4}}, 10,
		Parts{Floor: 10, Load: 2, Interference: 45, Stall: 20 + 30 + 37, Rest: 1})
	f("a chunk that ends behind a redone step", []step{start, {y: 20, contexts: 1, decode: 5, prefill: 15}, {y: 9, decode: 9}},
		span{d: 9, from: 1, to: 2, own: []int32{2}, redone: []int32{1}}, 10, Parts{Floor: 9})
}

// TestTruth takes every span of random runs apart again, step by step from sets.
func TestTruth(t *testing.T) {
	coalesced := 0
	for _, seed := range seeds(t, 12) {
		s := Random(seed)
		if seed%3 == 0 {
			s.Delivery.Coalesce = 0.4
		}
		w := simulate(s.complete())
		c := newClocks(s.complete())
		logged := w.logged()
		truth := w.truth(logged, c)
		for i, r := range logged {
			if len(r.chunks) > 1 && r.chunks[0].tokens > 1 {
				coalesced++
			}
			if got, want := truth.Spans[i], apart(w, r, c, truth.Replicas[r.replica].FLo); got != want {
				t.Fatalf("seed %d row %d: got %+v, want %+v", seed, i, got, want)
			}
		}
	}
	if coalesced == 0 {
		t.Error("no first chunk of several tokens")
	}
}

func apart(w *world, r *request, c *clocks, lo int64) (p Parts) {
	n := len(r.chunks)
	if n < 2 {
		return p
	}
	steps := w.engines[r.replica].steps
	sum := int64(0)
	for k := range steps {
		if x := &steps[k]; int32(k) > r.chunks[0].step && int32(k) <= r.chunks[n-1].step {
			own, anew := slices.Contains(r.steps, int32(k)), slices.Contains(r.redone, int32(k))
			switch {
			case own && anew:
				p.Stall += x.prefill
			case own:
				p.Interference += x.prefill
			case x.contexts == 0, anew && x.contexts == 1:
				p.Stall += x.y
			default:
				p.Interference += x.y
			}
			if own {
				sum += x.prefill + x.decode
				p.Floor += min(lo, x.decode)
				p.Load += x.decode - min(lo, x.decode)
			} else {
				sum += x.y
			}
		}
	}
	p.Rest = c.stamp(r, r.chunks[n-1].at) - c.stamp(r, r.chunks[0].at) - sum
	return p
}

// TestWorkedRun follows one request whose steps have round costs: with a graph
// of 10 tokens every pass computes 10, memory is 3 and compute 4 of 5 µs.
func TestWorkedRun(t *testing.T) {
	s := Scenario{
		Load:   Load{Requests: 1},
		Prompt: Lengths{Mean: 10}, Output: Lengths{Mean: 3},
		Engine:  Engine{Budget: 100, MaxRunning: 4, Blocks: 4},
		Cost:    Cost{Overhead: 1000, Weights: 3000, PerToken: 400, PerPair: 1, Graphs: []int{10}},
		Logging: Logging{Evidence: Declared, Counts: true},
	}
	w := simulate(s.complete())
	var got []int64
	for _, k := range w.engines[0].steps {
		got = append(got, k.y, k.decode, k.prefill, int64(k.b), k.c)
	}
	// The prompt's pairs are 1 + … + 10; a decode step's context is all tokens before it.
	if want := []int64{6055, 0, 6055, 0, 0, 6000, 6000, 0, 1, 11, 6000, 6000, 0, 1, 12}; !slices.Equal(got, want) {
		t.Errorf("steps: got %v, want %v", got, want)
	}
	// In chunks of 6 and 4 tokens: 1 + … + 6 pairs, then 7 + … + 10.
	s.Engine.Budget = 6
	w = simulate(s.complete())
	if x := w.engines[0].steps; len(x) != 4 || x[0].prefill != 6021 || x[1].prefill != 6034 {
		t.Errorf("prompt in two chunks: got %+v", x)
	}
	s.Engine.Budget = 100
	l := Run(s)
	if want := (Parts{Floor: 12_000}); l.Truth.Total != want || l.Truth.Spans[0] != want {
		t.Errorf("got %+v, want %+v", l.Truth.Total, want)
	}
	if r := l.Truth.Replicas[0]; r.Steps != 2 || r.Clean != 2 || r.FLo != 6000 || r.B5 != 1 || r.C5 != 11 || r.C95 != 12 {
		t.Errorf("replica: got %+v", r)
	}
	// Chunks of two tokens behind the first: the last comes with its step.
	s.Delivery.Every = 2
	if l := Run(s); l.Truth.Total != (Parts{Floor: 12_000}) || l.Truth.Fails != A3 {
		t.Errorf("in chunks: got %+v, fails %b", l.Truth.Total, l.Truth.Fails)
	}
}

func TestCost(t *testing.T) {
	c := Cost{Overhead: 10, Weights: 30, PerToken: 40, PerContext: 1, Curve: 1, PerPair: 2, Eager: 5, Graphs: []int{1, 4}}
	f := func(weights float64, w forward, want float64) {
		t.Helper()
		c.Weights = weights
		if got := c.of(w, 100); got != want {
			t.Errorf("%+v: got %v, want %v", w, got, want)
		}
	}
	f(30, forward{}, 0)
	f(30, forward{tokens: 1}, 10+50)                  // 30, 40
	f(30, forward{tokens: 1, pairs: 3}, 10+50+6)      //
	f(45, forward{tokens: 4, context: 50}, 10+200)    // 45 + 50·1.5, 160
	f(45, forward{tokens: 3, context: 50}, 10+200)    // as 4 tokens
	f(150, forward{tokens: 5}, 10+250+5)              // 150, 200, without a graph
	f(40, forward{tokens: 8, context: 100}, 10+5+400) // 40 + 100·2, 320
	c.Graphs = nil
	f(30, forward{tokens: 1}, 10+50)
	f(120, forward{tokens: 4}, 10+200)
}

// TestRandomNumbers holds the distributions to their mean, variance and tail.
func TestRandomNumbers(t *testing.T) {
	const n = 200_000
	f := func(name string, draw func(random) float64, mean, variance, above, share float64) {
		t.Helper()
		r := newRandom(1, ofScenario, 0)
		var sum, squares, tail float64
		for range n {
			x := draw(r)
			sum += x
			squares += x * x
			if x > above {
				tail++
			}
		}
		m := sum / n
		v := squares/n - m*m
		if abs(m-mean) > 0.02 || abs(v-variance) > 0.04*variance || abs(tail/n-share) > 0.005 {
			t.Errorf("%s: mean %v, variance %v, tail %v; want %v, %v, %v", name, m, v, tail/n, mean, variance, share)
		}
	}
	f("exp", random.exp, 1, 1, 2, 0.1353)       // e⁻²
	f("normal", random.normal, 0, 1, 1, 0.1587) // 1 − Φ(1)
	of := func(s Shape) func(random) float64 {
		return func(r random) float64 { return float64(Lengths{Shape: s, Mean: 1e6}.draw(r)) / 1e6 }
	}
	f("uniform", of(Uniform), 1, 1.0/12, 1.25, 0.25)
	f("exponential", of(Exponential), 1, 1, 2, 0.1353)
	f("skewed", of(Skewed), 1, 3, 1, 0.2797)                   // 2·K₁(2)
	f("mixed", of(Mixed), 1, 0.9*0.255208+0.1*30.88-1, 2, 0.1) // squares: mean² + width²/12
	if got := (Lengths{Shape: Fixed, Mean: 0.1}).draw(random{}); got != 1 {
		t.Errorf("the shortest: got %d", got)
	}
	if got := (Lengths{Shape: Fixed, Mean: 99, Max: 7}).draw(random{}); got != 7 {
		t.Errorf("the longest: got %d", got)
	}
}

func abs(x float64) float64 { return max(x, -x) }
