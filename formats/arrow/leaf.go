package arrow

import (
	"errors"
	"time"

	"servescope/analyzer/trace"
	"servescope/formats/internal/column"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// leaf is a column of the file, or a member of one that is a struct.
type leaf struct {
	column.Field
	path []int // of the column, then of members
	uuid bool  // its bytes are those of UUIDs
}

// leavesOf lists the leaves of columns, members of structs by the names that lead
// to them.
func leavesOf(out []leaf, fields []arrow.Field, path []int, name string) []leaf {
	for i, f := range fields {
		own := append(path[:len(path):len(path)], i)
		f.Name = name + f.Name
		if s, ok := f.Type.(*arrow.StructType); ok {
			out = leavesOf(out, s.Fields(), own, f.Name+".")
			continue
		}
		kind, _ := f.Metadata.GetValue("ARROW:extension:name")
		out = append(out, leaf{fieldOf(f), own, kind == "arrow.uuid"})
	}
	return out
}

// fieldOf describes a column.
func fieldOf(f arrow.Field) column.Field {
	out := column.Field{Name: f.Name}
	if entries, ok := mapOf(f.Type); ok {
		kindOf(&out, entries.Field(0).Type)
		if out.Kind == column.Int || out.Kind == column.Text {
			return column.Field{Name: f.Name, Kind: column.Text, Object: true}
		}
		return column.Field{Name: f.Name}
	}
	if list, ok := f.Type.(arrow.ListLikeType); ok {
		kindOf(&out, list.Elem())
		out.Kind = listOf(out.Kind)
		return out
	}
	kindOf(&out, f.Type)
	return out
}

// kindOf sets the type of values of their own.
func kindOf(out *column.Field, t arrow.DataType) {
	step := func(unit arrow.TimeUnit) { out.Kind, out.Step = column.Int, int64(unit.Multiplier()) }
	switch t := t.(type) {
	case *arrow.TimestampType:
		step(t.Unit)
		out.Instant, out.UTC = true, t.TimeZone != ""
	case *arrow.DurationType:
		step(t.Unit)
	case *arrow.Time32Type:
		step(t.Unit)
	case *arrow.Time64Type:
		step(t.Unit)
	case *arrow.Date32Type:
		out.Kind, out.Step, out.Instant = column.Int, int64(24*time.Hour), true
	case *arrow.Date64Type:
		out.Kind, out.Step, out.Instant = column.Int, int64(time.Millisecond), true
	case *arrow.MonthDayNanoIntervalType:
		out.Kind, out.Step = column.Int, 1
	case *arrow.DictionaryType:
		kindOf(out, t.ValueType)
	case *arrow.RunEndEncodedType:
		kindOf(out, t.Encoded())
	default:
		out.Kind, out.Number = plainKind(t), arrow.IsDecimal(t.ID())
		out.Unsigned, out.Narrow = t.ID() == arrow.UINT64, t.ID() == arrow.FLOAT32 || t.ID() == arrow.FLOAT16
	}
}

func plainKind(t arrow.DataType) column.Kind {
	switch {
	case arrow.IsInteger(t.ID()):
		return column.Int
	case arrow.IsFloating(t.ID()):
		return column.Float
	case t.ID() == arrow.BOOL:
		return column.Bool
	case isText(t) || arrow.IsDecimal(t.ID()): // a decimal may have more digits than a number
		return column.Text
	}
	return column.None
}

func isText(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW, arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW, arrow.FIXED_SIZE_BINARY:
		return true
	}
	return false
}

func listOf(element column.Kind) column.Kind {
	switch element {
	case column.Int:
		return column.IntList
	case column.Float:
		return column.FloatList
	case column.Text:
		return column.TextList
	}
	return column.None
}

var errStruct = errors.New("it is no struct as its type says")

// fill fills c from the leaf's array in a batch.
func (l *leaf) fill(c *column.Column, rec arrow.RecordBatch, v *converter) error {
	*c = column.Column{Null: true}
	a := rec.Column(l.path[0])
	n := a.Len()
	var within trace.Bitmap // where the structs around it are
	for _, k := range l.path[1:] {
		s, ok := a.(*array.Struct)
		if !ok || k >= s.NumField() || s.Field(k).Len() < n {
			return errStruct
		}
		if s.NullN() > 0 {
			if len(s.NullBitmapBytes()) < (n+7)/8 || s.Data().Offset() != 0 {
				return errOffsets
			}
			within = both(within, s.NullBitmapBytes()[:(n+7)/8])
		}
		a = s.Field(k)
	}
	if a.NullN() >= n {
		return nil
	}
	v.uuid = l.uuid
	if err := v.convert(a, c); err != nil {
		return err
	}
	c.Valid = both(c.Valid, within)
	return nil
}

// intervals sets the lengths of intervals in ns. Months have none.
func (v *converter) intervals(a *array.MonthDayNanoInterval, c *column.Column) {
	v.ints = v.ints[:0]
	v.valid = v.valid[:0]
	for i := range a.Len() {
		if i&7 == 0 {
			v.valid = append(v.valid, 0)
		}
		x := a.Value(i)
		v.ints = append(v.ints, int64(x.Days)*int64(24*time.Hour)+x.Nanoseconds)
		if c.Valid.Valid(i) && x.Months == 0 {
			v.valid[i>>3] |= 1 << (i & 7)
		}
	}
	c.Ints, c.Valid = v.ints, v.valid
}
