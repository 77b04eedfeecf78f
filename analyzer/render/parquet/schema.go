package parquet

import (
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// schema returns the table's schema, depth first: every column is optional, a
// list is the standard group of three levels whose elements are required.
func schema(t *trace.Table) thrift.Slice[format.SchemaElement] {
	out := thrift.Slice[format.SchemaElement]{{Name: t.Name, NumChildren: some(int32(len(t.Fields)))}}
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Type != trace.List {
			out = append(out, leaf(f.Name, format.Optional, f))
			continue
		}
		out = append(out,
			format.SchemaElement{Name: f.Name, RepetitionType: some(format.Optional), NumChildren: some(int32(1)),
				ConvertedType: some(deprecated.List), LogicalType: format.LogicalType{Value: &format.ListType{}}},
			format.SchemaElement{Name: "list", RepetitionType: some(format.Repeated), NumChildren: some(int32(1))},
			leaf("element", format.Required, f))
	}
	return out
}

func leaf(name string, repetition format.FieldRepetitionType, f *trace.Field) format.SchemaElement {
	e := format.SchemaElement{Name: name, RepetitionType: some(repetition), Type: some(physical(f))}
	switch f.Type {
	case trace.Text, trace.Dict:
		e.ConvertedType = some(deprecated.UTF8)
		e.LogicalType.Value = &format.StringType{}
	case trace.Time:
		stamp := &format.TimestampType{IsAdjustedToUTC: true, Unit: format.TimeUnit{Value: &format.NanoSeconds{}}}
		if f.Unit == unit.Microsecond {
			stamp.Unit.Value = &format.MicroSeconds{}
			e.ConvertedType = some(deprecated.TimestampMicros)
		}
		e.LogicalType.Value = stamp
	}
	return e
}

func physical(f *trace.Field) format.Type {
	switch f.Type {
	case trace.Float64:
		return format.Double
	case trace.Bool:
		return format.Boolean
	case trace.Text, trace.Dict:
		return format.ByteArray
	}
	return format.Int64
}

// path returns the place of the column's leaf in the schema.
func path(f *trace.Field) thrift.Slice[string] {
	if f.Type == trace.List {
		return thrift.Slice[string]{f.Name, "list", "element"}
	}
	return thrift.Slice[string]{f.Name}
}

func some[T any](v T) thrift.Null[T] { return thrift.Null[T]{V: v, Valid: true} }
