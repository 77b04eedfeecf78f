package simulate

import "slices"

// schedule plans a step and returns how many sequences it preempted. The plan is
// empty if the only sequence to run was among them.
func (e *engine) schedule() (preempted int) {
	if e.o.Policy == Chunked {
		budget := e.o.Budget
		if preempted = e.run(&budget); preempted == 0 {
			e.admit(&budget)
		}
		return preempted
	}
	budget := e.o.Budget
	for _, r := range e.running { // they hold the blocks already
		if n := min(r.known()-r.computed, budget); r.prefilling() && n > 0 {
			e.plan = append(e.plan, work{r, n})
			budget -= n
		}
	}
	e.admitWhole(&budget)
	if len(e.plan) > 0 {
		return 0
	}
	return e.run(&budget)
}

// run plans the running sequences in order of admission.
func (e *engine) run(budget *int) (preempted int) {
	for i := 0; i < len(e.running) && *budget > 0; i++ {
		r := e.running[i]
		n := min(r.known()-r.computed, *budget)
		for !e.take(r, n) {
			preempted++
			if e.preempt() == r {
				return preempted
			}
		}
		e.plan = append(e.plan, work{r, n})
		*budget -= n
	}
	return preempted
}

// preempt sends the sequence that was admitted last back to the queue. It is not
// planned yet: the plan follows the order of admission.
func (e *engine) preempt() *request {
	last := len(e.running) - 1
	r := e.running[last]
	e.running = e.running[:last]
	e.release(r)
	r.computed = 0
	r.preempts++
	e.waiting = slices.Insert(e.waiting, 0, r)
	return r
}

// admit takes sequences from the head of the queue while there is room for the
// next chunk of each.
func (e *engine) admit(budget *int) {
	for len(e.waiting) > 0 && len(e.running) < e.o.MaxRunning && *budget > 0 {
		r := e.waiting[0]
		n := min(r.known(), *budget)
		if !e.take(r, n) {
			return
		}
		e.enter(r, n, budget)
	}
}

// admitWhole takes sequences from the head of the queue while there is room for
// all of their tokens and a hundredth of the cache besides, which running
// sequences may grow into.
func (e *engine) admitWhole(budget *int) {
	for len(e.waiting) > 0 && len(e.running) < e.o.MaxRunning && *budget > 0 {
		r := e.waiting[0]
		if spare := e.free - blocks(r.known()); spare < e.o.Blocks/100 && len(e.running) > 0 || !e.take(r, r.known()) {
			return
		}
		e.enter(r, min(r.known(), *budget), budget)
	}
}

// enter moves the head of the queue to the running sequences and plans n tokens.
func (e *engine) enter(r *request, n int, budget *int) {
	e.waiting = e.waiting[1:]
	e.running = append(e.running, r)
	if r.admitted < 0 {
		r.admitted = e.now
	}
	e.plan = append(e.plan, work{r, n})
	*budget -= n
}
