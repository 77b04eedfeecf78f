package simulate

import "slices"

// engine is one replica.
type engine struct {
	o     *Engine
	cost  *Cost
	noise random

	now     int64      // end of the last step, or later
	running []*request // in order of admission
	waiting []*request
	free    int // blocks of the KV cache
	plan    []work
	steps   []step
}

// work is what one step computes of one request.
type work struct {
	r *request
	n int // tokens
}

// step is one step as it really was. It lasted from the end of the step before,
// or from a pause without work, to end: y = decode, noise of it, prefill and
// stall. Times are in ns.
type step struct {
	end, y  int64
	decode  int64 // noise-free cost of the decode sequences alone: the true ŷ
	prefill int64 // what prompts added
	stall   int64 // of the host

	b        int   // decode sequences: those with a token in the step and one before
	c        int64 // their tokens before the step
	decoding int   // sequences that computed one token: those of b but for resumed ones
	contexts int   // sequences whose prompt, or what was preempted, was computed
	prompts  int   // tokens of these
	firsts   int   // first tokens
	running  int   // sequences admitted
	waiting  int
	used     int // blocks of the KV cache
	preempts int
	factor   float64 // drift
}

func newEngine(s *Scenario, n int) *engine {
	return &engine{o: &s.Engine, cost: &s.Cost, noise: newRandom(s.Seed, ofSteps, n), free: s.Engine.Blocks}
}

// busy says whether there is work.
func (e *engine) busy() bool { return len(e.running)+len(e.waiting) > 0 }

// step runs one step and returns the requests that ended. The slice is the
// caller's.
func (e *engine) step(factor float64) []*request {
	k := step{factor: factor}
	for e.plan = e.plan[:0]; len(e.plan) == 0; { // a step in which all are preempted is none
		k.preempts += e.schedule()
	}
	e.weigh(&k)
	k.running, k.waiting, k.used = len(e.running), len(e.waiting), e.o.Blocks-e.free
	e.now += k.y
	k.end = e.now
	ended := e.emit(int32(len(e.steps)))
	e.steps = append(e.steps, k)
	return ended
}

// weigh counts the work of the plan and draws what it costs.
func (e *engine) weigh(k *step) {
	var all, decode forward
	for _, w := range e.plan {
		known := w.r.known()
		after := w.r.computed + w.n
		all.tokens += w.n
		all.context += int64(after)
		if w.r.prefilling() {
			k.contexts++
			k.prompts += w.n
			all.pairs += int64(w.n)*int64(w.r.computed) + int64(w.n)*int64(w.n+1)/2
		}
		if after < known {
			continue
		}
		if len(w.r.steps) == 0 {
			k.firsts++
		} else {
			decode.tokens++
			decode.context += int64(known)
		}
	}
	k.b, k.c, k.decoding = decode.tokens, decode.context, len(e.plan)-k.contexts
	capacity := e.o.Blocks * BlockTokens
	pure := float64(k.factor * e.cost.of(decode, capacity))
	whole := float64(k.factor * e.cost.of(all, capacity))
	noise := max(0.5, 1+float64(e.cost.Noise*e.noise.normal()))
	k.decode = int64(pure)
	k.prefill = int64((whole - pure) * noise)
	if e.noise.chance(e.cost.StallChance) {
		k.stall = e.noise.delay(e.cost.StallMean)
	}
	k.y = max(1, int64(pure*noise)+k.prefill+k.stall)
}

// emit hands out the tokens of step number k and returns who ended.
func (e *engine) emit(k int32) (ended []*request) {
	for _, w := range e.plan {
		r := w.r
		if r.prefilling() && len(r.steps) > 0 {
			r.redone = append(r.redone, k)
		}
		if r.computed += w.n; r.computed < r.known() {
			continue
		}
		if r.steps = append(r.steps, k); len(r.steps) == r.output {
			e.release(r)
			ended = append(ended, r)
		}
	}
	if ended != nil {
		e.running = slices.DeleteFunc(e.running, func(r *request) bool { return len(r.steps) == r.output })
	}
	return ended
}

// blocks returns how many blocks n tokens take.
func blocks(n int) int { return (n + BlockTokens - 1) / BlockTokens }

// take gives r the blocks for n more tokens and reports whether there were enough.
func (e *engine) take(r *request, n int) bool {
	more := blocks(r.computed+n) - r.blocks
	if more > e.free {
		return false
	}
	if more > 0 { // r may hold those of its whole prompt already
		e.free -= more
		r.blocks += more
	}
	return true
}

func (e *engine) release(r *request) {
	e.free += r.blocks
	r.blocks = 0
}
