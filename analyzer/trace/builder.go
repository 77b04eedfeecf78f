package trace

import (
	"strings"
	"unicode/utf8"

	"servescope/analyzer/unit"
)

// MaxText is the maximum length of a text or dictionary value in bytes. Longer
// values are cut at a rune boundary, so that a megabyte sent as a request id
// does not grow memory.
const MaxText = 4096

// MaxTokenCount is the largest plausible number of tokens of a request or a
// chunk. It is a thousand times the longest context and beyond any 32-bit limit
// that a client may ask for; an int64 still holds the sum of 900 million such
// requests. Larger and negative counts become null.
const MaxTokenCount = 10_000_000_000

// Builder takes rows and hands out batches. For each row, set the columns that
// are known and call EndRow; a column that is not set is null and costs nothing.
// Setting a column twice in one row keeps the later value.
//
//	b := trace.NewBuilder(trace.Requests)
//	b.Text(trace.RequestID, id)
//	b.Int(trace.Sent, sent)
//	b.EndRow()
//	batch := b.Take(run, "requests.jsonl")
//
// A Builder is not safe for concurrent use.
type Builder struct {
	// Repaired counts texts that were cut at MaxText or held invalid UTF-8. A
	// dictionary value counts each time it is set.
	Repaired int64

	table           *Table
	rows            int
	implausible     Implausible
	implausibleRows []int // rows with implausible counts, ascending
	columns         []column
	out             []column // memory of the batch handed out last, reused
}

// NewBuilder returns an empty builder of rows of table t.
func NewBuilder(t *Table) *Builder {
	return &Builder{table: t, columns: make([]column, len(t.Fields)), out: make([]column, len(t.Fields))}
}

// Rows returns the number of rows ended since the last Take.
func (b *Builder) Rows() int { return b.rows }

// ListLen returns the number of values in list column c since the last Take.
// Formats use it to end a batch before its lists grow large.
func (b *Builder) ListLen(c Col) int { return len(b.columns[c].ints) }

// Int sets an Int64 column of the current row. A token count that is negative
// or exceeds MaxTokenCount becomes null and is counted in Batch.Implausible.
func (b *Builder) Int(c Col, v int64) {
	if uint64(v) > MaxTokenCount && b.isImplausible(c) {
		return
	}
	col := &b.columns[c]
	if col.n == b.rows {
		col.ints = append(col.ints, v)
		col.grow(b.rows)
		return
	}
	if col.n > b.rows { // set twice in this row
		col.ints[b.rows] = v
		return
	}
	col.ints = append(pad(col.ints, b.rows), v)
	col.grow(b.rows)
}

// Float sets a Float64 column of the current row. NaN and infinities become
// null.
func (b *Builder) Float(c Col, v float64) {
	if v-v != 0 {
		return
	}
	col := &b.columns[c]
	if col.n > b.rows {
		col.floats[b.rows] = v
		return
	}
	col.floats = append(pad(col.floats, b.rows), v)
	col.grow(b.rows)
}

// Bool sets a Bool column of the current row.
func (b *Builder) Bool(c Col, v bool) {
	col := &b.columns[c]
	for len(col.bits) <= b.rows>>3 {
		col.bits = append(col.bits, 0)
	}
	bit := byte(1) << (b.rows & 7)
	col.bits[b.rows>>3] &^= bit
	if v {
		col.bits[b.rows>>3] |= bit
	}
	if col.n <= b.rows {
		col.grow(b.rows)
	}
}

// Text sets a Text column of the current row. The bytes are copied, cut at
// MaxText, and made valid UTF-8.
func (b *Builder) Text(c Col, v []byte) {
	v = b.sane(v)
	col := &b.columns[c]
	if col.n > b.rows {
		col.data = append(col.data[:col.offsets[b.rows]], v...)
		col.offsets[b.rows+1] = int32(len(col.data))
		return
	}
	if len(col.offsets) == 0 {
		col.offsets = append(col.offsets, 0)
	}
	col.offsets = padOffsets(col.offsets, b.rows)
	col.data = append(col.data, v...)
	col.offsets = append(col.offsets, int32(len(col.data)))
	col.grow(b.rows)
}

// Dict sets a Dict column of the current row. The value is treated as in Text.
// If the field lists its Values, use Code instead.
func (b *Builder) Dict(c Col, v []byte) {
	col := &b.columns[c]
	code, ok := col.index[string(v)] // no allocation for known values
	if !ok {
		if col.index == nil {
			col.index = make(map[string]int32)
		}
		code = int32(len(col.values))
		before := b.Repaired
		col.values = append(col.values, strings.Clone(string(b.sane(v))))
		col.index[string(v)] = code
		col.repaired = col.repaired || b.Repaired > before
	} else if col.repaired && col.values[code] != string(v) {
		b.Repaired++ // each use counts, however the rows are cut into batches
	}
	b.setCode(col, code)
}

// Code sets a Dict column whose field lists its Values, by index.
func (b *Builder) Code(c Col, code int32) {
	col := &b.columns[c]
	if col.values == nil {
		col.values = b.table.Fields[c].Values
	}
	b.setCode(col, code)
}

func (b *Builder) setCode(col *column, code int32) {
	if col.n > b.rows {
		col.codes[b.rows] = code
		return
	}
	col.codes = append(pad(col.codes, b.rows), code)
	col.grow(b.rows)
}

// OpenList begins the list of column c in the current row and returns the slice
// to append to; CloseList takes the slice back. In between, no other call may
// touch column c. Hot scanners use this pair to append values without a call
// for each.
func (b *Builder) OpenList(c Col) []int64 {
	col := &b.columns[c]
	if len(col.offsets) == 0 {
		col.offsets = append(col.offsets, 0)
	}
	if col.n > b.rows { // set twice: the later list wins
		col.offsets = col.offsets[:b.rows+1]
		col.ints = col.ints[:col.offsets[b.rows]]
		return col.ints
	}
	col.offsets = padOffsets(col.offsets, b.rows)
	return col.ints
}

// CloseList ends the list that OpenList began. A list with a token count that
// is negative or exceeds MaxTokenCount becomes null and is counted in
// Batch.Implausible.
func (b *Builder) CloseList(c Col, values []int64) {
	col := &b.columns[c]
	if b.table.Fields[c].Unit == unit.Token && overflows(values[len(col.ints):]) {
		b.countImplausible()
		col.ints = values[:len(col.ints)]
		b.CancelList(c)
		return
	}
	col.ints = values
	col.offsets = append(col.offsets, int32(len(values)))
	if col.n <= b.rows {
		col.grow(b.rows)
	}
}

// CancelList discards the list that OpenList began and any earlier list of the
// row: the row's list is null.
func (b *Builder) CancelList(c Col) {
	switch col := &b.columns[c]; {
	case col.n > b.rows:
		col.truncate(b.rows, List)
	case col.n == 0:
		col.offsets = col.offsets[:0]
	}
}

// List sets a List column of the current row to a copy of values. A nil slice
// is an empty list, not null.
func (b *Builder) List(c Col, values []int64) {
	b.CloseList(c, append(b.OpenList(c), values...))
}

// Drop discards the columns set in the current row: the record turned out to be
// unusable.
func (b *Builder) Drop() {
	for i := range b.columns {
		if col := &b.columns[i]; col.n > b.rows {
			col.truncate(b.rows, b.table.Fields[i].Type)
		}
	}
}

// EndRow ends the current row.
func (b *Builder) EndRow() { b.rows++ }

// Take returns the rows ended so far as a batch and starts anew. The batch is
// valid until the next Take, which reuses its memory.
func (b *Builder) Take(run *RunMeta, file string) *Batch {
	b.Drop()
	for i := range b.columns {
		b.columns[i].finish(b.rows, b.table.Fields[i].Type)
	}
	out := &Batch{Table: b.table, Run: run, File: file, Rows: b.rows, columns: b.columns, from: b, Implausible: b.takeImplausible()}
	b.columns, b.out = b.out, b.columns
	for i := range b.columns {
		b.columns[i].reset()
	}
	b.rows = 0
	return out
}

// sane returns v cut at MaxText and with invalid UTF-8 replaced by U+FFFD.
func (b *Builder) sane(v []byte) []byte {
	// Nearly all texts are short and valid.
	if len(v) <= MaxText && utf8.Valid(v) {
		return v
	}
	b.Repaired++
	// Cut before a rune that would be split.
	if len(v) > MaxText {
		v = v[:MaxText]
		for i := 0; i < utf8.UTFMax && len(v) > 0 && !utf8.Valid(v[len(v)-min(len(v), utf8.UTFMax):]); i++ {
			if r, _ := utf8.DecodeLastRune(v); r != utf8.RuneError {
				break
			}
			v = v[:len(v)-1]
		}
	}
	return []byte(strings.ToValidUTF8(string(v), "\uFFFD"))
}

// ones returns a bitmap of n set bits.
func ones(n int) Bitmap {
	b := make(Bitmap, (n+7)>>3)
	for i := range b {
		b[i] = 0xff
	}
	if n&7 != 0 {
		b[len(b)-1] = 1<<(n&7) - 1
	}
	return b
}

// pad extends s with zero values to n entries.
func pad[S ~[]E, E any](s S, n int) S {
	var zero E
	for len(s) < n {
		s = append(s, zero)
	}
	return s
}

// padOffsets extends offsets with empty entries to n rows.
func padOffsets(s []int32, n int) []int32 {
	for len(s) <= n {
		s = append(s, s[len(s)-1])
	}
	return s
}
