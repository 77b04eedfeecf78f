// Package tables writes the files that other programs open: requests, tokens and
// steps as Parquet, Arrow, CSV or JSON lines. It is apart from package bridge
// because it is larger than all that the page needs at first, and it knows no
// session, so that the page's second module holds none of the first.
package tables

import (
	"errors"
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

// Writer writes batches of one table to a file.
type Writer interface {
	Write(b *trace.Batch) error
	Close() error // completes the file
}

// kind is a kind of file.
type kind struct {
	ext, mime string
	open      func(io.Writer, *table.Table) (Writer, error)
}

var kinds = []kind{
	{"parquet", "application/vnd.apache.parquet", func(w io.Writer, t *table.Table) (Writer, error) { return parquet.NewWriter(w, t), nil }},
	{"arrow", "application/vnd.apache.arrow.file", func(w io.Writer, t *table.Table) (Writer, error) {
		return arrow.NewWriter(w, t, arrow.Options{File: true}), nil
	}},
	{"arrows", "application/vnd.apache.arrow.stream", func(w io.Writer, t *table.Table) (Writer, error) {
		return arrow.NewWriter(w, t, arrow.Options{}), nil
	}},
	{"csv", "text/csv", func(w io.Writer, t *table.Table) (Writer, error) { return csv.NewWriter(w, t), nil }},
	{"jsonl", "application/jsonl", func(w io.Writer, t *table.Table) (Writer, error) { return jsonl.NewWriter(w, t), nil }},
}

// Open begins the file what, named TABLE.KIND, of a table with latencies under a
// definition set. It returns the table and the type of the file.
func Open(what string, def *metric.Definition, w io.Writer) (t *table.Table, out Writer, mime string, err error) {
	name, ext, _ := strings.Cut(what, ".")
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.ext == ext })
	if i < 0 {
		return nil, nil, "", errors.New("there is no kind of file " + ext)
	}
	opt := table.Options{Definition: def}
	switch name {
	case "requests":
		t = table.Requests(opt)
	case "tokens":
		t = table.Tokens()
	case "summary":
		t = table.Summaries()
	case "steps":
		t = table.Rows(trace.Steps, opt)
	case "collectives":
		t = table.Rows(trace.Collectives, opt)
	case "histograms":
		t = table.Rows(trace.Histograms, opt)
	case "reported":
		t = table.Rows(trace.ReportedTable, opt)
	default:
		return nil, nil, "", errors.New("there is no table " + name)
	}
	out, err = kinds[i].open(w, t)
	return t, out, kinds[i].mime, err
}
