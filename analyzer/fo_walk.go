package analyzer

import (
	"context"

	"servescope/analyzer/trace"
)

// Walk calls f with all requests of the set of sel in the order of inputs and offsets:
// the slot of their run, the number of the first, a batch that is valid during the
// call, and the group of each row, -1 for those that sel removes; nil where it keeps
// all. With lists the token lists are there too, if need be by reading again.
func Walk(ctx context.Context, in *Loader, sel *Selection, lists bool, f func(slot, number int32, b *trace.Batch, group []int32) error) error {
	set := sel.set
	if lists && !set.lists {
		var c chooser
		return in.Reread(ctx, Rereading{Table: trace.Requests, Ordered: true}, func(_ int, r *Reading) error {
			group := sel.again(&c, r.Seen, r.Origin, r.Number)
			return f(r.slot, r.Number, set.linked(r.Seen, r.Number), group)
		})
	}
	var u unpacker
	for i, r := range open(set.requests) {
		set.yield()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b := r.cols
		if lists {
			b = u.batch(r)
		}
		if err := f(r.slot, r.number, set.linked(b, r.number), sel.of(i)); err != nil {
			return err
		}
	}
	return set.store.failed()
}
