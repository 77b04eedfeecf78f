package exports

import (
	"io"
	"slices"
	"strings"

	"servescope/analyzer/metric"
	"servescope/analyzer/render/arrow"
	"servescope/analyzer/render/csv"
	"servescope/analyzer/render/jsonl"
	"servescope/analyzer/render/parquet"
	"servescope/analyzer/render/table"
	"servescope/analyzer/trace"
)

// writer writes batches of one table to a file.
type writer interface {
	Write(b *trace.Batch) error
	Close() error // completes the file
}

// kind is a kind of file.
type kind struct {
	ext, mime string
	open      func(io.Writer, *table.Table) writer
}

var kinds = []kind{
	{"parquet", "application/vnd.apache.parquet", func(w io.Writer, t *table.Table) writer { return parquet.NewWriter(w, t) }},
	{"arrow", "application/vnd.apache.arrow.file", func(w io.Writer, t *table.Table) writer {
		return arrow.NewWriter(w, t, arrow.Options{File: true})
	}},
	{"arrows", "application/vnd.apache.arrow.stream", func(w io.Writer, t *table.Table) writer {
		return arrow.NewWriter(w, t, arrow.Options{})
	}},
	{"csv", "text/csv", func(w io.Writer, t *table.Table) writer { return csv.NewWriter(w, t) }},
	{"jsonl", "application/jsonl", func(w io.Writer, t *table.Table) writer { return jsonl.NewWriter(w, t) }},
}

// open begins the file what, named TABLE.KIND, of a table with latencies under a
// definition set. It returns the table and the type of the file.
func open(what string, def *metric.Definition, w io.Writer) (t *table.Table, out writer, mime string, err error) {
	name, ext, _ := strings.Cut(what, ".")
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.ext == ext })
	t = tableOf(name, table.Options{Definition: def})
	if i < 0 || t == nil {
		return nil, nil, "", &UnknownError{what}
	}
	return t, kinds[i].open(w, t), kinds[i].mime, nil
}

// tableOf returns the table of a name, or nil.
func tableOf(name string, opt table.Options) *table.Table {
	switch name {
	case "requests":
		return table.Requests(opt)
	case "tokens":
		return table.Tokens()
	case "summary":
		return table.Summaries()
	case "steps":
		return table.Rows(trace.Steps, opt)
	case "collectives":
		return table.Rows(trace.Collectives, opt)
	case "histograms":
		return table.Rows(trace.Histograms, opt)
	case "reported":
		return table.Rows(trace.ReportedTable, opt)
	}
	return nil
}
