// Package request is one request as kernels see it: its row (Row, read by Rows), its
// chunks (Chunks, Emission), the metrics that have one value per request (Measures),
// requests of several choices (Choices), rows of other sides (Peers), and what the
// rows of a batch tell of the sides of their run (Summary).
package request

import (
	"math"

	"servescope/analyzer/join"
	"servescope/analyzer/metric"
	"servescope/analyzer/trace"
)

// None stands for an unknown stamp or count in a row.
const None = math.MinInt64

// Statuses is the number of statuses.
const Statuses = int(trace.HeadMissing) + 1

// FloorMod returns the remainder of a/b with the sign of b > 0.
func FloorMod(a, b int64) int64 {
	if r := a % b; r < 0 {
		return r + b
	} else {
		return r
	}
}

// Day is the longest duration believed: stamps further apart belong to different
// clocks.
const Day = 86400e9

// Second is a second in ns.
const Second = int64(1e9)

// Fraction is the unit of split gaps, 1/fraction ns: they are quotients of whole
// nanoseconds by numbers of tokens.
const Fraction = 1024

// Row is one request as kernels see it: stamps in ns on its clock, counts, and
// none where unknown.
type Row struct {
	Status trace.Status
	Side   trace.Side
	Placed bool // its stamps are on a clock that it shares with other requests
	Stream int8 // 1 streamed, 0 in one piece, -1 unknown
	kind   int32

	Start                                                    int64 // where latencies of its side begin
	Enter                                                    int64 // start, else the first of send, receipt, dispatch and queueing that is recorded
	scheduled, clientWait                                    int64
	FirstEvent, FirstToken, firstAnswer, LastToken, Finished int64
	Decode                                                   int64             // first to last token as the engine measured it
	N                                                        int64             // output tokens
	source                                                   trace.TokenSource // of n
	Requested                                                bool              // n is the requested length: not a count
	maxTokens, ClientTokens, reasoningTokens, firstChunk     int64             // requested length, client's count, reasoning tokens, tokens of the first chunk
	PromptTokens, CachedTokens                               int64
	spec                                                     specCounts

	Beam     bool   // it, or its run, used beam search
	producer string // the definition set of the tool that took the stamps, or ""

	MultiChoice *MultiChoice // the request that the row is a sequence of, one of several; nil: the row is the request
	Sibling     bool         // the request is counted with another row of its side
	Role        join.Role    // what the row is to its request, where rows are linked
}

// TokenKind codes.
const (
	kindUnknown   = -1
	kindContent   = 0
	KindReasoning = 1
)

// Slot is where figures of the row's side are kept: apart from the others where
// the run's requests are counted at a side that has no part in this one.
func (w *Row) Slot() int32 {
	if w.Role == join.Apart {
		return int32(NumSides) + int32(w.Side)
	}
	return int32(w.Side)
}

// Request returns the request that the row is a sequence of: mostly itself.
func (w *Row) Request() *Row {
	if w.MultiChoice != nil {
		return &w.MultiChoice.whole
	}
	return w
}

// Arrival returns the stamp by which the row belongs to a window of time.
func (w *Row) Arrival() int64 {
	return Or(w.Enter, Or(w.FirstEvent, Or(w.FirstToken, Or(w.LastToken, w.Finished))))
}

// Leaving returns the stamp by which the row's end belongs to a window.
func (w *Row) Leaving() int64 {
	return Or(w.Finished, Or(w.LastToken, w.Arrival()))
}

// Decoded returns when the last token came, or none. Where it is not stamped the
// time that the engine measured between first and last token counts from the
// first: what is asked of it here are batches and rates, where the way out of the
// engine is the same for both.
func (w *Row) Decoded() int64 {
	if begin := Or(w.FirstToken, w.FirstEvent); w.LastToken == None && w.Decode >= 0 && w.Decode <= Day && begin != None {
		return begin + w.Decode
	}
	return w.LastToken
}

// lastSeen returns the latest time at which the row is known to have emitted a
// token, or none. A response in one piece, or without a known last token, comes
// at its end.
func (w *Row) lastSeen() int64 {
	if last := w.Decoded(); last != None {
		return last
	}
	t := Or(w.FirstToken, None)
	if w.Status == trace.OK && w.Finished != None && w.Finished > t {
		return w.Finished
	}
	return t
}

// Emitted reports whether the row is known to have emitted a token, be their
// number known or not.
func (w *Row) Emitted() bool {
	return w.Status == trace.OK || w.Status != trace.Empty && (w.FirstToken != None || w.LastToken != None)
}

// EventOnly reports whether the row records the first event and not, beside
// it, the first token: both stamps are the same or one is missing, and the
// tokens of the first chunk are not counted.
func (w *Row) EventOnly() bool {
	return w.FirstEvent != None && (w.FirstToken == None || w.FirstToken == w.FirstEvent) && w.firstChunk <= 0
}

// Cohort tells why a request takes no part in latencies under def.
func (w *Row) Cohort(def *metric.Definition) metric.Reason {
	switch w.Status {
	case trace.Failed:
		return metric.Failed
	case trace.Aborted:
		return metric.Aborted
	case trace.Open:
		return metric.Open
	case trace.HeadMissing:
		return metric.HeadMissing
	case trace.Empty:
		if !def.Silent {
			return metric.NoToken
		}
	}
	return metric.None
}

// specCounts holds the counts of a request that only some workloads have; none
// where unknown.
type specCounts struct{ preempted, drafted, accepted, verified int64 }

var noSpecCounts = specCounts{None, None, None, None}

// unite adds the counts of another sequence of the same request.
func (s *specCounts) unite(o *specCounts) {
	s.preempted, s.drafted = plus(s.preempted, o.preempted), plus(s.drafted, o.drafted)
	s.accepted, s.verified = plus(s.accepted, o.accepted), plus(s.verified, o.verified)
}

// Get returns value i of an optional column, or none.
func Get(c trace.Ints, i int) int64 {
	if v, ok := c.At(i); ok {
		return v
	}
	return None
}

// Or returns the first of a and b that is known.
func Or(a, b int64) int64 {
	if a != None {
		return a
	}
	return b
}

// Earlier returns the lesser of two stamps, of which none is unknown.
func Earlier(a, b int64) int64 {
	if a == None || b != None && b < a {
		return b
	}
	return a
}

// later returns the later of two stamps; if one is unknown so is the latest.
func later(a, b int64) int64 {
	if a == None || b == None {
		return None
	}
	return max(a, b)
}

// plus returns the sum of two counts; if one is unknown so is the sum.
func plus(a, b int64) int64 {
	if a == None || b == None {
		return None
	}
	return a + b
}

// minus returns the difference of two counts; if one is unknown so is it.
func minus(a, b int64) int64 {
	if a == None || b == None {
		return None
	}
	return a - b
}

// Between returns the duration from start to end, or why there is none.
func Between(start, end int64) (int64, metric.Reason) {
	switch {
	case start == None || end == None:
		return 0, metric.NotRecorded
	case end < start:
		return 0, metric.Order
	case uint64(end)-uint64(start) > Day:
		return 0, metric.Clock
	}
	return end - start, metric.None
}
