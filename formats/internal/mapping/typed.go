package mapping

import (
	"bytes"
	"context"
	"strconv"
	"time"

	"servescope/formats"
	"servescope/formats/internal/column"
)

// typed turns rows of a columnar table into records. It writes each value as a text
// format would: numbers with all digits, times in ns.
type typed struct {
	ctx    context.Context
	from   column.Table
	fields []column.Field
	want   []int // indexes of the fields that are read
	row    int   // index of the next row in the batch
	rows   int   // number of rows in the batch
	buf    []byte
	err    error
}

// newTyped begins to read those columns of a table that are wanted and have a known type.
func newTyped(ctx context.Context, from column.Table, wanted func(i int) bool) *typed {
	s := &typed{ctx: ctx, from: from, fields: from.Fields()}
	want := make([]bool, len(s.fields))
	for i, f := range s.fields {
		if f.Kind != column.None && len(s.want) < maxFields && wanted(i) {
			want[i] = true
			s.want = append(s.want, i)
		}
	}
	from.Select(want)
	return s
}

// read reads the next row.
func (s *typed) read(t *table) outcome {
	for s.row == s.rows {
		if s.err = s.ctx.Err(); s.err != nil || !s.from.Next() {
			if s.err == nil {
				s.err = s.from.Err()
			}
			return ended
		}
		s.row, s.rows = 0, s.from.Batch().Rows
	}
	s.buf = s.buf[:0]
	b := s.from.Batch()
	t.rec.off = b.First + int64(s.row) + 1
	clear(t.rec.cells[t.width:])
	for _, i := range s.want {
		t.rec.cells[i] = cell{}
		c := &b.Columns[i]
		if c.Null || !c.Valid.Valid(s.row) {
			continue
		}
		at := len(s.buf)
		switch f := &s.fields[i]; f.Kind {
		case column.Text:
			s.text(c)
			t.rec.cells[i] = textCell(s.buf[at:])
		case column.Int:
			s.buf = f.AppendInt(s.buf, c.Ints[s.row])
			t.rec.cells[i] = cell{s.buf[at:], formats.Number, true}
		case column.Float:
			if v := c.Floats[s.row]; v-v == 0 {
				s.buf = f.AppendFloat(s.buf, v)
				t.rec.cells[i] = cell{s.buf[at:], formats.Number, true}
			}
		case column.Bool:
			s.buf = strconv.AppendBool(s.buf, c.Bits[s.row>>3]>>(s.row&7)&1 != 0)
			t.rec.cells[i] = cell{s.buf[at:], formats.Bool, true}
		default:
			s.list(f, c)
			t.rec.cells[i] = cell{s.buf[at:], formats.Array, true}
		}
	}
	s.row++
	t.cellsInside(t.width)
	return found
}

// text appends the text of a column in the row.
func (s *typed) text(c *column.Column) {
	if c.Codes != nil {
		s.buf = append(s.buf, c.Values[c.Codes[s.row]]...)
		return
	}
	s.buf = append(s.buf, c.Data[c.Offsets[s.row]:c.Offsets[s.row+1]]...)
}

// list appends the list of a column in the row.
func (s *typed) list(f *column.Field, c *column.Column) {
	s.buf = append(s.buf, '[')
	for k := c.Offsets[s.row]; k < c.Offsets[s.row+1]; k++ {
		if k > c.Offsets[s.row] {
			s.buf = append(s.buf, ',')
		}
		switch {
		case f.Kind == column.TextList && f.Number:
			s.buf = append(s.buf, c.Data[c.Spans[k]:c.Spans[k+1]]...)
		case f.Kind == column.TextList:
			s.buf = strconv.AppendQuote(s.buf, string(c.Data[c.Spans[k]:c.Spans[k+1]]))
		case f.Kind == column.IntList:
			s.buf = f.AppendInt(s.buf, c.Ints[k])
		case c.Floats[k]-c.Floats[k] == 0:
			s.buf = f.AppendFloat(s.buf, c.Floats[k])
		default:
			s.buf = append(s.buf, "null"...)
		}
	}
	s.buf = append(s.buf, ']')
}

// digitsOf returns the number of decimals of a second that times in ns have.
func digitsOf(raw []byte) int {
	return 9 - min(9, len(raw)-len(bytes.TrimRight(raw, "0")))
}

func stepName(ns int64) string {
	for u, name := range unitNames {
		if u := unit(u); u != noUnit && u != written && ns == stepOf(u) {
			return name
		}
	}
	return time.Duration(ns).String()
}

func stepOf(u unit) int64 {
	n := int64(1)
	for range u.scale() {
		n *= 10
	}
	return n
}
