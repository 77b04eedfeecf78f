package fold

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/stat"
)

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
	return max(min(r.in.Opt.Memory/16, 2*kernel.MaxMemory)/int64(r.in.Opt.Workers), 1)
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
