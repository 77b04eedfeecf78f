package bridge

import (
	"sync"
	"time"
)

// pace is how often progress is told.
const pace = 50 * time.Millisecond

// Progress passes the progress of a session on to the call that it works for.
// The zero value is ready; its method Read is for analyzer.Options.
type Progress struct{ gate gate }

// Read takes the bytes read so far and their total.
func (p *Progress) Read(done, total int64) { p.gate.read(done, total) }

// gate lets progress through to the present call.
type gate struct {
	mu   sync.Mutex
	now  func() time.Time
	out  Out // nil: nobody listens
	last time.Time
}

// progress is the head of an answer that tells how far reading is.
type progress struct {
	Type  string `json:"type"`
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
}

// watch passes progress to out until the function that it returns is called.
func (g *gate) watch(now func() time.Time, out Out) (stop func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now, g.out, g.last = now, out, now()
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.out = nil
	}
}

func (g *gate) read(done, total int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.out == nil {
		return
	}
	if now := g.now(); now.Sub(g.last) >= pace {
		g.last = now
		g.out(encode(&progress{"progress", done, total}), nil)
	}
}
