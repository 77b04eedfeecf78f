package kernel

import (
	"servescope/analyzer/decompose"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
)

// Chunks reads the token-bearing chunks of single requests as the metrics of
// chunks see them.
type Chunks struct {
	rows  rows
	lists lists
	def   *metric.Definition
}

// ChunksOf returns the chunks of v, which has token lists and must not change
// while they are used.
func ChunksOf(v *View, def *metric.Definition) *Chunks {
	return &Chunks{rowsOf(v), listsOf(v), def}
}

// At returns the chunks of row i: the stamp of the first in ns on the row's
// clock, the gaps between each and the next in ns, and what each brought, empty
// where nobody counted. known is false where the stamp is not recorded. ok is
// false for rows that are not in chunk_gap. The slices are valid until the next
// call.
func (c *Chunks) At(i int) (first int64, gaps, tokens []int64, known, ok bool) {
	w := c.rows.at(i)
	list, why := c.lists.at(i, &w)
	counts := list.tokens
	if why == metric.None {
		why = w.cohort(c.def)
	}
	if why == metric.None {
		list, why = c.lists.listed(i, &w, list, c.def)
	}
	return list.base, list.gaps, counts, list.base != none, why == metric.None
}

// Emit calls f with the number of tokens that row i emitted in each bucket
// [start, start+length) of its clock, in order; buckets are aligned to origin. f
// returns false to end it. It returns the number of tokens that it places, and
// whether some of them are assumed to be evenly spread.
func (c *Chunks) Emit(i int, origin, length int64, f func(start, n int64) bool) (n int64, spread bool) {
	w := c.rows.at(i)
	if !w.placed {
		return 0, false
	}
	list, why := c.lists.at(i, &w)
	e := emissionOf(&w, list, why, c.def)
	if e.n == 0 || e.base == none {
		return 0, false
	}
	e.walk(origin, length, f)
	return e.n, e.spread
}

// EachParts calls f with the time to first token of each row of v that is a
// request and has one, taken apart as the report's decomposition does. p is valid
// during the call.
func EachParts(v *View, f func(i int, p *decompose.Parts)) {
	own := *v
	own.Group = make([]int32, v.Rows)
	s := decomposition{metric.Default}.New(new(query.Query), new(Facts)).(*decompositionState)
	x := s.begin(&own)
	columns := decompose.ColumnsOf(v.Batch)
	rows := make([]decompose.Row, 1, 8)
	others := linkedRows(v.Links, v.Base)
	var p decompose.Parts
	for i := range v.Rows {
		w, _ := x.next(i)
		if w.sibling {
			continue
		}
		columns.Row(i, &rows[0])
		rows[0].Side = w.side
		rows = inward(others(i, rows[:1]))
		if s.takeApart(w.request(), rows, &p) == metric.None {
			f(i, &p)
		}
	}
}
