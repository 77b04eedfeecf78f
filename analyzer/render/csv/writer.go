package csv

import (
	"io"
	"strconv"
	"time"

	"servescope/analyzer/render/table"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// flushSize is how many bytes are collected before they are written.
const flushSize = 1 << 16

// Writer writes one table. A null is nothing, an empty text is "", a list is a
// JSON array, a timestamp is RFC 3339 in UTC. Numbers have all their digits. It
// is not safe for concurrent use.
type Writer struct {
	w     io.Writer
	table *table.Table
	buf   []byte
	err   error
}

// NewWriter returns a writer of t to w.
func NewWriter(w io.Writer, t *table.Table) *Writer {
	out := &Writer{w: w, table: t}
	for i, f := range t.Fields {
		out.sep(i)
		out.buf = AppendText(out.buf, f.Name)
	}
	out.buf = append(out.buf, "\r\n"...)
	return out
}

// Write adds the rows of b, a batch of the table's source.
func (w *Writer) Write(b *trace.Batch) error {
	if w.err != nil {
		return w.err
	}
	return w.table.Each(b, func(b *trace.Batch) error {
		for i := range b.Rows {
			for c := range b.Table.Fields {
				w.sep(c)
				w.value(b, trace.Col(c), i)
			}
			w.buf = append(w.buf, "\r\n"...)
			if len(w.buf) >= flushSize {
				w.flush()
			}
		}
		return w.err
	})
}

// Close writes what is left. It does not close the io.Writer.
func (w *Writer) Close() error {
	w.flush()
	return w.err
}

func (w *Writer) flush() {
	if w.err == nil && len(w.buf) > 0 {
		_, w.err = w.w.Write(w.buf)
	}
	w.buf = w.buf[:0]
}

func (w *Writer) sep(column int) {
	if column > 0 {
		w.buf = append(w.buf, ',')
	}
}

func (w *Writer) value(b *trace.Batch, c trace.Col, i int) {
	if !b.Has(c) {
		return
	}
	switch f := &b.Table.Fields[c]; f.Type {
	case trace.Float64:
		if v, ok := b.Floats(c).At(i); ok {
			w.buf = strconv.AppendFloat(w.buf, v, 'g', -1, 64)
		}
	case trace.Bool:
		if v, ok := b.Bools(c).At(i); ok {
			w.buf = strconv.AppendBool(w.buf, v)
		}
	case trace.Text:
		if v, ok := b.Texts(c).At(i); ok {
			w.buf = AppendText(w.buf, string(v))
		}
	case trace.Dict:
		if code, ok := b.Dicts(c).At(i); ok {
			w.buf = AppendText(w.buf, b.Dicts(c).Values[code])
		}
	case trace.List:
		if v, ok := b.Lists(c).At(i); ok {
			w.list(v)
		}
	case trace.Time:
		if v, ok := b.Ints(c).At(i); ok {
			w.time(v, f.Unit)
		}
	default:
		if v, ok := b.Ints(c).At(i); ok {
			w.buf = strconv.AppendInt(w.buf, v, 10)
		}
	}
}

// list writes a JSON array, quoted where its commas would part fields.
func (w *Writer) list(v []int64) {
	if len(v) > 1 {
		w.buf = append(w.buf, '"')
	}
	w.buf = append(w.buf, '[')
	for i, x := range v {
		w.sep(i)
		w.buf = strconv.AppendInt(w.buf, x, 10)
	}
	w.buf = append(w.buf, ']')
	if len(v) > 1 {
		w.buf = append(w.buf, '"')
	}
}

func (w *Writer) time(v int64, u unit.Unit) {
	if u == unit.Nanosecond {
		w.buf = time.Unix(0, v).UTC().AppendFormat(w.buf, "2006-01-02T15:04:05.000000000Z")
		return
	}
	w.buf = time.UnixMicro(v).UTC().AppendFormat(w.buf, "2006-01-02T15:04:05.000000Z")
}
