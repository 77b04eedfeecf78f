// Package parquet writes exported tables as Parquet files that every common
// reader opens.
//
// The pages are put together here, with the encoders, the compressor and the
// metadata structs of parquet-go. Its own writers take rows or values one by
// one; our columns are slices already, mostly of nanoseconds, and are encoded as
// such: 28 instead of 102 ns per row of the tokens table, 6 per token of a list
// (see the benchmarks), and a column that is null throughout costs a few bytes
// per row group.
//
// Layout, chosen for the widest support:
//
//   - data pages V1 of about a megabyte, row groups of at most 2^20 rows or of
//     32 MiB of values, which also bounds the writer's memory;
//   - INT64 and timestamps DELTA_BINARY_PACKED, texts of few values
//     RLE_DICTIONARY, the rest PLAIN;
//   - zstd where it saves a tenth, for stamps in nanoseconds hold noise that
//     costs time and does not shrink;
//   - statistics (null count, and min and max of integers and doubles) per
//     column chunk; no NaN is ever among the values.
package parquet

import (
	"encoding/binary"
	"encoding/json"
	"io"

	"servescope/analyzer/render/table"
	"servescope/analyzer/trace"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	magic         = "PAR1"
	maxGroupRows  = 1 << 20
	maxGroupBytes = 32 << 20 // before they are encoded
)

// Writer writes one table to one file. Batches are encoded as they arrive. It is
// not safe for concurrent use.
type Writer struct {
	w      io.Writer
	table  *table.Table
	work   *work
	chunks []chunk
	rows   int64 // in the row group
	meta   format.FileMetaData
	offset int64
	err    error
}

// NewWriter returns a writer of t to w that does all its work in Write and Close.
func NewWriter(w io.Writer, t *table.Table) *Writer { return NewParallel(w, t, 1) }

// NewParallel returns a writer of t to w that encodes pages on so many goroutines.
// The bytes are the same for any number.
func NewParallel(w io.Writer, t *table.Table, workers int) *Writer {
	out := &Writer{w: w, table: t, work: newWork(workers), chunks: make([]chunk, len(t.Fields))}
	for i := range out.chunks {
		out.chunks[i].init(&t.Fields[i], out.work)
	}
	out.meta = format.FileMetaData{Version: 2, Schema: schema(t.Table), CreatedBy: "servescope version 1"}
	for range t.Fields {
		out.meta.ColumnOrders = append(out.meta.ColumnOrders, format.ColumnOrder{Value: &format.TypeDefinedOrder{}})
	}
	out.write([]byte(magic))
	return out
}

// fields describes the columns as JSON: unit, whether it is a stamp, meaning.
func fields(t *trace.Table) string {
	type field struct {
		Name  string `json:"name"`
		Unit  string `json:"unit,omitempty"`
		Stamp bool   `json:"stamp,omitempty"`
		Doc   string `json:"doc"`
	}
	var all []field
	for _, f := range t.Fields {
		all = append(all, field{f.Name, string(f.Unit), f.Stamp, f.Doc})
	}
	out, _ := json.Marshal(all) // texts and flags cannot fail
	return string(out)
}

// Write adds the rows of b, a batch of the table's source.
func (w *Writer) Write(b *trace.Batch) error {
	if w.err != nil {
		return w.err
	}
	return w.table.Each(b, func(b *trace.Batch) error {
		for from := 0; from < b.Rows; {
			to := min(b.Rows, from+int(maxGroupRows-w.rows))
			size := 0
			for i := range w.chunks {
				w.chunks[i].add(b, trace.Col(i), from, to)
				size += w.chunks[i].size()
			}
			w.rows += int64(to - from)
			if w.rows == maxGroupRows || size >= maxGroupBytes {
				w.flush()
			}
			from = to
		}
		return w.err
	})
}

// Close writes what is left and the footer. It does not close the io.Writer.
func (w *Writer) Close() error {
	if w.rows > 0 {
		w.flush()
	}
	w.meta.KeyValueMetadata = thrift.Slice[format.KeyValue]{{Key: "servescope.fields", Value: fields(w.table.Table)}}
	for _, pair := range w.table.Metadata() {
		w.meta.KeyValueMetadata = append(w.meta.KeyValueMetadata, format.KeyValue{Key: pair[0], Value: pair[1]})
	}
	footer, err := thrift.Marshal(&thrift.CompactProtocol{}, &w.meta)
	if err != nil {
		return err
	}
	w.write(footer)
	w.write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))), magic...))
	return w.err
}

// flush writes the row group.
func (w *Writer) flush() {
	group := format.RowGroup{NumRows: w.rows, FileOffset: w.offset, Ordinal: int16(len(w.meta.RowGroups))}
	for i := range w.chunks {
		w.chunks[i].endPage()
	}
	w.work.wait()
	for i := range w.chunks {
		c := &w.chunks[i]
		meta, parts := c.finish(w.offset)
		for _, part := range parts {
			w.write(part)
		}
		group.Columns = append(group.Columns, format.ColumnChunk{MetaData: meta})
		group.TotalByteSize += meta.TotalUncompressedSize
		group.TotalCompressedSize += meta.TotalCompressedSize
		c.reset()
	}
	w.meta.RowGroups = append(w.meta.RowGroups, group)
	w.meta.NumRows += w.rows
	w.rows = 0
}

func (w *Writer) write(b []byte) {
	if w.err == nil {
		_, w.err = w.w.Write(b)
		w.offset += int64(len(b))
	}
}
