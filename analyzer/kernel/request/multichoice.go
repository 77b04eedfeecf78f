package request

import (
	"servescope/analyzer/trace"
)

// MultiChoice is a request of several sequences.
type MultiChoice struct {
	whole     Row // the request
	Sequences []Row
	numbers   []int32 // of their rows
}

// unite makes the request of its sequences.
func (q *MultiChoice) unite() {
	q.whole = q.Sequences[0]
	u := &q.whole
	u.Decode = None // of a sequence
	for i := range q.Sequences[1:] {
		w := &q.Sequences[i+1]
		u.Status = Worse(u.Status, w.Status)
		u.Placed = u.Placed && w.Placed
		u.Requested = u.Requested || w.Requested
		u.source = max(u.source, w.source)
		if w.FirstToken != None && (u.FirstToken == None || w.FirstToken < u.FirstToken) {
			u.kind, u.firstChunk = w.kind, w.firstChunk
		}
		for _, t := range [...]struct {
			whole *int64
			own   int64
		}{{&u.Start, w.Start}, {&u.Enter, w.Enter}, {&u.scheduled, w.scheduled}, {&u.FirstEvent, w.FirstEvent}, {&u.FirstToken, w.FirstToken}, {&u.firstAnswer, w.firstAnswer}} {
			*t.whole = Earlier(*t.whole, t.own)
		}
		u.clientWait = max(u.clientWait, w.clientWait)
		u.spec.unite(&w.spec)
		u.PromptTokens, u.CachedTokens = max(u.PromptTokens, w.PromptTokens), max(u.CachedTokens, w.CachedTokens)
		u.LastToken, u.Finished = later(u.LastToken, w.LastToken), later(u.Finished, w.Finished)
		u.N, u.ClientTokens = plus(u.N, w.N), plus(u.ClientTokens, w.ClientTokens)
		u.maxTokens, u.reasoningTokens = plus(u.maxTokens, w.maxTokens), plus(u.reasoningTokens, w.reasoningTokens)
	}
}

// Worse returns the status of a request two of whose sequences have a and b: it
// is ok when all have ended well and one has a token.
func Worse(a, b trace.Status) trace.Status {
	order := [...]int{trace.Empty: 0, trace.OK: 1, trace.HeadMissing: 2, trace.Open: 3, trace.Aborted: 4, trace.Failed: 5}
	if order[b] > order[a] {
		return b
	}
	return a
}
