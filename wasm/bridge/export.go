package bridge

import (
	"bytes"
	"context"
	"io"
	"strings"

	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/render"
	"servescope/analyzer/render/csv"
	"servescope/analyzer/render/jsonl"
	"servescope/analyzer/render/table"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// file is the head of an answer whose body is a file.
type file struct {
	Type string `json:"type"`
	Name string `json:"name"`
	Mime string `json:"mime"`
}

// reports are the forms of a report, by name of the file.
var reports = map[string]struct {
	mime  string
	write func(io.Writer, *report.Report) error
}{
	"report.json": {"application/json", render.JSON},
	"report.csv":  {"text/csv", render.CSV},
}

// texts are the kinds of files that every engine writes.
var texts = map[string]Writer{
	"csv":   func(w io.Writer, t *table.Table) (TableWriter, error) { return csv.NewWriter(w, t), nil },
	"jsonl": func(w io.Writer, t *table.Table) (TableWriter, error) { return jsonl.NewWriter(w, t), nil },
}

var mimes = map[string]string{"csv": "text/csv", "jsonl": "application/jsonl", "parquet": "application/vnd.apache.parquet"}

// export writes a file: a report, or a table as TABLE.KIND. The query selects
// among requests and tokens; the other tables are whole.
func (s *session) export(ctx context.Context, m message, more map[string]Writer) (any, []byte, error) {
	q, err := queryOf(m)
	if err != nil {
		return nil, nil, err
	}
	name := m.text("what")
	var out bytes.Buffer
	if form, ok := reports[name]; ok {
		r, err := s.s.Run(ctx, q)
		if err == nil {
			err = form.write(&out, r)
		}
		return &file{"result", name, form.mime}, out.Bytes(), err
	}
	of, kind, _ := strings.Cut(name, ".")
	open := texts[kind]
	if open == nil {
		open = more[kind]
	}
	if open == nil {
		return nil, nil, &failure{Code: usage, Flag: "what", Message: "there is no kind of file " + kind}
	}
	mime := mimes[kind]
	if mime == "" {
		mime = "application/octet-stream"
	}
	if err := s.table(ctx, q, of, &out, open); err != nil {
		return nil, nil, err
	}
	return &file{"result", name, mime}, out.Bytes(), nil
}

func (s *session) table(ctx context.Context, q *query.Query, name string, out io.Writer, open Writer) error {
	opt := table.Options{}
	var err error
	if opt.Definition, err = metric.LookupDefinition(q.Definition); err != nil {
		return err
	}
	var t *table.Table
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
		return &failure{Code: usage, Flag: "what", Message: "there is no table " + name}
	}
	w, err := open(out, t)
	if err != nil {
		return err
	}
	switch {
	case name == "summary":
		var r *report.Report
		if r, err = s.s.Run(ctx, q); err == nil {
			err = w.Write(table.Summary(r))
		}
	case t.Source == trace.Requests:
		err = s.s.Rows(ctx, q, true, w.Write)
	default:
		err = s.s.Table(ctx, t.Source, w.Write)
	}
	if err != nil {
		return err
	}
	return w.Close()
}
