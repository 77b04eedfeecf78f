package mapping

import (
	"bytes"

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
	comma  bool     // parts decimals: another delimiter parts cells
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

// object reads the next object: those of a file may stand on lines of their own,
// in an array, or behind each other.
func (t *table) object(in *records.Input) outcome {
	for enters := true; enters; {
		if res := t.between(in); res != found {
			return res
		}
		if t.rec.off = in.At(); in.Buf[in.I] != '{' {
			t.hurt = true
			in.SkipLine()
			return bad
		}
		if enters = t.base != "" && !t.open; enters {
			if res := t.enter(in); res != found {
				return res
			}
		}
	}
	for {
		next, ok := json.Walk(in.Buf, in.I, t.value)
		if ok {
			in.I = next
			return found
		}
		clear(t.rec.cells)
		t.next, t.over = 0, false
		t.fresh()
		whole := next < len(in.Buf)
		if !whole && len(in.Buf)-in.I < maxRecord && in.More() {
			continue
		}
		if in.Err != nil {
			return ended
		}
		if t.hurt = true; whole && t.within {
			in.SkipElement(next - in.I)
			return bad
		}
		in.SkipLine()
		switch {
		case whole:
			return bad
		case in.EOF && in.I >= len(in.Buf):
			t.open = false
			return truncated
		}
		return long
	}
}

// between goes over what stands between records; found: there is something behind it.
func (t *table) between(in *records.Input) outcome {
	for {
		for in.I < len(in.Buf) && bytes.IndexByte([]byte(" \t\r\n,[]\x1e"), in.Buf[in.I]) >= 0 {
			switch in.Buf[in.I] {
			case '[':
				t.within = true
			case ']':
				if t.within = in.Torn; t.open && !t.hurt {
					in.I++
					if !t.leave(in) {
						return truncated
					}
					continue
				}
			case '\n':
				in.Torn = false
			}
			in.I++
		}
		if in.I < len(in.Buf) {
			if !in.Torn || in.Buf[in.I] == '{' {
				return found
			}
			in.SkipElement(0)
			continue
		}
		if !in.More() {
			return t.cut(in)
		}
	}
}

// value takes a value of the object.
func (t *table) value(path, raw []byte, kind formats.Kind) {
	if t.base != "" {
		path = t.full(path)
	}
	t.put(path, raw, kind)
	if kind == formats.String && len(raw) > 1 && (t.learning || t.holders != nil) && t.holds(path) {
		t.inside(path, raw, true)
	}
}

// row reads the next row of a table with delimiters that is not blank.
func (t *table) row(in *records.Input) outcome {
	for {
		t.rec.off = in.At()
		n, next, res := t.split(in.Buf[in.I:], in.EOF)
		switch {
		case res == ended && len(in.Buf)-in.I < maxRecord && !in.EOF && in.Err == nil:
			in.More() // at the end, too, where the last row needs no line end
			t.spare = t.spare[:0]
			continue
		case in.Err != nil || in.I == len(in.Buf):
			return ended
		case res != found:
			in.SkipLine()
			if res == bad || in.I < len(in.Buf) {
				return bad
			}
			return truncated
		}
		t.rec.last = in.EOF && in.I+next == len(in.Buf) && in.Buf[len(in.Buf)-1] != '\n'
		in.I += next
		if n == 1 && len(bytes.TrimSpace(t.first())) == 0 {
			continue // blank
		}
		t.rec.ragged = t.width > 0 && n != t.width
		t.cellsInside(n)
		return found
	}
}

func (t *table) first() []byte {
	if len(t.rec.cells) == 0 {
		return nil
	}
	return t.rec.cells[0].raw
}

// split splits the row that b begins with and returns its number of cells and
// where the next begins; ended: it needs more bytes, bad: a quote is misplaced.
func (t *table) split(b []byte, eof bool) (n, next int, res outcome) {
	for i := 0; ; n++ {
		from, to := i, i
		var raw []byte
		if i < len(b) && b[i] == '"' {
			if raw, i = t.quoted(b, i+1); i < 0 {
				return n, 0, ended
			}
			if i == len(b) && !eof {
				return n, 0, ended
			}
			if i < len(b) && b[i] == '\r' && i+1 < len(b) {
				i++
			}
			if i < len(b) && b[i] != t.delim && b[i] != '\n' {
				return n, 0, bad
			}
		} else {
			for i < len(b) && b[i] != t.delim && b[i] != '\n' {
				i++
			}
			if i == len(b) && !eof {
				return n, 0, ended
			}
			if to = i; to > from && b[to-1] == '\r' && (i == len(b) || b[i] == '\n') {
				to--
			}
			raw = b[from:to]
		}
		t.cell(n, raw)
		if i == len(b) || b[i] == '\n' {
			return n + 1, min(i+1, len(b)), found
		}
		i++
	}
}

func (t *table) cell(n int, raw []byte) {
	if t.width > 0 && n >= t.width {
		return
	}
	if n >= len(t.rec.cells) {
		if n >= maxFields {
			return
		}
		t.rec.cells = append(t.rec.cells, cell{})
	}
	if t.comma {
		raw = t.point(raw)
	}
	t.rec.cells[n] = textCell(raw)
}

// textCell returns the cell that a text is.
func textCell(raw []byte) cell {
	kind := formats.String
	if len(raw) > 0 && raw[0] == '[' {
		kind = formats.Array
	}
	return cell{raw, kind, !isNull(raw)}
}

// quoted reads a quoted cell from behind its quote, and returns it and where it
// ends, -1: beyond b.
func (t *table) quoted(b []byte, i int) ([]byte, int) {
	from, own := i, -1
	for {
		k := bytes.IndexByte(b[i:], '"')
		if k < 0 {
			return nil, -1
		}
		i += k + 1
		if i >= len(b) || b[i] != '"' {
			break
		}
		if own < 0 {
			own = len(t.spare)
		}
		t.spare = append(t.spare, b[from:i]...)
		i++
		from = i
	}
	if own < 0 {
		return b[from : i-1], i
	}
	t.spare = append(t.spare, b[from:i-1]...)
	return t.spare[own:], i
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
