// Package jsonl writes tables as JSON, one object per line and row.
package jsonl

import (
	"io"
	"strconv"
	"time"
	"unicode/utf8"

	"servescope/analyzer/render/table"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// flushSize is how many bytes are collected before they are written.
const flushSize = 1 << 16

// Writer writes one table. Every row has every column; what is unknown is null,
// a timestamp is RFC 3339 in UTC. Integers have all their digits, also those
// beyond 2^53. It is not safe for concurrent use.
type Writer struct {
	w     io.Writer
	table *table.Table
	keys  [][]byte // `"name":` with what parts it from the column before
	buf   []byte
	err   error
}

// NewWriter returns a writer of t to w.
func NewWriter(w io.Writer, t *table.Table) *Writer {
	out := &Writer{w: w, table: t}
	before := byte('{')
	for _, f := range t.Fields {
		out.keys = append(out.keys, append(appendString([]byte{before}, []byte(f.Name)), ':'))
		before = ','
	}
	return out
}

// Write adds the rows of b, a batch of the table's source.
func (w *Writer) Write(b *trace.Batch) error {
	if w.err != nil {
		return w.err
	}
	return w.table.Each(b, func(b *trace.Batch) error {
		for i := range b.Rows {
			for c, key := range w.keys {
				w.buf = append(w.buf, key...)
				w.buf = appendValue(w.buf, b, trace.Col(c), i)
			}
			w.buf = append(w.buf, "}\n"...)
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

// appendValue appends column c of row i, or null.
func appendValue(dst []byte, b *trace.Batch, c trace.Col, i int) []byte {
	if !b.Has(c) {
		return append(dst, "null"...)
	}
	switch f := &b.Table.Fields[c]; f.Type {
	case trace.Float64:
		if v, ok := b.Floats(c).At(i); ok {
			return strconv.AppendFloat(dst, v, 'g', -1, 64)
		}
	case trace.Bool:
		if v, ok := b.Bools(c).At(i); ok {
			return strconv.AppendBool(dst, v)
		}
	case trace.Text:
		if v, ok := b.Texts(c).At(i); ok {
			return appendString(dst, v)
		}
	case trace.Dict:
		if code, ok := b.Dicts(c).At(i); ok {
			return appendString(dst, []byte(b.Dicts(c).Values[code]))
		}
	case trace.List:
		if v, ok := b.Lists(c).At(i); ok {
			return appendList(dst, v)
		}
	case trace.Time:
		if v, ok := b.Ints(c).At(i); ok {
			return appendTime(dst, v, f.Unit)
		}
	default:
		if v, ok := b.Ints(c).At(i); ok {
			return strconv.AppendInt(dst, v, 10)
		}
	}
	return append(dst, "null"...)
}

func appendList(dst []byte, v []int64) []byte {
	dst = append(dst, '[')
	for i, x := range v {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, x, 10)
	}
	return append(dst, ']')
}

func appendTime(dst []byte, v int64, u unit.Unit) []byte {
	if u == unit.Nanosecond {
		return time.Unix(0, v).UTC().AppendFormat(dst, `"2006-01-02T15:04:05.000000000Z"`)
	}
	return time.UnixMicro(v).UTC().AppendFormat(dst, `"2006-01-02T15:04:05.000000Z"`)
}

// appendString appends s as a JSON string; invalid UTF-8 becomes U+FFFD.
func appendString(dst, s []byte) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ' || c == 0x7f:
			const hex = "0123456789abcdef"
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c < utf8.RuneSelf:
			dst = append(dst, c)
		default:
			r, n := utf8.DecodeRune(s[i:])
			dst = utf8.AppendRune(dst, r)
			i += n
			continue
		}
		i++
	}
	return append(dst, '"')
}
