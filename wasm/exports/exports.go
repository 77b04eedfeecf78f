// Package exports writes what a session holds as files: its report as JSON, CSV,
// Markdown or text, and its tables as Parquet, Arrow, CSV or JSON lines.
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
)

// reports are the forms of a report, by name of the file.
var reports = map[string]struct {
	mime  string
	write func(io.Writer, *report.Report) error
}{
	"report.json": {"application/json", render.JSON},
	"report.csv":  {"text/csv", render.CSV},
	"report.md":   {"text/plain", render.Markdown},
	"report.txt": {"text/plain", func(w io.Writer, r *report.Report) error {
		return render.Text(w, r, render.TextOptions{Width: 80})
	}},
}

// UnknownError reports a name of a file that no export has.
type UnknownError struct{ What string }

func (e *UnknownError) Error() string { return "there is no export " + e.What }

// Write writes the file what of a session and returns its type; the error is an
// *UnknownError if there is no such file. The query selects among requests, tokens
// and the figures of the summary and the reports; other tables are whole.
func Write(ctx context.Context, s *analyzer.Session, q *query.Query, what string, w io.Writer) (mime string, err error) {
	if form, ok := reports[what]; ok {
		r, err := s.Run(ctx, q)
		if err != nil {
			return "", err
		}
		return form.mime, form.write(w, r)
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
	t, out, mime, err := open(what, def, w)
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
	t, out, mime, err := open(what, nil, w)
	if err != nil {
		return "", err
	}
	t.Manifest = func() *manifest.Manifest { return s.Manifest(nil) } // no query selects among figures
	if err := out.Write(table.Summary(r)); err != nil {
		return "", err
	}
	return mime, out.Close()
}
