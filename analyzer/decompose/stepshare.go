package decompose

import (
	"cmp"
	"fmt"
	"slices"

	"servescope/analyzer/collective"
	"servescope/analyzer/trace"
)

// split tells in which part of their communication the ranks of an engine
// transferred, and in which they waited for the slowest of them. It returns what
// there is to say about it.
func (s *Steps) split() (notes []string) {
	groups := make(map[string][]*Timeline)
	var names []string
	at, world := 0, int64(0)
	for _, t := range s.timelines {
		if t.source.Quantity != trace.Interval || len(t.Kernels) == 0 {
			continue
		}
		key := fmt.Sprint(t.Replica, " ", t.Place.PP)
		if groups[key] == nil {
			names = append(names, key)
		}
		groups[key] = append(groups[key], t)
		at, world = at+1, max(world, t.World)
	}
	s.bounds = int64(at) != world
	for _, name := range names {
		group := groups[name]
		if len(group) < 2 {
			continue
		}
		if err := splitGroup(group); err != nil {
			notes = append(notes, fmt.Sprintf("communication is not divided into transfer and waiting: %v", err))
			continue
		}
		if s.bounds && len(notes) == 0 {
			all := "an unknown number of"
			if world > 0 {
				all = fmt.Sprint(world)
			}
			notes = append(notes, fmt.Sprintf("%d of %s ranks are at hand: their transfer is at most, their waiting for the slowest at least what is shown", at, all))
		}
	}
	return notes
}

func splitGroup(group []*Timeline) error {
	ranks := make([][]collective.Kernel, len(group))
	for i, t := range group {
		collective.Order(t.Kernels)
		again := func(a, b collective.Kernel) bool { return a.Index == b.Index }
		if len(slices.CompactFunc(slices.Clone(t.Kernels), again)) < len(t.Kernels) {
			return fmt.Errorf("%s was recorded more than once", t.Name)
		}
		ranks[i] = t.Kernels
	}
	transfers, err := collective.Transfers(ranks...)
	if err != nil {
		return err
	}
	for _, t := range group {
		t.share(transfers)
	}
	return nil
}

// share divides the class communication of each interval. An interval whose parts
// do not add up to the class is left undivided.
func (t *Timeline) share(transfers []int64) {
	type piece struct {
		collective.Kernel
		transfer int64
	}
	inside := make([][]piece, len(t.Steps))
	for i, k := range t.Kernels {
		for j := 0; j+1 < len(k.Exposed); j += 2 {
			from := k.Start + k.Exposed[j]
			to := from + k.Exposed[j+1]
			at, _ := slices.BinarySearchFunc(t.Steps, from, func(s Step, v int64) int { return cmp.Compare(s.End, v+1) })
			for ; at < len(t.Steps) && from < to; at++ { // step at ends behind from
				step := &t.Steps[at]
				if end := min(to, step.End); step.Duration >= 0 && from < end && from >= step.End-step.Duration {
					own := k
					own.Exposed = []int64{from - k.Start, end - from}
					inside[at] = append(inside[at], piece{own, transfers[i]})
				}
				from = max(from, step.End)
			}
		}
	}
	for i, list := range inside {
		p := t.Steps[i].Parts
		if p == nil || !p.Has(Communication) {
			continue
		}
		kernels, cost := make([]collective.Kernel, len(list)), make([]int64, len(list))
		for j := range list {
			kernels[j], cost[j] = list[j].Kernel, list[j].transfer
		}
		x := collective.Exposed(kernels, cost)
		if x.Transfer+x.Wait+x.Unsplit != p.Class[Communication] {
			continue
		}
		p.Memo[Transfer], p.Memo[Waiting], p.Memo[Unsplit] = x.Transfer, x.Wait, x.Unsplit
		p.KnownMemo |= 1<<Transfer | 1<<Waiting | 1<<Unsplit
	}
}
