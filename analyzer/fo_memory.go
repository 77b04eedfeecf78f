package analyzer

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/stat"
)

// store returns where the states of kernels put what does not fit their memory, until
// Release; nil where nothing may be written.
func (r *Runner) store() stat.Store {
	if r.spilled == nil {
		r.spilled = r.in.NewStore(0)
	}
	if r.spilled.spill == nil {
		return nil
	}
	return r.spilled
}

// stateMemory returns how many bytes of values each state of a kernel may hold: a share
// of the budget, which the workers' states share.
func (r *Runner) stateMemory() int64 {
	return max(min(r.in.opt.Memory/16, 2*kernel.MostMemory)/int64(r.in.opt.Workers), 1)
}

// Release gives back what the states of the last Run have put aside: they have been
// finished.
func (r *Runner) Release() {
	if r.spilled != nil {
		r.spilled.empty()
	}
}

// Failed returns why states have lost what they put aside, or nil.
func (r *Runner) Failed() error { return r.spilled.failed() }
