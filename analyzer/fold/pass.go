package fold

import (
	"encoding/binary"
	"errors"
	"fmt"
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/query"
	"sync"
	"sync/atomic"
)

// Pass folds rows into one state per kernel and worker.
type Pass struct {
	q       *query.Query
	facts   *kernel.Facts
	kernels []kernel.Kernel
	choices *request.Choices
	ends    *request.StepEnds
	states  [][]kernel.State // by worker; nil where the worker has seen no row
	zero    [][]int32        // by worker
	memory  []request.Memory // by worker

	watch  Watcher        // may be nil
	locks  []sync.Mutex   // by worker: held while its states change
	rows   []int64        // by worker: that it has folded
	sum    []kernel.State // what a report of a part has gathered; nil: nothing
	failed error          // of gathering
}

func newPass(q *query.Query, facts *kernel.Facts, kernels []kernel.Kernel, workers int) *Pass {
	return &Pass{
		q: q, facts: facts, kernels: kernels, states: make([][]kernel.State, workers), zero: make([][]int32, workers), memory: make([]request.Memory, workers),
		locks: make([]sync.Mutex, workers), rows: make([]int64, workers),
	}
}

// update folds the rows of v; without groups all are in the one of an ungrouped
// query. Each worker is one goroutine.
func (p *Pass) update(worker int, v *kernel.View) {
	p.fold(worker, v)
	if p.watch != nil {
		p.watch.Folded(p)
	}
}

func (p *Pass) fold(worker int, v *kernel.View) {
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

func (p *Pass) fresh() []kernel.State {
	out := make([]kernel.State, len(p.kernels))
	for i, k := range p.kernels {
		out[i] = k.New(p.q, p.facts)
	}
	return out
}

// zeros returns n zeros: the group of every row of an ungrouped query.
func (p *Pass) zeros(worker, n int) []int32 {
	if len(p.zero[worker]) < n {
		p.zero[worker] = make([]int32, n)
	}
	return p.zero[worker][:n]
}

// merge returns one state per kernel over all that the workers have seen. As many
// kernels as there are workers merge at a time.
func (p *Pass) merge() ([]kernel.State, error) {
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
				if errs[i] == nil {
					out[i].Settle()
				}
			}
		})
	}
	wg.Wait()
	return out, errors.Join(p.failed, errors.Join(errs...))
}

// takeSum puts what reports of parts have gathered among the states.
func (p *Pass) takeSum() {
	if p.sum != nil {
		p.states, p.sum = append(p.states, p.sum), nil
	}
}

// sort merges what has been folded here and brings it in order.
func (p *Pass) sort() error {
	p.takeSum()
	states := make([]kernel.State, len(p.kernels))
	for i := range states {
		var err error
		if states[i], err = p.mergeKernel(i); err != nil {
			return err
		}
		states[i].Sort()
	}
	p.states = [][]kernel.State{states}
	return nil
}

// mergeKernel returns the state of one kernel.
func (p *Pass) mergeKernel(i int) (out kernel.State, err error) {
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

// Gather merges the states that the goroutines have folded since the last call into a
// sum. It returns the states of the sum by the names of their kernels, and the number of
// rows in the sum. The states may be finished, which does not change them, until Gather
// is called again. One goroutine calls it at a time. The pass returns errors of merging.
func (p *Pass) Gather() (states map[string]kernel.State, rows int64) {
	for w := range p.states {
		p.locks[w].Lock()
		states := p.states[w]
		p.states[w] = nil
		p.locks[w].Unlock()
		if p.sum == nil {
			p.sum = states
			continue
		}
		for i, state := range states {
			p.failed = errors.Join(p.failed, p.sum[i].Merge(state))
		}
	}
	for w := range p.rows {
		p.locks[w].Lock()
		rows += p.rows[w]
		p.locks[w].Unlock()
	}
	states = make(map[string]kernel.State)
	for i, state := range p.sum {
		states[p.kernels[i].Name()] = state
	}
	return states, rows
}

var ErrStates = errors.New("what a remote reader folded is not what kernels write")

// load adds the states that a Folder has appended.
func (p *Pass) load(src []byte) error {
	if len(src) == 0 { // nothing was
		return nil
	}
	states := p.fresh()
	for i, state := range states {
		if len(src) < 4 || int(binary.LittleEndian.Uint32(src)) > len(src)-4 {
			return ErrStates
		}
		n := 4 + binary.LittleEndian.Uint32(src)
		if err := state.LoadState(src[4:n]); err != nil {
			return fmt.Errorf("kernel %s: %w", p.kernels[i].Name(), err)
		}
		src = src[n:]
	}
	if len(src) > 0 {
		return ErrStates
	}
	p.states = append(p.states, states)
	return nil
}
