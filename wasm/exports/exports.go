// Package exports writes what a session holds as files: the tables of package
// tables, and its report as Markdown or text. The engines that run natively link it.
package exports

import (
	"context"
	"io"
	"strings"

	"servescope/analyzer"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/render"
	"servescope/analyzer/render/table"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/trace/manifest"
	"servescope/wasm/tables"
)

// reports are the forms of a report.
var reports = map[string]func(io.Writer, *report.Report) error{
	"report.md": render.Markdown,
	"report.txt": func(w io.Writer, r *report.Report) error {
		return render.Text(w, r, render.TextOptions{Width: 80})
	},
}

// Write writes the file what of a session and returns its type. The query
// selects among requests, tokens and the figures of the summary and the reports;
// other tables are whole.
func Write(ctx context.Context, s *analyzer.Session, q *query.Query, what string, w io.Writer) (mime string, err error) {
	if form, ok := reports[what]; ok {
		r, err := s.Run(ctx, q)
		if err != nil {
			return "", err
		}
		return "text/plain", form(w, r)
	}
	if strings.HasPrefix(what, "summary.") {
		r, err := s.Run(ctx, q)
		if err != nil {
			return "", err
		}
		return Summary(s, r, what, w)
	}
	def, err := metric.LookupDefinition(q.Definition)
	if err != nil {
		return "", err
	}
	t, out, mime, err := tables.Open(what, def, w)
	if err != nil {
		return "", err
	}
	t.Manifest = func() *manifest.Manifest {
		if t.Source == trace.Requests {
			return s.Manifest(q)
		}
		return s.Manifest(nil) // no query selects among the others
	}
	if t.Source == trace.Requests {
		err = s.Rows(ctx, q, true, out.Write)
	} else {
		err = s.Table(ctx, t.Source, out.Write)
	}
	if err != nil {
		return "", err
	}
	return mime, out.Close()
}

// Summary writes the figures of a report of s as the file what and returns its type.
func Summary(s *analyzer.Session, r *report.Report, what string, w io.Writer) (mime string, err error) {
	t, out, mime, err := tables.Open(what, nil, w)
	if err != nil {
		return "", err
	}
	t.Manifest = func() *manifest.Manifest { return s.Manifest(nil) } // no query selects among figures
	if err := out.Write(table.Summary(r)); err != nil {
		return "", err
	}
	return mime, out.Close()
}
