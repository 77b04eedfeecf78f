package trace

import (
	"strconv"
	"strings"

	"servescope/analyzer/unit"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Schema returns the table's Arrow schema. Each field's metadata names its unit
// ("unit"), says whether it is a point in time ("stamp") and what it means
// ("doc"); every field is nullable.
func (t *Table) Schema() *arrow.Schema {
	fields := make([]arrow.Field, len(t.Fields))
	for i := range t.Fields {
		f := &t.Fields[i]
		keys, values := []string{"doc"}, []string{f.Doc}
		if f.Unit != unit.None {
			keys, values = append(keys, "unit"), append(values, string(f.Unit))
		}
		if f.Stamp {
			keys, values = append(keys, "stamp"), append(values, strconv.FormatBool(true))
		}
		fields[i] = arrow.Field{Name: f.Name, Type: f.arrowType(), Nullable: true, Metadata: arrow.NewMetadata(keys, values)}
	}
	meta := arrow.NewMetadata([]string{"table"}, []string{t.Name})
	return arrow.NewSchema(fields, &meta)
}

func (f *Field) arrowType() arrow.DataType {
	switch f.Type {
	case Int64:
		return arrow.PrimitiveTypes.Int64
	case Float64:
		return arrow.PrimitiveTypes.Float64
	case Bool:
		return arrow.FixedWidthTypes.Boolean
	case Text:
		return arrow.BinaryTypes.String
	case Dict:
		return &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	case List:
		return arrow.ListOfField(arrow.Field{Name: "element", Type: arrow.PrimitiveTypes.Int64})
	case Time:
		if f.Unit == unit.Nanosecond {
			return arrow.FixedWidthTypes.Timestamp_ns
		}
		return arrow.FixedWidthTypes.Timestamp_us
	}
	panic("trace: unknown column type")
}

// Record wraps the batch as an Arrow record of the given schema, its table's.
// Nothing is copied but the texts of dictionaries: the record's buffers are the
// batch's, so it is valid as long as the batch is. Columns that are null
// throughout share one buffer of zeros.
func (b *Batch) Record(schema *arrow.Schema) arrow.RecordBatch {
	w := wrapper{rows: b.Rows}
	columns := make([]arrow.Array, len(b.columns))
	for i := range b.columns {
		data := w.column(&b.columns[i], schema.Field(i).Type)
		columns[i] = array.MakeFromData(data)
		data.Release()
	}
	rec := array.NewRecordBatch(schema, columns, int64(b.Rows))
	for _, c := range columns {
		c.Release()
	}
	return rec
}

// wrapper turns columns of a batch into Arrow data.
type wrapper struct {
	rows  int
	zeros []byte // for columns that are null throughout
}

func (w *wrapper) column(c *column, t arrow.DataType) *array.Data {
	n, nulls := w.rows, c.nulls
	empty := c.n == 0 // null throughout, without buffers
	valid := wrap(c.valid)
	if empty && n > 0 {
		nulls = n
		valid = wrap(w.zero((n + 7) / 8))
	}
	fixed := func(values []byte, width int) *array.Data {
		if empty {
			values = w.zero(n * width)
		}
		return array.NewData(t, n, []*memory.Buffer{valid, wrap(values)}, nil, nulls, 0)
	}
	switch t := t.(type) {
	case *arrow.Float64Type:
		return fixed(arrow.Float64Traits.CastToBytes(c.floats), 8)
	case *arrow.BooleanType:
		if empty {
			return array.NewData(t, n, []*memory.Buffer{valid, wrap(w.zero((n + 7) / 8))}, nil, nulls, 0)
		}
		return array.NewData(t, n, []*memory.Buffer{valid, wrap(c.bits)}, nil, nulls, 0)
	case *arrow.DictionaryType:
		values := texts(c.values)
		defer values.Release()
		codes := arrow.Int32Traits.CastToBytes(c.codes)
		if empty {
			codes = w.zero(4 * n)
		}
		return array.NewDataWithDictionary(t, n, []*memory.Buffer{valid, wrap(codes)}, nulls, 0, values)
	case *arrow.StringType:
		return array.NewData(t, n, []*memory.Buffer{valid, wrap(w.offsets(c)), wrap(c.data)}, nil, nulls, 0)
	case *arrow.ListType:
		child := array.NewData(t.Elem(), len(c.ints), []*memory.Buffer{nil, wrap(arrow.Int64Traits.CastToBytes(c.ints))}, nil, 0, 0)
		defer child.Release()
		return array.NewData(t, n, []*memory.Buffer{valid, wrap(w.offsets(c))}, []arrow.ArrayData{child}, nulls, 0)
	default: // Int64 and Time
		return fixed(arrow.Int64Traits.CastToBytes(c.ints), 8)
	}
}

// offsets returns the column's offsets; Arrow wants one even for no rows.
func (w *wrapper) offsets(c *column) []byte {
	if len(c.offsets) == 0 {
		return w.zero(4 * (w.rows + 1))
	}
	return arrow.Int32Traits.CastToBytes(c.offsets)
}

// zero returns n zero bytes that every such column may share.
func (w *wrapper) zero(n int) []byte {
	if len(w.zeros) < n {
		w.zeros = make([]byte, max(n, 8*(w.rows+1)))
	}
	return w.zeros[:n]
}

// wrap returns a buffer over b, or nil for a nil bitmap: all valid.
func wrap[S ~[]byte](b S) *memory.Buffer {
	if b == nil {
		return nil
	}
	return memory.NewBufferBytes(b)
}

// texts returns the values of a dictionary as string data.
func texts(values []string) *array.Data {
	offsets := make([]int32, 1, len(values)+1)
	var data strings.Builder
	for _, v := range values {
		data.WriteString(v)
		offsets = append(offsets, int32(data.Len()))
	}
	buffers := []*memory.Buffer{nil, wrap(arrow.Int32Traits.CastToBytes(offsets)), wrap([]byte(data.String()))}
	return array.NewData(arrow.BinaryTypes.String, len(values), buffers, nil, 0, 0)
}
