package mapping

import (
	"bytes"
	"strings"

	"servescope/formats"
	"servescope/formats/internal/json"
	"servescope/formats/internal/records"
)

const (
	chunk     = 256 << 10 // bytes read at a time
	maxRecord = 8 << 20   // bytes of the longest record
	maxFields = 1000      // columns that are told apart
)

// outcome is what a look for a record has found.
type outcome uint8

const (
	ended     outcome = iota // the source, or reading failed
	found                    // a record
	bad                      // something that is no record, and was skipped
	truncated                // the beginning of a record
	long                     // a record that is too long, and was skipped
	other                    // a line that is no record, among lines that are
)

// cell is one value of a record, as it is written, strings without their quotes
// and escapes.
type cell struct {
	raw  []byte
	kind formats.Kind
	set  bool
}

// record is one record, its cells by field. It is valid until the next.
type record struct {
	off    int64
	cells  []cell
	ragged bool // another number of cells than the header has
	last   bool // the source ends directly behind it, without a line end
}

// table is where records come from: rows of a columnar table, rows of cells that a
// delimiter parts, or objects.
type table struct {
	typed  *typed
	flat   bool // cells are found by their place, and their texts have no escapes: no objects
	delim  byte
	header bool     // the first row names the columns
	told   bool     // a line in front of it tells the delimiter
	ahead  int      // rows in front of it that are a title or comments
	names  []string // of the columns; members of objects are joined by points
	width  int      // of rows of a table that is flat, in columns of its own; 0: not yet known
	frozen bool     // no further columns are added
	rec    record
	next   int  // the field that probably comes next
	within bool // an array of objects
	spare  []byte
	parts  []partition
	parted *partition // that the record disagrees with
	nesting
	document
	pairing
}

// field returns the index of a column, or -1.
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
		t.lined = t.lined || isLine(last(path[:t.lead-1]))
	}
	t.rec.cells = append(t.rec.cells, cell{})
	t.next = len(t.names)
	return t.next - 1
}

// read reads the next record.
func (t *table) read(in *records.Input) outcome {
	t.rec.ragged, t.rec.last, t.next, t.over = false, false, 0, false
	t.fresh()
	if t.typed == nil {
		t.spare = t.spare[:0]
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
		t.part()
	}
	return res
}

// put takes a value by its path. The values of a list of keys and values, as
// OpenTelemetry and BigQuery write a map, are those of members called by the keys.
func (t *table) put(path, raw []byte, kind formats.Kind) {
	if n := len(path); n > 6 && string(path[n-6:]) == "[].key" && kind == formats.String {
		t.paired = n - 6
		t.pair = append(append(append(t.pair[:0], path[:t.paired]...), '.'), json.Text(raw)...)
		return
	} else if t.paired > 0 && n >= t.paired+8 && string(path[:t.paired]) == string(t.pair[:t.paired]) && string(path[t.paired:][:8]) == "[].value" {
		if kind == formats.Null { // of one type among others
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

// plain takes a text that has no escapes.
func (t *table) plain(name string, raw []byte) {
	for k := range t.names { // few are wanted
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

// repeated notes that a column, which has a value in this record, gets another.
func (t *table) repeated(k int) {
	if !strings.Contains(t.names[k], "[].") {
		return // a name that comes twice: the later counts
	}
	if t.over = true; t.learning {
		t.again = append(t.again, make([]bool, len(t.names)-len(t.again))...)
		t.again[k] = true
	}
}

// fresh forgets what the record before held within texts.
func (t *table) fresh() {
	t.text, t.paired, t.found, t.torn = t.text[:0], -1, false, false
}

// textCell returns the cell that a text is.
func textCell(raw []byte) cell {
	kind := formats.String
	if len(raw) > 0 && raw[0] == '[' {
		kind = formats.Array
	}
	return cell{raw, kind, !isNull(raw)}
}

// isNull tells whether a cell says that there is no value, as pandas, SQL
// databases and nginx write it.
func isNull(raw []byte) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "-", "null", "NULL", "None", "NaN", "nan", "NA", "N/A", "n/a", "Infinity", "-Infinity", "inf", `\N`, "<NA>", "NaT":
		return true
	}
	return false
}
