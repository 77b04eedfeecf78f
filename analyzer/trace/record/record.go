// Package record wraps batches as Arrow records without copying. It is separate
// from package trace because a program that links Arrow's arrays links all
// their types.
package record

import (
	"strconv"
	"strings"

	"servescope/analyzer/trace"
	"servescope/analyzer/unit"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Schema returns the Arrow schema of a table. The metadata of each field holds
// its unit ("unit"), whether it is a point in time ("stamp"), and its meaning
// ("doc"). Every field is nullable.
func Schema(t *trace.Table) *arrow.Schema {
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
		fields[i] = arrow.Field{Name: f.Name, Type: dataType(f), Nullable: true, Metadata: arrow.NewMetadata(keys, values)}
	}
	meta := arrow.NewMetadata([]string{"table"}, []string{t.Name})
	return arrow.NewSchema(fields, &meta)
}

func dataType(f *trace.Field) arrow.DataType {
	switch f.Type {
	case trace.Int64:
		return arrow.PrimitiveTypes.Int64
	case trace.Float64:
		return arrow.PrimitiveTypes.Float64
	case trace.Bool:
		return arrow.FixedWidthTypes.Boolean
	case trace.Text:
		return arrow.BinaryTypes.String
	case trace.Dict:
		return &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	case trace.List:
		return arrow.ListOfField(arrow.Field{Name: "element", Type: arrow.PrimitiveTypes.Int64})
	case trace.Time:
		if f.Unit == unit.Nanosecond {
			return arrow.FixedWidthTypes.Timestamp_ns
		}
		return arrow.FixedWidthTypes.Timestamp_us
	}
	panic("record: unknown column type")
}

// Of wraps a batch as an Arrow record. The schema must be the one that Schema
// returns for the batch's table. Of copies only the texts of dictionaries: all
// other buffers are the batch's, so the record is valid as long as the batch
// is. Columns that are null throughout share one buffer of zeros.
func Of(b *trace.Batch, schema *arrow.Schema) arrow.RecordBatch {
	w := wrapper{batch: b}
	columns := make([]arrow.Array, len(b.Table.Fields))
	for i := range columns {
		data := w.column(trace.Col(i), schema.Field(i).Type)
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
	batch *trace.Batch
	zeros []byte // for columns that are null throughout
}

func (w *wrapper) column(c trace.Col, t arrow.DataType) *array.Data {
	b, n := w.batch, w.batch.Rows
	bitmap, some := b.Validity(c)
	valid := wrap(bitmap)
	if !some && n > 0 {
		valid = wrap(w.zero((n + 7) / 8))
	}
	data := func(buffers ...*memory.Buffer) *array.Data {
		return array.NewData(t, n, append([]*memory.Buffer{valid}, buffers...), nil, b.Nulls(c), 0)
	}
	switch t := t.(type) {
	case *arrow.Float64Type:
		return data(w.fixed(arrow.Float64Traits.CastToBytes(b.Floats(c).Values), 8*n))
	case *arrow.BooleanType:
		return data(w.fixed(b.Bools(c).Values, (n+7)/8))
	case *arrow.DictionaryType:
		view := b.Dicts(c)
		values := texts(view.Values)
		defer values.Release()
		codes := w.fixed(arrow.Int32Traits.CastToBytes(view.Codes), 4*n)
		return array.NewDataWithDictionary(t, n, []*memory.Buffer{valid, codes}, b.Nulls(c), 0, values)
	case *arrow.StringType:
		view := b.Texts(c)
		return data(w.offsets(view.Offsets), wrap(view.Data))
	case *arrow.ListType:
		view := b.Lists(c)
		child := array.NewData(t.Elem(), len(view.Values), []*memory.Buffer{nil, wrap(arrow.Int64Traits.CastToBytes(view.Values))}, nil, 0, 0)
		defer child.Release()
		return array.NewData(t, n, []*memory.Buffer{valid, w.offsets(view.Offsets)}, []arrow.ArrayData{child}, b.Nulls(c), 0)
	default: // Int64 and Time
		return data(w.fixed(arrow.Int64Traits.CastToBytes(b.Ints(c).Values), 8*n))
	}
}

// fixed returns a buffer over values, or over n zero bytes if the column has no
// values.
func (w *wrapper) fixed(values []byte, n int) *memory.Buffer {
	if len(values) == 0 {
		values = w.zero(n)
	}
	return wrap(values)
}

// offsets returns a buffer over the offsets of a column. Arrow wants offsets
// even for a column without rows.
func (w *wrapper) offsets(values []int32) *memory.Buffer {
	return w.fixed(arrow.Int32Traits.CastToBytes(values), 4*(w.batch.Rows+1))
}

// zero returns n zero bytes. All columns that need zeros share them.
func (w *wrapper) zero(n int) []byte {
	if len(w.zeros) < n {
		w.zeros = make([]byte, max(n, 8*(w.batch.Rows+1)))
	}
	return w.zeros[:n]
}

// wrap returns a buffer over b, or nil if b is nil.
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
