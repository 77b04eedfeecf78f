// Package trace is the data model: the tables that every log becomes.
//
// A format adds rows through a Builder and hands out Batches. Kernels read
// Batches through typed column views. Exports wrap the same memory as Arrow
// without copying. Stamps, gaps and durations are int64 nanoseconds; counts are
// int64. An unknown value is null, never 0 or -1. All stamps of a row belong to
// the row's one clock (see Clock).
package trace

import "servescope/analyzer/unit"

// Type is the physical type of a column. The public schema uses only INT64,
// DOUBLE, UTF8, BOOL, LIST<INT64> and dictionary-encoded UTF8, because every
// reader of Parquet and Arrow understands them.
type Type uint8

// The column types.
const (
	Int64 Type = iota
	Float64
	Bool
	Text // plain UTF-8: a different value in nearly every row
	Dict // dictionary-encoded UTF-8: few different values
	List // LIST<INT64>
	Time // TIMESTAMP in UTC: int64 since the Unix epoch in the field's unit; exported tables only
)

// Field describes one column. Stamp marks a point in time on the row's clock,
// in ns since the clock's origin; every other ns column is a duration. Values,
// if not nil, lists all values of a Dict column in code order.
type Field struct {
	Name   string
	Type   Type
	Unit   unit.Unit
	Stamp  bool
	Doc    string
	Values []string
}

// Table is a named list of fields. A Col indexes Fields.
type Table struct {
	Name   string
	Fields []Field
}

// Col is the index of a column in its table. Each table has its own constants;
// do not use them with other tables.
type Col int

// Lookup returns the column with the given name.
func (t *Table) Lookup(name string) (Col, bool) {
	for i := range t.Fields {
		if t.Fields[i].Name == name {
			return Col(i), true
		}
	}
	return 0, false
}
