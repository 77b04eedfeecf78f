package view

import (
	"slices"

	"servescope/analyzer/dataset"
	"servescope/analyzer/kernel"
	"servescope/analyzer/load"
	"servescope/analyzer/trace"
)

// eachWithLists calls f with the rows of the given numbers, in order, and their token
// lists. Where these are not in memory it reads again, but only the parts of the
// inputs that hold such rows.
func eachWithLists(v *viewer, numbers map[int32]int, f func(k *kernel.View, i int)) error {
	wanted := make([]int32, 0, len(numbers))
	for n := range numbers {
		wanted = append(wanted, n)
	}
	slices.Sort(wanted)
	if !v.set.Lists {
		return rereadLists(v, wanted, f)
	}
	var u dataset.Unpacker
	last, b := -1, (*trace.Batch)(nil)
	for _, n := range wanted {
		i := v.set.Find(n)
		r := v.set.Requests[i]
		if i != last {
			last, b = i, v.set.Linked(u.Batch(dataset.Opened{Batch: r, Cols: r.Open()}), r.Number)
		}
		f(v.kernelView(r.Slot, r.Number, b), int(n-r.Number))
	}
	return nil
}

// rereadLists is listsOf where the lists are not in memory.
func rereadLists(v *viewer, wanted []int32, f func(k *kernel.View, i int)) error {
	wants := func(from, to int32) bool {
		i, _ := slices.BinarySearch(wanted, from)
		return i < len(wanted) && (to < 0 || wanted[i] < to)
	}
	return v.in.Reread(v.ctx, load.Rereading{Table: trace.Requests, Ordered: true, Wants: wants}, func(_ int, r *load.Reading) error {
		i, _ := slices.BinarySearch(wanted, r.Number)
		own := v.set.Linked(r.Seen, r.Number)
		for ; i < len(wanted) && wanted[i] < r.Number+int32(r.Rows.Rows); i++ {
			f(v.kernelView(r.Slot, r.Number, own), int(wanted[i]-r.Number))
		}
		return nil
	})
}
