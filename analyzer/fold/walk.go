package fold

import (
	"context"

	"servescope/analyzer/dataset"
	"servescope/analyzer/load"
	"servescope/analyzer/selection"
	"servescope/analyzer/trace"
)

// Walk calls f with all requests of the set of sel in the order of inputs and offsets:
// the slot of their run, the number of the first, a batch that is valid during the
// call, and the group of each row, -1 for those that sel removes; nil where it keeps
// all. With lists the token lists are there too, if need be by reading again.
func Walk(ctx context.Context, in *load.Loader, sel *selection.Selection, lists bool, f func(slot, number int32, b *trace.Batch, group []int32) error) error {
	set := sel.Set
	if lists && !set.Lists {
		var c selection.Chooser
		return in.Reread(ctx, load.Rereading{Table: trace.Requests, Ordered: true}, func(_ int, r *load.Reading) error {
			group := sel.Again(&c, r.Seen, r.Origin, r.Number)
			return f(r.Slot, r.Number, set.Linked(r.Seen, r.Number), group)
		})
	}
	var u dataset.Unpacker
	for i, r := range dataset.OpenEach(set.Requests) {
		set.Yield()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b := r.Cols
		if lists {
			b = u.Batch(r)
		}
		if err := f(r.Slot, r.Number, set.Linked(b, r.Number), sel.Of(i)); err != nil {
			return err
		}
	}
	return set.Store.Failed()
}
