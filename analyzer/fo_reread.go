package analyzer

import (
	"context"

	"servescope/analyzer/kernel"
	"servescope/analyzer/trace"
)

// reread reads every input again, with token lists, and folds the rows that sel
// selects into p.
func (r *Runner) reread(ctx context.Context, sel *Selection, p *pass) error {
	pool := newFoldPool(p, r.in.Readers())
	choosers := make([]chooser, pool.size)
	return r.in.Reread(ctx, Rereading{Table: trace.Requests, Idle: pool.help}, func(worker int, b *Reading) error {
		group := sel.again(&choosers[worker], b.Seen, b.Origin, b.Number)
		pool.fold(worker, b.Rows, &kernel.View{Batch: b.Seen, RunIndex: b.slot, Group: group, Links: sel.set.links, Base: b.Number})
		return nil
	})
}
