// Package arrow writes exported tables as Arrow IPC streams and files.
//
// A stream (.arrows) may replace a column's dictionary from batch to batch: the
// batches are written as they are, without a copy. A file (.arrow, also known
// as Feather 2) has one dictionary per column, to be known before the first
// batch, and deltas to it are not read by Polars and not written by arrow-go:
// in a file such columns are plain texts.
//
// Bodies are not compressed, so that readers map them; compress the file, or
// use Parquet, to save space.
package arrow

import (
	"io"

	"servescope/analyzer/render/table"
	"servescope/analyzer/trace"
	"servescope/analyzer/trace/record"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Options says how a table is written.
type Options struct {
	File      bool             // the file format instead of a stream
	Allocator memory.Allocator // nil: the Go heap
}

// Writer writes one table. Batches are written as they arrive. It is not safe
// for concurrent use.
type Writer struct {
	w      io.Writer
	opt    Options
	table  *table.Table
	schema *arrow.Schema
	plain  *plain // nil: dictionaries stay
	out    interface {
		Write(arrow.RecordBatch) error
		Close() error
	} // nil before the first batch: the schema stands in front, with the table's manifest
}

// NewWriter returns a writer of t to w.
func NewWriter(w io.Writer, t *table.Table, opt Options) *Writer {
	if opt.Allocator == nil {
		opt.Allocator = memory.DefaultAllocator
	}
	return &Writer{w: w, opt: opt, table: t}
}

// begin writes the schema.
func (w *Writer) begin() (err error) {
	if w.out != nil {
		return nil
	}
	fields := w.table.Table
	if w.opt.File {
		w.plain = newPlain(fields)
		fields = w.plain.table
	}
	w.schema = schema(fields, w.table.Metadata())
	with := []ipc.Option{ipc.WithSchema(w.schema), ipc.WithAllocator(w.opt.Allocator)}
	if !w.opt.File {
		w.out = ipc.NewWriter(w.w, with...)
		return nil
	}
	file, err := ipc.NewFileWriter(w.w, with...)
	if err != nil {
		return err
	}
	w.out = file
	return nil
}

// schema returns the table's schema with the metadata of the file.
func schema(t *trace.Table, pairs [][2]string) *arrow.Schema {
	s := record.Schema(t)
	have := s.Metadata()
	keys, values := have.Keys(), have.Values()
	for _, p := range pairs {
		keys, values = append(keys, p[0]), append(values, p[1])
	}
	meta := arrow.NewMetadata(keys, values)
	return arrow.NewSchema(s.Fields(), &meta)
}

// Write adds the rows of b, a batch of the table's source.
func (w *Writer) Write(b *trace.Batch) error {
	if err := w.begin(); err != nil {
		return err
	}
	return w.table.Each(b, w.emit)
}

func (w *Writer) emit(b *trace.Batch) error {
	if b.Rows == 0 {
		return nil
	}
	if w.plain != nil {
		b = w.plain.convert(b)
	}
	rec := record.Of(b, w.schema)
	defer rec.Release()
	return w.out.Write(rec)
}

// Close ends the stream or writes the file's footer. It does not close the
// io.Writer.
func (w *Writer) Close() error {
	if err := w.begin(); err != nil {
		return err
	}
	return w.out.Close()
}

// plain turns dictionary columns into texts.
type plain struct {
	table   *trace.Table
	buffers []texts // by column
}

type texts struct {
	data    []byte
	offsets []int32
}

func newPlain(t *trace.Table) *plain {
	p := &plain{table: &trace.Table{Name: t.Name, Fields: append([]trace.Field(nil), t.Fields...)}}
	for i := range p.table.Fields {
		if p.table.Fields[i].Type == trace.Dict {
			p.table.Fields[i].Type = trace.Text
		}
	}
	p.buffers = make([]texts, len(t.Fields))
	return p
}

// convert returns b with texts for dictionaries; it is valid until the next call.
func (p *plain) convert(b *trace.Batch) *trace.Batch {
	out := trace.NewBatch(p.table, b.Run, b.File, b.Rows)
	for i := range p.table.Fields {
		c := trace.Col(i)
		if b.Table.Fields[i].Type != trace.Dict {
			out.Share(c, b, c)
			continue
		}
		if !b.Has(c) {
			continue
		}
		v, t := b.Dicts(c), &p.buffers[i]
		t.data, t.offsets = t.data[:0], append(t.offsets[:0], 0)
		for row := range b.Rows {
			if code, ok := v.At(row); ok {
				t.data = append(t.data, v.Values[code]...)
			}
			t.offsets = append(t.offsets, int32(len(t.data)))
		}
		out.SetTexts(c, trace.Texts{Data: t.data, Offsets: t.offsets, Valid: v.Valid})
	}
	return out
}
