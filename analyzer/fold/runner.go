package fold

import (
	"context"
	"fmt"
	"servescope/analyzer/dataset"
	"servescope/analyzer/kernel"
	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/analyzer/selection"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
	"slices"
	"sync"
	"sync/atomic"
)

// maxPasses bounds how often a kernel may ask for the data again.
const maxPasses = 8

// Runner folds the requests of one set. One goroutine at a time calls its methods.
type Runner struct {
	in      *load.Loader
	Spilled *dataset.Store // what the states of kernels do not hold in memory; nil before there are any
}

// NewRunner returns a Runner for what in reads.
func NewRunner(in *load.Loader) *Runner { return &Runner{in: in} }

// Watcher is told how a pass over requests goes on. Its methods are called by several
// goroutines, but for Finished.
type Watcher interface {
	// Read says that a batch of a run of f has been read for the first time.
	Read(f *dataset.Input, m *trace.RunMeta)
	// Folded says that a batch has been folded. It may call p.Gather.
	Folded(p *Pass)
	// Finished gives the states of those kernels that have seen every row before the
	// others, which read the inputs again.
	Finished(kernels []kernel.Kernel, states []kernel.State)
}

// Run runs kernels over the rows that sel selects, in as many passes as they ask for,
// and returns their final states with all that they learned. first, if not nil, holds
// the states of the first pass. watch may be nil.
func (r *Runner) Run(ctx context.Context, sel *selection.Selection, kernels []kernel.Kernel, first []kernel.State, watch Watcher) ([]kernel.State, *kernel.Facts, error) {
	facts := &kernel.Facts{Runs: make([]kernel.RunFacts, sel.Set.Slots.Len()), Store: r.store(), Memory: r.stateMemory()}
	sel.Bounds(facts)
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
			if states, err = r.pass(ctx, sel, list, facts, watch); err != nil {
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
		wanted, facts, watch = again, next, nil
	}
}

// pass runs kernels once over the rows that sel selects. Kernels of token lists
// read the inputs again if the lists are not resident.
func (r *Runner) pass(ctx context.Context, sel *selection.Selection, kernels []kernel.Kernel, facts *kernel.Facts, watch Watcher) ([]kernel.State, error) {
	set := sel.Set
	var near, far []kernel.Kernel
	for _, k := range kernels {
		if k.Lists() && !set.Lists {
			far = append(far, k)
		} else {
			near = append(near, k)
		}
	}
	p := newPass(sel.Query, facts, near, r.in.Options.Workers)
	p.choices, p.ends, p.watch = set.Choices(), set.Ends, watch
	resident, err := r.passResident(ctx, sel, p)
	if err != nil {
		return nil, err
	}
	var read []kernel.State
	if len(far) > 0 {
		if watch != nil {
			watch.Finished(near, resident)
		}
		p := newPass(sel.Query, facts, far, r.in.Readers())
		p.choices, p.ends, p.watch = set.Choices(), set.Ends, watch
		if err := r.reread(ctx, sel, p); err != nil {
			return nil, err
		}
		if read, err = p.merge(); err != nil {
			return nil, err
		}
	}
	out := make([]kernel.State, 0, len(kernels))
	for _, k := range kernels { // back into the order of kernels
		from := &resident
		if k.Lists() && !set.Lists {
			from = &read
		}
		out, *from = append(out, (*from)[0]), (*from)[1:]
	}
	return out, nil
}

// passResident folds the resident rows into p.
func (r *Runner) passResident(ctx context.Context, sel *selection.Selection, p *Pass) ([]kernel.State, error) {
	if len(p.kernels) == 0 {
		return nil, nil
	}
	set := sel.Set
	lists := slices.ContainsFunc(p.kernels, kernel.Kernel.Lists)
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range min(r.in.Options.Workers, len(set.Requests)) {
		wg.Go(func() {
			var u dataset.Unpacker
			for {
				i := int(next.Add(1)) - 1
				if i >= len(set.Requests) || ctx.Err() != nil {
					return
				}
				set.Yield()
				r := dataset.Opened{Batch: set.Requests[i], Cols: set.Requests[i].Open()}
				b := r.Cols
				if lists {
					b = u.Batch(r)
				}
				p.update(w, &kernel.View{Batch: b, RunIndex: r.Slot, Group: sel.Of(i), Links: set.Links, Base: r.Number})
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := set.Store.Failed(); err != nil {
		return nil, err
	}
	return p.merge()
}

// First returns the pass of kernels for q over the rows that are about to be read. watch
// may be nil.
func (r *Runner) First(q *query.Query, kernels []kernel.Kernel, watch Watcher) *First {
	readers := r.in.Readers()
	p := newPass(q, &kernel.Facts{Store: r.store(), Memory: r.stateMemory()}, kernels, readers)
	p.watch = watch
	f := &First{pass: p, pool: newFoldPool(p, readers), spilled: r.Spilled, done: make(chan struct{})}
	if f.remote = r.in.Options.Remote; f.remote != nil {
		f.fold = &load.RemoteFold{Query: q}
	}
	return f
}

// store returns where the states of kernels put what does not fit their memory, until
// Release; nil where nothing may be written.
func (r *Runner) store() stat.Store {
	if r.Spilled == nil {
		r.Spilled = r.in.NewStore(0)
	}
	if r.Spilled.Spill == nil {
		return nil
	}
	return r.Spilled
}

// stateMemory returns how many bytes of values each state of a kernel may hold: a share
// of the budget, which the workers' states share.
func (r *Runner) stateMemory() int64 {
	return max(min(r.in.Options.Memory/16, 2*kernel.MaxMemory)/int64(r.in.Options.Workers), 1)
}

// Release gives back what the states of the last Run have put aside: they have been
// finished.
func (r *Runner) Release() {
	if r.Spilled != nil {
		r.Spilled.Empty()
	}
}

// Failed returns why states have lost what they put aside, or nil.
func (r *Runner) Failed() error { return r.Spilled.Failed() }

// reread reads every input again, with token lists, and folds the rows that sel
// selects into p.
func (r *Runner) reread(ctx context.Context, sel *selection.Selection, p *Pass) error {
	pool := newFoldPool(p, r.in.Readers())
	choosers := make([]selection.Chooser, pool.size)
	return r.in.Reread(ctx, load.Rereading{Table: trace.Requests, Idle: pool.help}, func(worker int, b *load.Reading) error {
		group := sel.Again(&choosers[worker], b.Seen, b.Origin, b.Number)
		pool.fold(worker, b.Rows, &kernel.View{Batch: b.Seen, RunIndex: b.Slot, Group: group, Links: sel.Set.Links, Base: b.Number})
		return nil
	})
}
