package mapping

import (
	"bytes"
	"strings"

	"servescope/formats"
	"servescope/formats/internal/json"
	"servescope/formats/internal/records"
)

const (
	readSize  = 256 << 10 // bytes read at a time
	maxRecord = 8 << 20   // bytes of the longest record
	maxFields = 1000      // the largest number of columns
)

// outcome is the result of looking for a record.
type outcome uint8

const (
	ended     outcome = iota // the source has ended, or reading failed
	found                    // a record
	bad                      // text that is not a record was skipped
	truncated                // the source ends within a record
	long                     // a record that is too long was skipped
	other                    // a line that is not a record was skipped
)

// cell is one value of a record as it is written, without quotes and escapes.
type cell struct {
	raw  []byte
	kind formats.Kind
	set  bool
}

// record is one record, its cells by column. It is valid until the next is read.
type record struct {
	off    int64
	cells  []cell
	ragged bool // the row and the header differ in their number of cells
	last   bool // the source ends directly behind it, without a line end
}

// table reads records: rows of a columnar table, rows of delimited cells, JSON objects,
// or lines that hold pairs.
type table struct {
	typed       *typed
	flat        bool // records are rows, not objects: cells have places, and texts no escapes
	delim       byte
	comma       bool        // numbers have decimal commas: another delimiter separates cells
	spare       []byte      // numbers of the row, rewritten with a point
	cells       records.Row // of the last row
	header      bool        // the first row names the columns
	sepLine     bool        // the first line tells the delimiter
	prefaceRows int         // number of rows above the table: titles and comments
	names       []string    // of the columns; a member has the path a.b
	width       int         // if flat, the number of columns of the table itself; 0: not yet known
	frozen      bool        // no columns are added
	rec         record
	next        int  // the column that probably comes next
	within      bool // the cursor is within an array of objects
	parts       []partition
	mismatch    *partition // the partition that the record contradicts
	nesting
	document
	pairing
}

// field returns the index of a column, or -1. Unless the table is frozen it adds the
// column.
func (t *table) field(path []byte) int {
	for n := range t.names {
		k := t.next + n
		if k >= len(t.names) {
			k -= len(t.names)
		}
		if t.names[k] == string(path) {
			t.next = k + 1
			return k
		}
	}
	if t.frozen || len(t.names) >= maxFields {
		return -1
	}
	t.names = append(t.names, string(path))
	if t.lead > 0 {
		t.wraps = append(append(t.wraps, make([]int, len(t.names)-1-len(t.wraps))...), t.lead)
		t.inLine = t.inLine || isLine(lastName(path[:t.lead-1]))
	}
	t.rec.cells = append(t.rec.cells, cell{})
	t.next = len(t.names)
	return t.next - 1
}

// read reads the next record.
func (t *table) read(in *records.Input) outcome {
	t.rec.ragged, t.rec.last, t.next, t.over = false, false, 0, false
	t.resetTexts()
	if t.typed == nil {
		clear(t.rec.cells)
	}
	var res outcome
	switch {
	case t.typed != nil:
		res = t.typed.read(t)
	case t.flat:
		res = t.row(in)
	case t.lines:
		res = t.line(in)
	default:
		res = t.object(in)
	}
	if res == found && t.parts != nil && (!t.flat || t.width > 0) {
		t.setPartitions()
	}
	return res
}

// put sets a value by its path. A list of keys and values, as OpenTelemetry and BigQuery
// write a map, sets the members that the keys name.
func (t *table) put(path, raw []byte, kind formats.Kind) {
	if n := len(path); n > 6 && string(path[n-6:]) == "[].key" && kind == formats.String {
		t.paired = n - 6
		t.pair = append(append(append(t.pair[:0], path[:t.paired]...), '.'), json.Text(raw)...)
		return
	} else if t.paired > 0 && n >= t.paired+8 && string(path[:t.paired]) == string(t.pair[:t.paired]) && string(path[t.paired:][:8]) == "[].value" {
		if kind == formats.Null { // a member for values of another type
			return
		}
		path = t.pair
	}
	if k := t.field(path); k >= 0 {
		if kind == formats.String && bytes.IndexByte(raw, '\\') >= 0 {
			at := len(t.text)
			t.text = json.AppendText(t.text, raw, len(raw))
			raw = t.text[at:]
		}
		if t.rec.cells[k].set {
			t.repeated(k)
		}
		t.rec.cells[k] = cell{raw, kind, kind != formats.Null}
	}
}

// putPlain sets a text that has no escapes.
func (t *table) putPlain(name string, raw []byte) {
	for k := range t.names { // there are few names
		if t.names[k] == name {
			t.rec.cells[k] = cell{raw, formats.String, true}
			return
		}
	}
	if !t.frozen {
		if k := t.field([]byte(name)); k >= 0 {
			t.rec.cells[k] = cell{raw, formats.String, true}
		}
	}
}

// has reports whether the record has a value in a column.
func (t *table) has(name string) bool {
	for k := range t.names {
		if t.names[k] == name {
			return t.rec.cells[k].set
		}
	}
	return false
}

// repeated notes that the record has several values of a column.
func (t *table) repeated(k int) {
	if !strings.Contains(t.names[k], "[].") {
		return // of two members of one name the later counts
	}
	if t.over = true; t.learning {
		t.again = append(t.again, make([]bool, len(t.names)-len(t.again))...)
		t.again[k] = true
	}
}

// resetTexts forgets the texts of the record before.
func (t *table) resetTexts() {
	t.text, t.paired, t.found, t.torn = t.text[:0], -1, false, false
}

// textCell returns the cell of a text.
func textCell(raw []byte) cell {
	kind := formats.String
	if len(raw) > 0 && raw[0] == '[' {
		kind = formats.Array
	}
	return cell{raw, kind, !isNull(raw)}
}

// isNull reports whether a cell says that there is no value, as pandas, SQL databases and
// nginx write it.
func isNull(raw []byte) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "-", "null", "NULL", "None", "NaN", "nan", "NA", "N/A", "n/a", "Infinity", "-Infinity", "inf", `\N`, "<NA>", "NaT":
		return true
	}
	return false
}
