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
	at      []int32    // rows of what rows refer to, -1 for none
	uuid    bool       // bytes are those of UUIDs
	inner   *converter // of what rows refer to: elements, values of a dictionary
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
	case *array.Binary:
		return v.texts(c, bytesOf(a, 2), a.ValueOffsets())
	case *array.LargeString:
		return v.views(c, n, a.Value)
	case *array.LargeBinary:
		return v.views(c, n, a.ValueString)
	case *array.StringView:
		return v.views(c, n, a.Value)
	case *array.BinaryView:
		return v.views(c, n, a.ValueString)
	case *array.FixedSizeBinary:
		if v.uuid {
			return v.views(c, n, func(i int) string { return uuidOf(a.Value(i)) })
		}
		return v.views(c, n, func(i int) string { return string(a.Value(i)) })
	case *array.Dictionary:
		return v.dictionary(a, c)
	case *array.RunEndEncoded:
		return v.runs(a, c)
	case *array.MonthDayNanoInterval:
		v.intervals(a, c)
		return nil
	case array.ListLike:
		if _, is := mapOf(a.DataType()); is {
			return v.object(a, c)
		}
		return v.list(a, c)
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
	case *array.Float16:
		v.floats = v.floats[:0]
		for _, x := range a.Values() {
			v.floats = append(v.floats, float64(x.Float32()))
		}
		c.Floats = v.floats
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
