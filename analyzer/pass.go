package analyzer

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"servescope/analyzer/kernel"
	"servescope/analyzer/query"
)

// maxPasses bounds how often a kernel may ask for the data again.
const maxPasses = 8

// pass folds rows into one state per kernel and worker.
type pass struct {
	q       *query.Query
	facts   *kernel.Facts
	kernels []kernel.Kernel
	choices *kernel.Choices
	ends    *kernel.Ends
	states  [][]kernel.State // by worker; nil where the worker has seen no row
	zero    [][]int32        // by worker
	memory  []kernel.Memory  // by worker

	partials *partials      // nil: nobody asks for what has been folded so far
	locks    []sync.Mutex   // by worker: held while its states change
	rows     []int64        // by worker: that it has folded
	sum      []kernel.State // what a report of a part has gathered; nil: nothing
	failed   error          // of gathering
}

func newPass(q *query.Query, facts *kernel.Facts, kernels []kernel.Kernel, workers int) *pass {
	return &pass{
		q: q, facts: facts, kernels: kernels, states: make([][]kernel.State, workers), zero: make([][]int32, workers), memory: make([]kernel.Memory, workers),
		locks: make([]sync.Mutex, workers), rows: make([]int64, workers),
	}
}

// update folds the rows of v; without groups all are in the one of an ungrouped
// query. Each worker is one goroutine.
func (p *pass) update(worker int, v *kernel.View) {
	p.fold(worker, v)
	if p.partials != nil {
		p.partials.offer(p)
	}
}

func (p *pass) fold(worker int, v *kernel.View) {
	p.locks[worker].Lock()
	defer p.locks[worker].Unlock()
	p.rows[worker] += int64(v.Rows)
	if v.Group == nil {
		v.Group = p.zeros(worker, v.Rows)
	}
	if p.states[worker] == nil {
		p.states[worker] = p.fresh()
	}
	v.Choices, v.Ends, v.Memory = p.choices, p.ends, &p.memory[worker]
	for _, state := range p.states[worker] {
		state.Update(v)
	}
}

func (p *pass) fresh() []kernel.State {
	out := make([]kernel.State, len(p.kernels))
	for i, k := range p.kernels {
		out[i] = k.New(p.q, p.facts)
	}
	return out
}

// zeros returns n zeros: the group of every row of an ungrouped query.
func (p *pass) zeros(worker, n int) []int32 {
	if len(p.zero[worker]) < n {
		p.zero[worker] = make([]int32, n)
	}
	return p.zero[worker][:n]
}

// merge returns one state per kernel over all that the workers have seen. As many
// kernels as there are workers merge at a time.
func (p *pass) merge() ([]kernel.State, error) {
	p.takeSum()
	out := make([]kernel.State, len(p.kernels))
	errs := make([]error, len(p.kernels))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range len(p.states) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(out) {
					return
				}
				out[i], errs[i] = p.mergeKernel(i)
				if s, ok := out[i].(kernel.Settler); ok {
					s.Settle()
				}
			}
		})
	}
	wg.Wait()
	return out, errors.Join(p.failed, errors.Join(errs...))
}

// takeSum puts what reports of parts have gathered among the states.
func (p *pass) takeSum() {
	if p.sum != nil {
		p.states, p.sum = append(p.states, p.sum), nil
	}
}

// sort merges what has been folded here and brings it in order.
func (p *pass) sort() error {
	p.takeSum()
	states := make([]kernel.State, len(p.kernels))
	for i := range states {
		var err error
		if states[i], err = p.mergeKernel(i); err != nil {
			return err
		}
		if s, ok := states[i].(kernel.Sorter); ok {
			s.Sort()
		}
	}
	p.states = [][]kernel.State{states}
	return nil
}

// merging begins to merge, with the states that more adds, and returns a function that
// waits for what merge returns. Without a pass there are no states.
func (p *pass) merging(more func() error) func() ([]kernel.State, error) {
	if p == nil {
		return func() ([]kernel.State, error) { return nil, nil }
	}
	var states []kernel.State
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err = more(); err == nil {
			states, err = p.merge()
		}
	}()
	runtime.Gosched() // more asks others, who work while the caller does, if they know of it
	return func() ([]kernel.State, error) {
		<-done
		return states, err
	}
}

// mergeKernel returns the state of one kernel.
func (p *pass) mergeKernel(i int) (out kernel.State, err error) {
	for _, states := range p.states {
		switch {
		case states == nil:
		case out == nil:
			out = states[i]
		default:
			if err := out.Merge(states[i]); err != nil {
				return nil, fmt.Errorf("kernel %s: %w", p.kernels[i].Name(), err)
			}
			states[i] = nil // its memory goes before the next is merged
		}
	}
	if out == nil {
		out = p.kernels[i].New(p.q, p.facts)
	}
	return out, nil
}

// fold runs the kernels over the rows that sel selects, in as many passes as
// they ask for, and returns their final states with all that they learned.
func (s *Session) fold(ctx context.Context, q *query.Query, sel *selection, kernels []kernel.Kernel, first []kernel.State, part *partials) ([]kernel.State, *kernel.Facts, error) {
	facts := &kernel.Facts{Runs: make([]kernel.RunFacts, len(s.slots.index)), Store: s.states(), Memory: s.stateMemory()}
	sel.bounds(facts)
	final := make([]kernel.State, len(kernels))
	wanted := make([]int, len(kernels)) // the kernels of the current pass
	for i := range wanted {
		wanted[i] = i
	}
	for states := first; ; states = nil {
		if states == nil {
			var list []kernel.Kernel
			for _, i := range wanted {
				list = append(list, kernels[i])
			}
			var err error
			if states, err = s.pass(ctx, q, sel, list, facts, part); err != nil {
				return nil, nil, err
			}
		}
		next := &kernel.Facts{Pass: facts.Pass + 1, Runs: slices.Clone(facts.Runs), Private: make(map[string][]byte), Store: facts.Store, Memory: facts.Memory}
		var again []int
		for j, i := range wanted {
			final[i] = states[j]
			if states[j].Next(next) {
				again = append(again, i)
				final[i], states[j] = nil, nil // what it knows is in next: its memory goes before the pass
			}
		}
		if len(again) == 0 {
			return final, next, nil
		}
		if next.Pass == maxPasses {
			return nil, nil, fmt.Errorf("kernel %s asks for more than %d passes", kernels[again[0]].Name(), maxPasses)
		}
		wanted, facts, part = again, next, nil
	}
}

// pass runs kernels once over the rows that sel selects. Kernels of token lists
// read the inputs again if the lists are not resident.
func (s *Session) pass(ctx context.Context, q *query.Query, sel *selection, kernels []kernel.Kernel, facts *kernel.Facts, part *partials) ([]kernel.State, error) {
	var near, far []kernel.Kernel
	for _, k := range kernels {
		if k.Lists() && !s.lists {
			far = append(far, k)
		} else {
			near = append(near, k)
		}
	}
	p := newPass(q, facts, near, s.opt.Workers)
	p.choices, p.ends, p.partials = s.choices(), s.ends, part
	resident, err := s.passResident(ctx, sel, p)
	if err != nil {
		return nil, err
	}
	var read []kernel.State
	if len(far) > 0 {
		if part != nil {
			part.finished(near, resident)
		}
		p := newPass(q, facts, far, s.places())
		p.choices, p.ends, p.partials = s.choices(), s.ends, part
		if err := s.reread(ctx, sel, p); err != nil {
			return nil, err
		}
		if read, err = p.merge(); err != nil {
			return nil, err
		}
	}
	out := make([]kernel.State, 0, len(kernels))
	for _, k := range kernels { // back into the order of kernels
		from := &resident
		if k.Lists() && !s.lists {
			from = &read
		}
		out, *from = append(out, (*from)[0]), (*from)[1:]
	}
	return out, nil
}

// passResident folds the resident rows into p.
func (s *Session) passResident(ctx context.Context, sel *selection, p *pass) ([]kernel.State, error) {
	if len(p.kernels) == 0 {
		return nil, nil
	}
	lists := slices.ContainsFunc(p.kernels, kernel.Kernel.Lists)
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range min(s.opt.Workers, len(s.rows)) {
		wg.Go(func() {
			var u unpacker
			for {
				i := int(next.Add(1)) - 1
				if i >= len(s.rows) || ctx.Err() != nil {
					return
				}
				s.yield()
				r := opened{s.rows[i], s.rows[i].open()}
				b := r.batch
				if lists {
					b = u.batch(r)
				}
				p.update(w, &kernel.View{Batch: b, RunIndex: r.slot, Group: sel.of(i), Links: s.joins, Base: r.number})
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := s.store.failed(); err != nil {
		return nil, err
	}
	return p.merge()
}
