package request

import (
	"math/bits"
	"slices"

	"servescope/analyzer/metric"
)

// Emission is when a request emitted its tokens.
type Emission struct {
	N           int64 // tokens; 0 when none are known
	Base, Last  int64 // time of the first and the last, or none
	gaps        []int64
	tokens      []int64 // per chunk; empty: one each, or n spread evenly over the chunks
	ByChunk     bool    // n counts chunks, for want of a count of tokens
	Spread      bool    // the tokens of a chunk, or between first and last, are assumed to be even
	LongStretch bool    // spread over more buckets than are looked at
}

// EmissionOf returns when the request emitted its tokens, as far as its row and
// chunks tell. Requests that failed count with what they emitted before.
func EmissionOf(w *Row, c Chunks, why metric.Reason, def *metric.Definition) Emission {
	e := Emission{N: max(w.Tokens(def), 0), Base: Or(w.FirstToken, w.FirstEvent), Last: w.lastSeen()}
	listed := why == metric.None && c.Base != None
	if listed {
		e.Base, e.gaps, e.tokens = c.Base, c.Gaps, c.Tokens
	}
	sum := int64(0)
	for _, k := range e.tokens {
		sum += k
	}
	switch {
	case e.N == 0 && listed && w.Tokens(def) == None && def.ByChunk():
		e.N, e.ByChunk = int64(len(e.gaps))+1, len(e.tokens) == 0
		if len(e.tokens) > 0 {
			e.N = sum
		}
	case len(e.tokens) > 0 && sum != e.N:
		e.tokens = nil
	}
	switch {
	case w.Stream == 0 || e.Base == None:
		e.Spread = w.Stream != 0
		e.Base, e.gaps, e.tokens = e.Last, nil, nil
	case listed:
		e.Spread = len(e.tokens) == 0 && e.N != int64(len(e.gaps))+1
	default:
		e.Spread = e.N > 1
	}
	return e
}

// Backwards reports whether time steps back between chunks.
func (e *Emission) Backwards() bool {
	return slices.ContainsFunc(e.gaps, func(gap int64) bool { return gap < 0 })
}

// Before returns how many tokens come before time t.
func (e *Emission) Before(t int64) int64 {
	switch d := e.Last - e.Base; {
	case e.Base >= t:
		return 0
	case len(e.gaps) > 0:
	case e.N == 1 || e.Last == None || d <= 0 || d > Day || e.Last < t:
		return e.N
	default:
		return min(evenly(t-e.Base, e.N-1, d), e.N)
	}
	at, i := e.Base, 0
	for i < len(e.gaps) && at+e.gaps[i] < t {
		at += e.gaps[i]
		i++
	}
	return e.chunkStart()(int64(i) + 1)
}

// chunkStart returns a function that tells how many tokens come before chunk i.
func (e *Emission) chunkStart() func(i int64) int64 {
	chunks, n := int64(len(e.gaps))+1, e.N
	tokens := e.tokens
	return func(i int64) int64 {
		if len(tokens) > 0 {
			sum := int64(0)
			for _, k := range tokens[:i] {
				sum += k
			}
			return sum
		}
		high, low := bits.Mul64(uint64(i), uint64(n)) // ⌊i·n/chunks⌋
		q, _ := bits.Div64(high, low, uint64(chunks))
		return int64(q)
	}
}

// Walk calls f for each stretch of tokens emitted in one bucket [start, start+length)
// of time, in order; buckets are aligned to origin. f returns false to end it.
func (e *Emission) Walk(origin, length int64, f func(start, n int64) bool) {
	if e.N == 0 || e.Base == None {
		return
	}
	floor := func(t int64) int64 { return t - FloorMod(t-origin, length) }
	start := floor(e.Base)
	switch chunks := int64(len(e.gaps)) + 1; {
	case chunks == 1:
		e.walkSpread(start, length, f)
	case len(e.tokens) > 0:
		e.walkChunks(floor, length, f, func(i int64) int64 { return e.tokens[i] })
	case e.N != chunks:
		at := e.chunkStart()
		e.walkChunks(floor, length, f, func(i int64) int64 { return at(i+1) - at(i) })
	default:
		gaps, t, from := e.gaps, e.Base, 0
		for i := 0; i < len(gaps); i++ {
			for len(gaps)-i > 8 { // mostly none of eight leaves the bucket
				g := (*[8]int64)(gaps[i:])
				sum := g[0] + g[1] + g[2] + g[3] + (g[4] + g[5] + g[6] + g[7])
				if all := g[0] | g[1] | g[2] | g[3] | g[4] | g[5] | g[6] | g[7]; uint64(all) >= 1<<60 || uint64(t+sum-start) >= uint64(length) {
					break // time steps back, or the sum may be too large
				}
				t += sum
				i += 8
			}
			t += gaps[i]
			if uint64(t-start) < uint64(length) {
				continue
			}
			if !f(start, int64(i+1-from)) {
				return
			}
			if start += length; uint64(t-start) >= uint64(length) { // seldom: the next bucket is near
				start = floor(t)
			}
			from = i + 1
		}
		f(start, chunks-int64(from))
	}
}

// walkChunks walks chunks of count(i) tokens.
func (e *Emission) walkChunks(floor func(int64) int64, length int64, f func(start, n int64) bool, count func(int64) int64) {
	t, start, n := e.Base, floor(e.Base), count(0)
	for i, gap := range e.gaps {
		t += gap
		if uint64(t-start) >= uint64(length) {
			if n > 0 && !f(start, n) {
				return
			}
			start, n = floor(t), 0
		}
		n += count(int64(i) + 1)
	}
	if n > 0 {
		f(start, n)
	}
}

// walkSpread walks tokens that are spread evenly over (base, last], the first
// one at base: token j comes at base + ⌊j(last-base)/(n-1)⌋.
func (e *Emission) walkSpread(start, length int64, f func(start, n int64) bool) {
	d := e.Last - e.Base
	if e.N == 1 || e.Last == None || d <= 0 {
		f(start, e.N)
		return
	}
	if d/length > maxStretch || d > Day {
		e.LongStretch = true
		f(start, e.N)
		return
	}
	for done := int64(0); done < e.N; start += length {
		upTo := e.N
		if past := start + length - e.Base; past <= d {
			upTo = evenly(past, e.N-1, d)
		}
		if upTo > done && !f(start, upTo-done) {
			return
		}
		done = max(done, upTo)
	}
}

// evenly returns how many of the tokens 0, 1, … that come at ⌊j·d/steps⌋ come
// before time past, 0 < past ≤ d.
func evenly(past, steps, d int64) int64 {
	high, low := bits.Mul64(uint64(past), uint64(steps)) // j·d < past·steps
	low, borrow := bits.Sub64(low, 1, 0)
	q, _ := bits.Div64(high-borrow, low, uint64(d))
	return int64(q) + 1
}

// maxStretch is the number of buckets that the tokens of one request without
// gaps are spread over.
const maxStretch = 10_000
