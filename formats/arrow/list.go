package arrow

import (
	"math"

	"servescope/analyzer/trace"
	"servescope/formats/internal/column"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// maxReferred bounds the values of a batch that refer to others, which may be the
// same ones many times over.
const maxReferred = 1 << 24

// list sets the lists of an array of them.
func (v *converter) list(a array.ListLike, c *column.Column) error {
	n, elements := a.Len(), a.ListValues()
	switch a := a.(type) {
	case *array.List:
		c.Offsets = a.Offsets()
	case *array.FixedSizeList:
		return v.elements(c, n, elements, func(i int) (from, to int64) { return a.ValueOffsets(i) })
	case *array.LargeList:
		offsets := a.Offsets()
		if v.offsets = v.offsets[:0]; len(offsets) != n+1 {
			return errOffsets
		}
		for _, off := range offsets {
			if off < 0 || off > math.MaxInt32 {
				return errOffsets
			}
			v.offsets = append(v.offsets, int32(off))
		}
		c.Offsets = v.offsets
	case *array.ListView:
		return v.elements(c, n, elements, func(i int) (from, to int64) { return a.ValueOffsets(i) })
	case *array.LargeListView:
		return v.elements(c, n, elements, func(i int) (from, to int64) { return a.ValueOffsets(i) })
	default:
		return errType
	}
	if err := rising(c.Offsets, n, elements.Len()); err != nil {
		return err
	}
	e, err := v.of(elements)
	if err != nil {
		return err
	}
	base, end := c.Offsets[0], c.Offsets[n]
	if base > 0 {
		c.Offsets = rebased(c.Offsets, base)
	}
	put(c, e, base, end)
	if e.Valid != nil {
		c.Valid = whole(c.Valid, c.Offsets, int(base), e.Valid)
	}
	return nil
}

// elements sets lists of which span tells the elements.
func (v *converter) elements(c *column.Column, n int, elements arrow.Array, span func(i int) (from, to int64)) error {
	e, err := v.of(elements)
	if err != nil {
		return err
	}
	v.at, v.offsets = v.at[:0], append(v.offsets[:0], 0)
	most := max(maxReferred, elements.Len())
	for i := range n {
		if c.Valid.Valid(i) {
			from, to := span(i)
			if from < 0 || to < from || to > int64(elements.Len()) || to-from > int64(most-len(v.at)) {
				return errOffsets
			}
			for k := from; k < to; k++ {
				v.at = append(v.at, int32(k))
			}
		}
		v.offsets = append(v.offsets, int32(len(v.at)))
	}
	c.Offsets = v.offsets
	var got column.Column
	if err := v.inner.gather(&got, e, v.at); err != nil {
		return err
	}
	put(c, &got, 0, int32(len(v.at)))
	if got.Valid != nil {
		c.Valid = whole(c.Valid, c.Offsets, 0, got.Valid)
	}
	return nil
}

// of returns the values that rows of an array refer to. They are valid until the
// next call.
func (v *converter) of(a arrow.Array) (*column.Column, error) {
	if v.inner == nil {
		v.inner = new(converter)
	}
	e := new(column.Column)
	if a.Len() == 0 {
		return e, nil
	}
	if err := v.inner.convert(a, e); err != nil || e.Codes == nil {
		return e, err
	}
	return e, v.inner.spell(e, len(e.Codes), func(i int) []byte { return []byte(e.Values[e.Codes[i]]) })
}

// put makes values from base to end the elements of the lists of c.
func put(c, e *column.Column, base, end int32) {
	switch {
	case e.Offsets != nil:
		c.Spans = e.Offsets[base : end+1]
		c.Data = e.Data[c.Spans[0]:c.Spans[end-base]]
		if c.Spans[0] > 0 {
			c.Spans = rebased(c.Spans, c.Spans[0])
		}
	case e.Floats != nil:
		c.Floats = e.Floats[base:end]
	case e.Ints != nil:
		c.Ints = e.Ints[base:end]
	default:
		c.Spans = []int32{0}
	}
}

// rebased returns offsets less base.
func rebased(offsets []int32, base int32) []int32 {
	out := make([]int32, len(offsets))
	for i, off := range offsets {
		out[i] = off - base
	}
	return out
}

// whole returns which lists are not null and have no null among their elements,
// the first of which is element base.
func whole(valid trace.Bitmap, offsets []int32, base int, elements trace.Bitmap) trace.Bitmap {
	n := len(offsets) - 1
	out := make(trace.Bitmap, (n+7)/8)
	for i := range n {
		ok := valid.Valid(i)
		for k := offsets[i]; k < offsets[i+1] && ok; k++ {
			ok = elements.Valid(base + int(k))
		}
		if ok {
			out[i>>3] |= 1 << (i & 7)
		}
	}
	return out
}
