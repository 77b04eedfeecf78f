package analyzer

import (
	"slices"

	"servescope/analyzer/kernel"
	"servescope/analyzer/trace"
)

// listsOf calls f with the rows of the given numbers, in order, and their token
// lists. Where these are not in memory it reads again, but only the parts of the
// inputs that hold such rows.
func (v *viewer) listsOf(numbers map[int32]int, f func(k *kernel.View, i int)) error {
	wanted := make([]int32, 0, len(numbers))
	for n := range numbers {
		wanted = append(wanted, n)
	}
	slices.Sort(wanted)
	if !v.set.lists {
		return v.rereadLists(wanted, f)
	}
	var u unpacker
	last, b := -1, (*trace.Batch)(nil)
	for _, n := range wanted {
		i := v.set.find(n)
		r := v.set.requests[i]
		if i != last {
			last, b = i, v.set.linked(u.batch(opened{r, r.open()}), r.number)
		}
		f(v.kernelView(r.slot, r.number, b), int(n-r.number))
	}
	return nil
}

// rereadLists is listsOf where the lists are not in memory.
func (v *viewer) rereadLists(wanted []int32, f func(k *kernel.View, i int)) error {
	wants := func(from, to int32) bool {
		i, _ := slices.BinarySearch(wanted, from)
		return i < len(wanted) && (to < 0 || wanted[i] < to)
	}
	return v.in.Reread(v.ctx, Rereading{Table: trace.Requests, Ordered: true, Wants: wants}, func(_ int, r *Reading) error {
		i, _ := slices.BinarySearch(wanted, r.Number)
		own := v.set.linked(r.Seen, r.Number)
		for ; i < len(wanted) && wanted[i] < r.Number+int32(r.Rows.Rows); i++ {
			f(v.kernelView(r.slot, r.Number, own), int(wanted[i]-r.Number))
		}
		return nil
	})
}
