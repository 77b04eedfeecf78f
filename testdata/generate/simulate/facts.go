package simulate

import (
	"math"
	"slices"
)

// truth tells the truth about the rows of a log, which are those of the requests
// in logged.
func (w *world) truth(logged []*request, c *clocks) Truth {
	t := Truth{Spans: make([]Parts, len(logged))}
	for _, e := range w.engines {
		r, drift := e.replica()
		t.Replicas = append(t.Replicas, r)
		t.Drift = max(t.Drift, drift)
	}
	for i, r := range logged {
		n := len(r.chunks)
		if n < 2 {
			continue
		}
		first, last := &r.chunks[0], &r.chunks[n-1]
		s := span{d: c.stamp(r, last.at) - c.stamp(r, first.at), from: first.step, to: last.step,
			own: r.steps[first.tokens:], redone: r.redone}
		rep := &t.Replicas[r.replica]
		t.Spans[i] = split(w.engines[r.replica].steps, s, rep.FLo)
		rep.Total.Add(t.Spans[i])
		t.Total.Add(t.Spans[i])
	}
	for _, r := range w.requests {
		t.Preemptions += r.preempts
	}
	t.StalledByHost = w.stalled()
	t.Missing = w.missing(logged)
	t.Near, t.Neighbouring = w.resolvable(logged, c)
	t.Fails = t.fails(w.s)
	return t
}

func (t *Truth) fails(s *Scenario) (out Assumption) {
	for _, x := range []struct {
		a  Assumption
		ok bool
	}{
		{A1, t.Missing <= 0.05 && s.Logging.Evidence != Nothing},
		{A2, s.Engine.Replicas == 1 || s.Logging.Named},
		{A3, t.Near >= 0.99 && t.Neighbouring >= 0.95},
		{A4, s.Logging.Hosts == 1 || s.Logging.Skew == 0},
		{A5, t.Drift < 0.1},
	} {
		if !x.ok {
			out |= x.a
		}
	}
	return out
}

// missing returns the share of the requests, or of the tokens, not logged.
func (w *world) missing(logged []*request) float64 {
	var there, all int
	for _, r := range logged {
		there += r.output
	}
	for _, r := range w.requests {
		all += r.output
	}
	return 1 - min(float64(len(logged))/float64(len(w.requests)), float64(there)/float64(all))
}

// stalled returns the share of the clean steps' time that hosts stalled, every
// step weighted by the sequences that wait for it.
func (w *world) stalled() float64 {
	var stall, all float64
	for _, e := range w.engines {
		for i := range e.steps {
			if k := &e.steps[i]; k.contexts == 0 {
				stall += float64(float64(k.b) * float64(k.stall))
				all += float64(float64(k.b) * float64(k.y))
			}
		}
	}
	if all == 0 {
		return 0
	}
	return stall / all
}

// resolvable returns which shares of the chunks are near their step, and of the
// neighbouring chunks from neighbouring steps. See A3.
func (w *world) resolvable(logged []*request, c *clocks) (near, neighbouring float64) {
	var chunks, close, pairs, next int
	for n, e := range w.engines {
		delay := medianDelay(logged, n, e, c)
		half, order := e.neighbours()
		for _, r := range logged {
			if r.replica != n {
				continue
			}
			for i := range r.chunks {
				x := &r.chunks[i]
				chunks++
				off := c.stamp(r, x.at) - epoch - delay - e.steps[x.step].end
				if off >= -half[x.step].before && off <= half[x.step].after {
					close++
				}
				if i > 0 {
					pairs++
					// A sequence's first token may come from a step that gave no other.
					if d := order[x.step] - order[r.chunks[i-1].step]; d == 1 {
						next++
					}
				}
			}
		}
	}
	return ratio(close, chunks), ratio(next, pairs)
}

// ratio returns part of all, and 1 of nothing: nothing contradicts.
func ratio(part, all int) float64 {
	if all == 0 {
		return 1
	}
	return float64(part) / float64(all)
}

// reach is half the time to the neighbours of a step that gave tokens.
type reach struct{ before, after int64 }

// neighbours returns the reach of every step that gave a token, and how many
// steps before and including each gave decode tokens.
func (e *engine) neighbours() ([]reach, []int) {
	half, order := make([]reach, len(e.steps)), make([]int, len(e.steps))
	last, count := -1, 0
	for i := range e.steps {
		k := &e.steps[i]
		if k.b > 0 {
			count++
		}
		order[i] = count
		if k.b+k.firsts == 0 {
			continue
		}
		half[i] = reach{math.MaxInt64, math.MaxInt64}
		if last >= 0 {
			gap := (k.end - e.steps[last].end) / 2
			half[last].after, half[i].before = gap, gap
		}
		last = i
	}
	return half, order
}

// medianDelay returns the median time from steps to stamps of replica n.
func medianDelay(logged []*request, n int, e *engine, c *clocks) int64 {
	var delays []int64
	for _, r := range logged {
		if r.replica == n {
			for i := range r.chunks {
				x := &r.chunks[i]
				delays = append(delays, c.stamp(r, x.at)-epoch-e.steps[x.step].end)
			}
		}
	}
	if len(delays) == 0 {
		return 0
	}
	slices.Sort(delays)
	return delays[len(delays)/2]
}
