package arrow

import (
	"errors"

	"servescope/analyzer/trace"
	"servescope/formats/internal/column"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

var (
	errType    = errors.New("its type is not read")
	errOffsets = errors.New("its offsets fall, or lead beyond its values")
	errCode    = errors.New("a value is not in its dictionary")
	errOffset  = errors.New("it begins within a byte")
)

// converter makes a flat column of the arrays of one field. Memory is shared where
// the types are the same.
type converter struct {
	ints    []int64
	floats  []float64
	codes   []int32
	data    []byte
	offsets []int32
	valid   trace.Bitmap
	inner   *converter // of the elements of lists
}

// convert fills c, which is null, from an array with a value.
func (v *converter) convert(a arrow.Array, c *column.Column) error {
	if a.Data().Offset() != 0 {
		return errOffset // never so in what is read from a file
	}
	n := a.Len()
	if a.NullN() > 0 {
		if c.Valid = a.NullBitmapBytes(); len(c.Valid) < (n+7)/8 {
			return errOffsets
		}
	}
	c.Null = false
	switch a := a.(type) {
	case *array.Boolean:
		c.Bits = bytesOf(a, 1)
		if len(c.Bits) < (n+7)/8 {
			return errOffsets
		}
		return nil
	case *array.String:
		return v.texts(c, bytesOf(a, 2), a.ValueOffsets())
	case *array.LargeString:
		return v.views(c, n, a.Value)
	case *array.StringView:
		return v.views(c, n, a.Value)
	case *array.Dictionary:
		return v.dictionary(a, c)
	case *array.MonthDayNanoInterval:
		v.intervals(a, c)
		return nil
	case *array.List:
		c.Offsets = a.Offsets()
		return v.list(c, n, a.ListValues())
	case *array.LargeList:
		v.offsets = v.offsets[:0]
		for _, off := range a.Offsets() {
			if off > 1<<31-1 {
				return errOffsets
			}
			v.offsets = append(v.offsets, int32(off))
		}
		c.Offsets = v.offsets
		return v.list(c, n, a.ListValues())
	}
	if arrow.IsDecimal(a.DataType().ID()) {
		return v.views(c, n, a.ValueStr)
	}
	return v.numbers(a, c)
}

// bytesOf returns a buffer of an array.
func bytesOf(a arrow.Array, i int) []byte {
	if b := a.Data().Buffers()[i]; b != nil {
		return b.Bytes()
	}
	return nil
}

// numbers sets the values of an array of numbers.
func (v *converter) numbers(a arrow.Array, c *column.Column) error {
	switch a := a.(type) {
	case *array.Int64:
		c.Ints = a.Int64Values()
	case *array.Float64:
		c.Floats = a.Float64Values()
	case *array.Float32:
		c.Floats = widen(&v.floats, a.Float32Values())
	case *array.Int8:
		c.Ints = widen(&v.ints, a.Int8Values())
	case *array.Int16:
		c.Ints = widen(&v.ints, a.Int16Values())
	case *array.Int32:
		c.Ints = widen(&v.ints, a.Int32Values())
	case *array.Uint8:
		c.Ints = widen(&v.ints, a.Uint8Values())
	case *array.Uint16:
		c.Ints = widen(&v.ints, a.Uint16Values())
	case *array.Uint32:
		c.Ints = widen(&v.ints, a.Uint32Values())
	case *array.Uint64:
		c.Ints = widen(&v.ints, a.Uint64Values())
	case *array.Timestamp:
		c.Ints = widen(&v.ints, a.TimestampValues())
	case *array.Duration:
		c.Ints = widen(&v.ints, a.DurationValues())
	case *array.Time32:
		c.Ints = widen(&v.ints, a.Time32Values())
	case *array.Time64:
		c.Ints = widen(&v.ints, a.Time64Values())
	case *array.Date32:
		c.Ints = widen(&v.ints, a.Date32Values())
	case *array.Date64:
		c.Ints = widen(&v.ints, a.Date64Values())
	default:
		return errType
	}
	if len(c.Ints)+len(c.Floats) != a.Len() {
		return errOffsets
	}
	return nil
}

// number is a type that a column's numbers are made of.
type number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

func widen[To, From number](buf *[]To, from []From) []To {
	out := (*buf)[:0]
	for _, x := range from {
		out = append(out, To(x))
	}
	*buf = out
	return out
}

// list sets the elements of lists whose offsets are set.
func (v *converter) list(c *column.Column, n int, elements arrow.Array) error {
	if elements.Data().Offset() != 0 {
		return errOffset
	}
	if err := rising(c.Offsets, n, elements.Len()); err != nil {
		return err
	}
	if isText(elements.DataType()) {
		return v.textList(c, elements)
	}
	if err := v.numbers(elements, c); err != nil {
		return err
	}
	c.Ints = c.Ints[:min(len(c.Ints), int(c.Offsets[n]))]
	c.Floats = c.Floats[:min(len(c.Floats), int(c.Offsets[n]))]
	base := c.Offsets[0]
	if base > 0 {
		c.Ints, c.Floats = c.Ints[min(len(c.Ints), int(base)):], c.Floats[min(len(c.Floats), int(base)):]
		c.Offsets = rebased(c.Offsets, base)
	}
	if elements.NullN() > 0 {
		c.Valid = whole(c.Valid, c.Offsets, int(base), elements)
	}
	return nil
}

// textList sets the elements of lists of texts, whose offsets are set.
func (v *converter) textList(c *column.Column, elements arrow.Array) error {
	if elements.Len() == 0 {
		c.Spans = []int32{0}
		return nil
	}
	var words column.Column
	if v.inner == nil {
		v.inner = new(converter)
	}
	if err := v.inner.convert(elements, &words); err != nil {
		return err
	}
	c.Data, c.Spans = words.Data, words.Offsets
	if elements.NullN() > 0 {
		c.Valid = whole(c.Valid, c.Offsets, 0, elements)
	}
	return nil
}

// rebased returns offsets less base.
func rebased(offsets []int32, base int32) []int32 {
	out := make([]int32, len(offsets))
	for i, off := range offsets {
		out[i] = off - base
	}
	return out
}

// whole returns which lists are not null and have no null among their elements.
func whole(valid trace.Bitmap, offsets []int32, base int, elements arrow.Array) trace.Bitmap {
	n := len(offsets) - 1
	out := make(trace.Bitmap, (n+7)/8)
	for i := range n {
		ok := valid.Valid(i)
		for k := offsets[i]; k < offsets[i+1] && ok; k++ {
			ok = elements.IsValid(base + int(k))
		}
		if ok {
			out[i>>3] |= 1 << (i & 7)
		}
	}
	return out
}

// rising checks the n+1 offsets of n values in as many elements.
func rising(offsets []int32, n, elements int) error {
	if len(offsets) != n+1 || offsets[0] < 0 || int(offsets[n]) > elements {
		return errOffsets
	}
	for i := range n {
		if offsets[i] > offsets[i+1] {
			return errOffsets
		}
	}
	return nil
}

// texts shares plain texts.
func (v *converter) texts(c *column.Column, data []byte, offsets []int32) error {
	n := len(offsets) - 1
	if err := rising(offsets, n, len(data)); err != nil {
		return err
	}
	c.Data, c.Offsets = data[offsets[0]:offsets[n]], offsets
	if offsets[0] > 0 {
		c.Offsets = rebased(offsets, offsets[0])
	}
	return nil
}

// views copies texts.
func (v *converter) views(c *column.Column, n int, value func(int) string) error {
	v.data, v.offsets = v.data[:0], append(v.offsets[:0], 0)
	for i := range n {
		if c.Valid.Valid(i) {
			v.data = append(v.data, value(i)...)
		}
		if len(v.data) > maxBody {
			return errOffsets
		}
		v.offsets = append(v.offsets, int32(len(v.data)))
	}
	c.Data, c.Offsets = v.data, v.offsets
	return nil
}

// dictionary sets the codes and the texts they stand for.
func (v *converter) dictionary(a *array.Dictionary, c *column.Column) error {
	var words column.Column
	if err := new(converter).convert(a.Dictionary(), &words); err != nil {
		return err
	}
	c.Values = make([]string, a.Dictionary().Len())
	for i := range c.Values {
		if words.Valid.Valid(i) {
			c.Values[i] = string(words.Data[words.Offsets[i]:words.Offsets[i+1]])
		}
	}
	if direct, ok := a.Indices().(*array.Int32); ok {
		c.Codes = direct.Int32Values()
	} else {
		var wide column.Column
		if err := v.numbers(a.Indices(), &wide); err != nil {
			return err
		}
		c.Codes = widen(&v.codes, wide.Ints)
	}
	for i, code := range c.Codes {
		if c.Valid.Valid(i) && (code < 0 || int(code) >= len(c.Values)) {
			return errCode
		}
	}
	return nil
}
