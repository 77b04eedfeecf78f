// Package tables writes what a session holds as files that other programs open:
// its requests, tokens and steps as Parquet, Arrow, CSV or JSON lines, and its
// report as Markdown or text. It is apart from package bridge because it is larger
// than all that the page needs at first.
package tables

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"servescope/analyzer"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/render"
	"servescope/analyzer/render/arrow"
	"servescope/analyzer/render/csv"
	"servescope/analyzer/render/jsonl"
	"servescope/analyzer/render/parquet"
	"servescope/analyzer/render/table"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/trace/manifest"
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
	{"csv", "text/csv", func(w io.Writer, t *table.Table) (Writer, error) { return csv.NewWriter(w, t), nil }},
	{"jsonl", "application/jsonl", func(w io.Writer, t *table.Table) (Writer, error) { return jsonl.NewWriter(w, t), nil }},
}

// reports are the forms of a report.
var reports = map[string]func(io.Writer, *report.Report) error{
	"report.md": render.Markdown,
	"report.txt": func(w io.Writer, r *report.Report) error {
		return render.Text(w, r, render.TextOptions{Width: 80})
	},
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

// Export writes the file what of a session and returns its type. The query
// selects among requests, tokens and the figures of the summary and the reports;
// other tables are whole.
func Export(ctx context.Context, s *analyzer.Session, q *query.Query, what string, w io.Writer) (mime string, err error) {
	if form, ok := reports[what]; ok {
		r, err := s.Run(ctx, q)
		if err != nil {
			return "", err
		}
		return "text/plain", form(w, r)
	}
	def, err := metric.LookupDefinition(q.Definition)
	if err != nil {
		return "", err
	}
	t, out, mime, err := Open(what, def, w)
	if err != nil {
		return "", err
	}
	t.Manifest = func() *manifest.Manifest { return s.Manifest(q) } // so that it can be read back
	switch {
	case t.Name == "summary":
		var r *report.Report
		if r, err = s.Run(ctx, q); err == nil {
			err = out.Write(table.Summary(r))
		}
	case t.Source == trace.Requests:
		err = s.Rows(ctx, q, true, out.Write)
	default:
		err = s.Table(ctx, t.Source, out.Write)
	}
	if err != nil {
		return "", err
	}
	return mime, out.Close()
}
