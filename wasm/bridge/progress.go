package bridge

import (
	"sync"
	"time"

	"servescope/analyzer"
)

// pace is how often progress is told.
const pace = 50 * time.Millisecond

// A report of a part is made after partFirst and every partPace, or so much more
// seldom that making them takes no more than a partShare of the time.
const (
	partFirst = 100 * time.Millisecond
	partPace  = 250 * time.Millisecond
	partShare = 10
)

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

	done, total int64     // as last told
	parts       bool      // the call takes reports of parts
	next        time.Time // when one is due
}

// progress is the head of an answer that tells how far reading is. With a body,
// which is a report, Rows says how many rows that is of, and Of how many there are.
type progress struct {
	Type  string `json:"type"`
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
	Rows  int64  `json:"rows"`
	Of    int64  `json:"of"`
}

// watch passes progress to out until the function that it returns is called, and
// with parts reports of parts.
func (g *gate) watch(now func() time.Time, out Out, parts bool) (stop func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now, g.out, g.last, g.parts = now, out, now(), parts
	g.done, g.total, g.next = 0, -1, g.last.Add(partFirst)
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
	g.done, g.total = done, total
	if now := g.now(); now.Sub(g.last) >= pace {
		g.last = now
		g.out(encode(&progress{Type: "progress", Done: done, Total: total}), nil)
	}
}

func (g *gate) partial() func(*analyzer.Partial) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.out == nil || !g.parts {
		return nil
	}
	began := g.now()
	if began.Before(g.next) {
		return nil
	}
	return func(p *analyzer.Partial) {
		body, err := p.Report.MarshalJSON()
		g.mu.Lock()
		defer g.mu.Unlock()
		if err != nil || g.out == nil {
			return
		}
		g.out(encode(&progress{"progress", g.done, g.total, p.Rows, p.Total}), body)
		end := g.now()
		g.next = end.Add(max(partPace-end.Sub(began), (partShare-1)*end.Sub(began)))
	}
}
