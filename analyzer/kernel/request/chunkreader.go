package request

import (
	"servescope/analyzer/metric"
)

// ChunkReader reads the token-bearing chunks of single requests as the metrics of
// chunks see them.
type ChunkReader struct {
	rows  Rows
	lists Lists
	def   *metric.Definition
}

// ChunksOf returns the chunks of v, which has token lists and must not change
// while they are used.
func ChunksOf(v *View, def *metric.Definition) *ChunkReader {
	return &ChunkReader{rowsOf(v), ListsOf(v), def}
}

// At returns the chunks of row i: the stamp of the first in ns on the row's
// clock, the gaps between each and the next in ns, and what each brought, empty
// where they are not counted. known is false where the stamp is not recorded. ok is
// false for rows that are not in chunk_gap. The slices are valid until the next
// call.
func (c *ChunkReader) At(i int) (first int64, gaps, tokens []int64, known, ok bool) {
	w := c.rows.At(i)
	list, why := c.lists.At(i, &w)
	counts := list.Tokens
	if why == metric.None {
		why = w.Cohort(c.def)
	}
	if why == metric.None {
		list, why = c.lists.Listed(i, &w, list, c.def)
	}
	return list.Base, list.Gaps, counts, list.Base != None, why == metric.None
}

// Emit calls f with the number of tokens that row i emitted in each bucket
// [start, start+length) of its clock, in order; buckets are aligned to origin. f
// returns false to end it. It returns the number of tokens that it places, and
// whether some of them are assumed to be evenly spread.
func (c *ChunkReader) Emit(i int, origin, length int64, f func(start, n int64) bool) (n int64, spread bool) {
	w := c.rows.At(i)
	if !w.Placed {
		return 0, false
	}
	list, why := c.lists.At(i, &w)
	e := EmissionOf(&w, list, why, c.def)
	if e.N == 0 || e.Base == None {
		return 0, false
	}
	e.Walk(origin, length, f)
	return e.N, e.Spread
}
