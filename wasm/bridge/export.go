package bridge

import (
	"bytes"
	"context"
	"io"

	"servescope/analyzer/render"
	"servescope/analyzer/report"
)

// file is the head of an answer whose body is a file.
type file struct {
	Type string `json:"type"`
	Name string `json:"name"`
	Mime string `json:"mime"`
}

// reports are the forms of a report that every engine writes, by name of the file.
var reports = map[string]struct {
	mime  string
	write func(io.Writer, *report.Report) error
}{
	"report.json": {"application/json", render.JSON},
	"report.csv":  {"text/csv", render.CSV},
}

// export writes a file: a report under the query, or what the face exports.
func (s *session) export(ctx context.Context, m message, more ExportFunc) (any, []byte, error) {
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
	if more != nil {
		mime, err := more(ctx, s.s, q, name, &out)
		if mime != "" || err != nil {
			return &file{"result", name, mime}, out.Bytes(), err
		}
	}
	return nil, nil, &failure{Code: usage, Flag: "what", Message: "there is no export " + name}
}
