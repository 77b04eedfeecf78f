package simulate

import "math"

// forward is the work of one forward pass.
type forward struct {
	tokens  int   // of all sequences
	context int64 // tokens of context of all sequences, those computed included
	pairs   int64 // of prompt tokens and tokens before them
}

// of returns the ns of a forward pass without drift and noise. It never falls
// when the work grows. capacity is the size of the KV cache in tokens.
func (c *Cost) of(w forward, capacity int) float64 {
	if w.tokens == 0 {
		return 0
	}
	n, eager := c.pad(w.tokens)
	ctx := float64(w.context)
	kv := float64(c.PerContext * ctx * (1 + float64(c.Curve*ctx/float64(capacity))))
	memory, compute := c.Weights+kv, float64(c.PerToken*float64(n))
	t := c.Overhead + math.Sqrt(float64(memory*memory)+float64(compute*compute)) + float64(c.PerPair*float64(w.pairs))
	if eager {
		t += c.Eager
	}
	return t
}

// pad returns the number of tokens that are computed for n, and whether there is
// no graph for them.
func (c *Cost) pad(n int) (int, bool) {
	for _, size := range c.Graphs {
		if n <= size {
			return size, false
		}
	}
	return n, len(c.Graphs) > 0
}

// drift returns the factor of the cost when the given share of the requests has
// been taken in.
func (c *Cost) drift(taken float64) float64 {
	if c.Jump {
		if taken < 0.5 {
			return 1
		}
		return 1 + c.Drift
	}
	return 1 + float64(c.Drift*taken)
}
