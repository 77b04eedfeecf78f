package block

import (
	"context"
	"sync"
)

// turn tells which block is the oldest that has not been delivered.
type turn struct {
	mu   sync.Mutex
	cond sync.Cond
	seq  int64
	ctx  context.Context
}

func (t *turn) init(ctx context.Context) {
	t.cond.L = &t.mu
	t.ctx = ctx
	context.AfterFunc(ctx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.cond.Broadcast()
	})
}

// wait returns when block seq is the oldest, or false when the context is done.
func (t *turn) wait(seq int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.seq != seq && t.ctx.Err() == nil {
		t.cond.Wait()
	}
	return t.ctx.Err() == nil
}

// advance makes seq the oldest block.
func (t *turn) advance(seq int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seq = seq
	t.cond.Broadcast()
}
