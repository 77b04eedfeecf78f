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
	table  *table.Table
	schema *arrow.Schema
	plain  *plain // nil: dictionaries stay
	out    interface {
		Write(arrow.RecordBatch) error
		Close() error
	}
}

// NewWriter returns a writer of t to w.
func NewWriter(w io.Writer, t *table.Table, opt Options) (*Writer, error) {
	out := &Writer{table: t, schema: schema(t.Table)}
	if opt.Allocator == nil {
		opt.Allocator = memory.DefaultAllocator
	}
	if !opt.File {
		out.out = ipc.NewWriter(w, ipc.WithSchema(out.schema), ipc.WithAllocator(opt.Allocator))
		return out, nil
	}
	out.plain = newPlain(t.Table)
	out.schema = schema(out.plain.table)
	file, err := ipc.NewFileWriter(w, ipc.WithSchema(out.schema), ipc.WithAllocator(opt.Allocator))
	out.out = file
	return out, err
}

// schema returns the table's schema with what pandas needs to keep integers.
func schema(t *trace.Table) *arrow.Schema {
	s := record.Schema(t)
	have := s.Metadata()
	meta := arrow.NewMetadata(append(have.Keys(), "pandas"), append(have.Values(), table.Pandas(t)))
	return arrow.NewSchema(s.Fields(), &meta)
}

// Write adds the rows of b, a batch of the table's source.
func (w *Writer) Write(b *trace.Batch) error {
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
func (w *Writer) Close() error { return w.out.Close() }

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
