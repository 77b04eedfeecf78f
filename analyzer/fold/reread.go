package fold

import (
	"context"

	"servescope/analyzer/kernel"
	"servescope/analyzer/load"
	"servescope/analyzer/selection"
	"servescope/analyzer/trace"
)

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
