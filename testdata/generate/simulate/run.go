package simulate

import (
	"cmp"
	"slices"
)

// world is a run of a scenario.
type world struct {
	s        *Scenario
	lengths  random
	arrivals random
	requests []*request // by id
	pending  []*request // not yet taken in by a replica, by time of receipt
	taken    int
	engines  []*engine
}

// simulate runs s to its end. s is complete: see Scenario.complete.
func simulate(s *Scenario) *world {
	w := &world{s: s, lengths: newRandom(s.Seed, ofLengths, 0), arrivals: newRandom(s.Seed, ofArrivals, 0)}
	for i := range s.Engine.Replicas {
		w.engines = append(w.engines, newEngine(s, i))
	}
	w.begin()
	for w.next() {
	}
	return w
}

// begin sends the requests that do not wait for an answer.
func (w *world) begin() {
	l, at := &w.s.Load, int64(0)
	if l.Arrivals == Closed {
		for u := range min(l.Users, l.Requests) {
			w.send(u, w.arrivals.delay(0)+int64(w.arrivals.between(0, float64(l.Stagger))))
		}
		return
	}
	burst := 1
	if l.Arrivals == Bursts {
		burst = max(1, l.Burst)
	}
	for len(w.requests) < l.Requests {
		at += w.arrivals.delay(1e9 * float64(burst) / l.Rate)
		for range min(burst, l.Requests-len(w.requests)) {
			w.send(-1, at)
		}
	}
}

// send sends the next request.
func (w *world) send(user int, at int64) {
	s, id := w.s, len(w.requests)
	r := &request{id: id, user: user, sent: at, received: at, admitted: -1, delivery: newRandom(s.Seed, ofDelivery, id)}
	r.host = id % s.Logging.Hosts
	capacity := s.Engine.Blocks * BlockTokens
	r.prompt = min(s.Prompt.draw(w.lengths), capacity-1)
	r.output = min(s.Output.draw(w.lengths), capacity-r.prompt)
	if s.Delivery.Network > 0 {
		r.received += int64(s.Delivery.Network) + r.delivery.delay(s.Delivery.NetworkJitter)
	}
	w.requests = append(w.requests, r)
	i, _ := slices.BinarySearchFunc(w.pending, r, func(a, b *request) int {
		return cmp.Or(cmp.Compare(a.received, b.received), cmp.Compare(a.id, b.id))
	})
	w.pending = slices.Insert(w.pending, i, r)
}

// next lets the earliest thing happen: a request reaches its replica, or a replica
// runs a step. It reports false at the end of the run.
func (w *world) next() bool {
	var e *engine
	for _, x := range w.engines {
		if x.busy() && (e == nil || x.now < e.now) {
			e = x
		}
	}
	if len(w.pending) > 0 && (e == nil || w.pending[0].received <= e.now) {
		r := w.pending[0]
		w.pending = w.pending[1:]
		r.replica = w.taken % len(w.engines)
		w.taken++
		to := w.engines[r.replica]
		to.now = max(to.now, r.received) // no step ends before, unless it is idle
		to.waiting = append(to.waiting, r)
		return true
	}
	if e == nil {
		return false
	}
	for _, r := range e.step(w.s.Cost.drift(float64(w.taken) / float64(w.s.Load.Requests))) {
		r.deliver(w.s, e.steps)
		if l := &w.s.Load; l.Arrivals == Closed && len(w.requests) < l.Requests {
			w.send(r.user, r.finished+w.arrivals.delay(l.Think))
		}
	}
	return true
}
