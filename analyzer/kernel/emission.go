package kernel

import (
	"math/bits"
	"slices"

	"servescope/analyzer/metric"
)

// emission is when a request emitted its tokens.
type emission struct {
	n           int64 // tokens; 0 when none are known
	base, last  int64 // time of the first and the last, or none
	gaps        []int64
	tokens      []int64 // per chunk; empty: one each, or n spread evenly over the chunks
	byChunk     bool    // n counts chunks, for want of a count of tokens
	spread      bool    // the tokens of a chunk, or between first and last, are assumed to be even
	longStretch bool    // spread over more buckets than are looked at
}

// emissionOf returns when the request emitted its tokens, as far as its row and
// chunks tell. Requests that failed count with what they emitted before.
func emissionOf(w *row, c chunks, why metric.Reason, def *metric.Definition) emission {
	e := emission{n: max(w.tokens(def), 0), base: or(w.token, w.event), last: w.lastSeen()}
	listed := why == metric.None && c.base != none
	if listed {
		e.base, e.gaps, e.tokens = c.base, c.gaps, c.tokens
	}
	sum := int64(0)
	for _, k := range e.tokens {
		sum += k
	}
	switch {
	case e.n == 0 && listed && w.tokens(def) == none && def.ByChunk():
		e.n, e.byChunk = int64(len(e.gaps))+1, len(e.tokens) == 0
		if len(e.tokens) > 0 {
			e.n = sum
		}
	case len(e.tokens) > 0 && sum != e.n:
		e.tokens = nil
	}
	switch {
	case w.stream == 0 || e.base == none:
		e.spread = w.stream != 0
		e.base, e.gaps, e.tokens = e.last, nil, nil
	case listed:
		e.spread = len(e.tokens) == 0 && e.n != int64(len(e.gaps))+1
	default:
		e.spread = e.n > 1
	}
	return e
}

// backwards reports whether time steps back between chunks.
func (e *emission) backwards() bool {
	return slices.ContainsFunc(e.gaps, func(gap int64) bool { return gap < 0 })
}

// before returns how many tokens come before time t.
func (e *emission) before(t int64) int64 {
	switch d := e.last - e.base; {
	case e.base >= t:
		return 0
	case len(e.gaps) > 0:
	case e.n == 1 || e.last == none || d <= 0 || d > day || e.last < t:
		return e.n
	default:
		return min(evenly(t-e.base, e.n-1, d), e.n)
	}
	at, i := e.base, 0
	for i < len(e.gaps) && at+e.gaps[i] < t {
		at += e.gaps[i]
		i++
	}
	return e.chunkStart()(int64(i) + 1)
}

// chunkStart returns a function that tells how many tokens come before chunk i.
func (e *emission) chunkStart() func(i int64) int64 {
	chunks, n := int64(len(e.gaps))+1, e.n
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

// evenly returns how many of the tokens 0, 1, … that come at ⌊j·d/steps⌋ come
// before time past, 0 < past ≤ d.
func evenly(past, steps, d int64) int64 {
	high, low := bits.Mul64(uint64(past), uint64(steps)) // j·d < past·steps
	low, borrow := bits.Sub64(low, 1, 0)
	q, _ := bits.Div64(high-borrow, low, uint64(d))
	return int64(q) + 1
}

// walk calls f for each stretch of tokens emitted in one bucket [start, start+length)
// of time, in order; buckets are aligned to origin. f returns false to end it.
func (e *emission) walk(origin, length int64, f func(start, n int64) bool) {
	if e.n == 0 || e.base == none {
		return
	}
	floor := func(t int64) int64 { return t - floorMod(t-origin, length) }
	start := floor(e.base)
	switch chunks := int64(len(e.gaps)) + 1; {
	case chunks == 1:
		e.walkSpread(start, length, f)
	case len(e.tokens) > 0:
		e.walkChunks(floor, length, f, func(i int64) int64 { return e.tokens[i] })
	case e.n != chunks:
		at := e.chunkStart()
		e.walkChunks(floor, length, f, func(i int64) int64 { return at(i+1) - at(i) })
	default:
		gaps, t, from := e.gaps, e.base, 0
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
func (e *emission) walkChunks(floor func(int64) int64, length int64, f func(start, n int64) bool, count func(int64) int64) {
	t, start, n := e.base, floor(e.base), count(0)
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

// maxStretch is the number of buckets that the tokens of one request without
// gaps are spread over.
const maxStretch = 10_000

// walkSpread walks tokens that are spread evenly over (base, last], the first
// one at base: token j comes at base + ⌊j(last-base)/(n-1)⌋.
func (e *emission) walkSpread(start, length int64, f func(start, n int64) bool) {
	d := e.last - e.base
	if e.n == 1 || e.last == none || d <= 0 {
		f(start, e.n)
		return
	}
	if d/length > maxStretch || d > day {
		e.longStretch = true
		f(start, e.n)
		return
	}
	for done := int64(0); done < e.n; start += length {
		upTo := e.n
		if past := start + length - e.base; past <= d {
			upTo = evenly(past, e.n-1, d)
		}
		if upTo > done && !f(start, upTo-done) {
			return
		}
		done = max(done, upTo)
	}
}
