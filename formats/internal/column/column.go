// Package column holds tables of files that are columnar already, Parquet and
// Arrow, as flat typed columns: what such a file says, before anything is known
// of what its columns mean. The formats parquet and arrow fill it from any file;
// package export makes rows of the model of those that servescope wrote.
package column

import (
	"runtime"

	"servescope/analyzer/trace"
)

// Most returns how many columns a file may have: fewer in a browser, whose memory
// is small.
func Most() int {
	if runtime.GOOS == "js" {
		return 1 << 14
	}
	return 1 << 17
}

// Kind is the type of a column's values.
type Kind uint8

// The kinds. None is a type that is not read: lists of lists or groups.
const (
	None Kind = iota
	Int
	Float
	Bool
	Text // plain, or as codes of a dictionary: a file may change from batch to batch
	IntList
	FloatList
	TextList
)

// Field describes a column.
type Field struct {
	Name string // members of groups are joined by dots; the levels of a list have no name
	Kind Kind

	// Step is the unit of a date, time of day, timestamp or duration in ns, and 0
	// for a plain number; Instant says that it counts from the Unix epoch, and UTC
	// that it does so in UTC and not in some local time.
	Step    int64
	Instant bool
	UTC     bool

	Scale    int  // Int: a decimal, the numbers are that many digits behind the point
	Unsigned bool // Int: the numbers are those of uint64 with the same bits
	Narrow   bool // Float: the numbers had 32 bits, or fewer
	Number   bool // Text, TextList: the texts are decimal numbers
	Object   bool // Text: the texts are objects of JSON, made of maps or of lists of keys and values
}

// Column is the values of one column in a batch. Null says that they are all
// null, or were not asked for: nothing else is set then. Else Valid tells which
// are not (nil: all), and there is an entry per row in the slice of the kind; it
// is undefined where null. The memory belongs to the reader.
type Column struct {
	Null   bool
	Valid  trace.Bitmap
	Ints   []int64      // Int, elements of IntList
	Floats []float64    // Float, elements of FloatList; may be NaN or infinite
	Bits   trace.Bitmap // Bool

	// Text: Codes of Values where Codes is not nil, else Data[Offsets[i]:Offsets[i+1]].
	// The texts may be invalid UTF-8. Lists: elements Offsets[i] to Offsets[i+1],
	// from 0; element k of a TextList is Data[Spans[k]:Spans[k+1]]. A list with a null
	// among its elements is null.
	Codes   []int32
	Values  []string
	Data    []byte
	Offsets []int32
	Spans   []int32

	// Elements tells which elements of a list are not null, where the list is one of
	// the keys or values of maps and nulls among these keep their place.
	Elements trace.Bitmap
}

// Batch is some rows of a table. It is valid until the next one.
type Batch struct {
	First   int64 // number of the first row in the file, from 0
	Rows    int
	Columns []Column // by field
}

// Damage is a part of a file that could not be read.
type Damage struct {
	Code   string // of the diagnostic
	Offset int64  // where it was found
	Rows   int64  // that are missing for it; 0: unknown
	Msg    string
}

// Table is a table that is being read. It is used by one goroutine.
type Table interface {
	// Fields describes the columns, in the order of the file.
	Fields() []Field
	// Meta returns a value of the file's metadata.
	Meta(key string) (string, bool)
	// Select says which columns are wanted, by field. It is called before Next.
	Select(want []bool)
	// Next reads the next batch. It returns false at the end, and where reading
	// failed (see Err). Damage of the content does not end a table for good: what
	// can be read behind it is.
	Next() bool
	Batch() *Batch
	Err() error
	Damage() []Damage
}
