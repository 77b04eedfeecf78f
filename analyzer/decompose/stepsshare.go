package decompose

import (
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
