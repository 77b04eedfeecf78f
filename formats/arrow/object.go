package arrow

import (
	"servescope/analyzer/trace"
	"servescope/formats/internal/column"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// mapOf returns the type of the entries of a map, or of a list of keys and values, which
// is what Polars, BigQuery and others have in its stead.
func mapOf(t arrow.DataType) (entries *arrow.StructType, ok bool) {
	list, ok := t.(arrow.ListLikeType)
	if !ok {
		return nil, false
	}
	entries, ok = list.Elem().(*arrow.StructType)
	if !ok || entries.NumFields() != 2 {
		return nil, false
	}
	return entries, t.ID() == arrow.MAP || entries.Field(0).Name == "key" && entries.Field(1).Name == "value"
}

// object makes objects of the maps of an array.
func (v *converter) object(a array.ListLike, c *column.Column) error {
	n, valid := a.Len(), c.Valid
	s, ok := a.ListValues().(*array.Struct)
	if !ok || s.NumField() != 2 || s.Data().Offset() != 0 {
		return errType
	}
	total := 0
	spans := make([][2]int, n)
	for i := range spans {
		if !valid.Valid(i) {
			continue
		}
		from, to := a.ValueOffsets(i)
		if from < 0 || to < from || to > int64(s.Len()) || to-from > int64(max(maxReferred, s.Len())-total) {
			return errOffsets
		}
		spans[i] = [2]int{int(from), int(to)}
		total += int(to - from)
	}
	keys, err := entries(s.DataType().(*arrow.StructType).Field(0), s.Field(0), nil)
	if err != nil {
		return err
	}
	var values []column.Entries
	if of, ok := s.Field(1).(*array.Struct); ok { // of which one member has the value
		if of.Data().Offset() != 0 {
			return errOffset
		}
		within, err := present(of)
		if err != nil {
			return err
		}
		for i, f := range of.DataType().(*arrow.StructType).Fields() {
			e, err := entries(f, of.Field(i), within)
			if err != nil {
				return err
			}
			values = append(values, e)
		}
	} else {
		e, err := entries(s.DataType().(*arrow.StructType).Field(1), s.Field(1), nil)
		if err != nil {
			return err
		}
		values = []column.Entries{e}
	}
	return column.Objects(c, valid, n, func(i int) (from, to int) { return spans[i][0], spans[i][1] }, keys, values)
}

// entries returns the keys or values in an array, those of a type that is not read as
// nulls; within tells where what they are in is not null.
func entries(f arrow.Field, a arrow.Array, within trace.Bitmap) (column.Entries, error) {
	out := column.Entries{Field: new(column.Field), Column: &column.Column{Null: true}}
	kindOf(out.Field, f.Type)
	if out.Field.Kind == column.None || a.NullN() >= a.Len() {
		return out, nil
	}
	if err := new(converter).convert(a, out.Column); err != nil {
		return out, err
	}
	out.Valid = both(out.Valid, within)
	return out, nil
}

// present returns the validity of a struct's rows, nil: all are.
func present(s *array.Struct) (trace.Bitmap, error) {
	if s.NullN() == 0 {
		return nil, nil
	}
	if len(s.NullBitmapBytes()) < (s.Len()+7)/8 {
		return nil, errOffsets
	}
	return s.NullBitmapBytes()[:(s.Len()+7)/8], nil
}

// both returns what two bitmaps say together; nil says that all are.
func both(a, b trace.Bitmap) trace.Bitmap {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	out := append(trace.Bitmap(nil), b...)
	for i := range out {
		out[i] &= a[i]
	}
	return out
}
