package endpoint

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"servescope/analyzer"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/render"
	"servescope/analyzer/report"
	"servescope/wasm/exports"
)

// form is a form of an answer.
type form[T any] struct {
	mime  string
	write func(io.Writer, T) error
}

// analysis is a report, and the session that it is of.
type analysis struct {
	session *analyzer.Session
	report  *report.Report
}

var reportForms = []form[analysis]{
	{"application/json", printed(render.JSON)},
	{"text/markdown", printed(render.Markdown)},
	{"text/csv", printed(render.CSV)},
	{"text/plain", printed(func(w io.Writer, r *report.Report) error { return render.Text(w, r, render.TextOptions{}) })},
	{"application/vnd.apache.arrow.stream", tabled("summary.arrows")},
	{"application/vnd.apache.arrow.file", tabled("summary.arrow")},
	{"application/vnd.apache.parquet", tabled("summary.parquet")},
}

func printed(write func(io.Writer, *report.Report) error) func(io.Writer, analysis) error {
	return func(w io.Writer, a analysis) error { return write(w, a.report) }
}

// tabled writes the table of figures that servescope convert --table summary does.
func tabled(what string) func(io.Writer, analysis) error {
	return func(w io.Writer, a analysis) error {
		_, err := exports.Summary(a.session, a.report, what, w)
		return err
	}
}

// choose returns the form with the highest quality in Accept (RFC 9110 §12.5.1);
// of several, the first of all.
func choose[T any](r *http.Request, all []form[T]) (*form[T], error) {
	accept := r.Header.Values("Accept")
	if len(accept) == 0 {
		return &all[0], nil
	}
	var best *form[T]
	most := 0.0
	for i := range all {
		quality, precision := 0.0, 0
		for _, part := range strings.Split(strings.Join(accept, ","), ",") {
			media, params, _ := strings.Cut(part, ";")
			media = strings.ToLower(strings.TrimSpace(media))
			major, _, _ := strings.Cut(all[i].mime, "/")
			p := map[string]int{all[i].mime: 3, major + "/*": 2, "*/*": 1}[media]
			if p <= precision {
				continue
			}
			precision, quality = p, 1
			if _, q, ok := strings.Cut(strings.ReplaceAll(params, " ", ""), "q="); ok {
				quality, _ = strconv.ParseFloat(strings.Split(q, ";")[0], 64)
			}
		}
		if quality > most {
			best, most = &all[i], quality
		}
	}
	if best == nil {
		var names []string
		for _, f := range all {
			names = append(names, f.mime)
		}
		return nil, &problem{Status: http.StatusNotAcceptable, Detail: "the answer can be " + strings.Join(names, ", ")}
	}
	return best, nil
}

func (e *endpoint) analyze(w http.ResponseWriter, r *http.Request) error {
	f, err := choose(r, reportForms)
	if err != nil {
		return err
	}
	v, err := parameters(r, "slo", "by", "window", "percentiles", "replicas")
	if err != nil {
		return err
	}
	q, err := queryOf(v)
	if err != nil {
		return err
	}
	in, err := e.receive(r)
	if err != nil {
		return err
	}
	if in.baseline != nil {
		return &problem{Status: http.StatusBadRequest, Detail: "a report has no baseline", Hint: "post it to /v1/gate"}
	}
	s, ctx, err := e.session(r, &in.log)
	if err != nil {
		return err
	}
	defer s.Close()
	rep, err := s.Run(ctx, q)
	if err != nil {
		return cause(ctx, err)
	}
	if err := s.Empty(); err != nil {
		return nothing(err, s.Diags())
	}
	return send(w, http.StatusOK, f, analysis{s, rep})
}

// send answers v in a form.
func send[T any](w http.ResponseWriter, status int, f *form[T], v T) error {
	var b bytes.Buffer
	if err := f.write(&b, v); err != nil {
		return err
	}
	mime := f.mime
	if strings.HasPrefix(mime, "text/") {
		mime += "; charset=utf-8"
	}
	answer(w, status, mime, b.Bytes())
	return nil
}

// parameters returns the parameters, which are those of every question and more:
// one that is misspelt would ask something else.
func parameters(r *http.Request, more ...string) (url.Values, error) {
	v, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, &problem{Status: http.StatusBadRequest, Detail: "the query cannot be read"}
	}
	known := append([]string{"format", "map", "definition", "filter", "from", "to", "trim", "aborts"}, more...)
	for name, values := range v {
		found := false
		for _, k := range known {
			found = found || k == name
		}
		if !found {
			return nil, &problem{Status: http.StatusBadRequest, Detail: fmt.Sprintf("unknown parameter %.40q", name), Hint: query.Suggest(name, known)}
		}
		if len(values) > 1 {
			return nil, &problem{Status: http.StatusBadRequest, Detail: "give " + name + " once"}
		}
	}
	return v, nil
}

func queryOf(v url.Values) (*query.Query, error) {
	q, err := query.Parse(v.Get)
	if err != nil {
		return nil, err
	}
	if _, err := metric.LookupDefinition(q.Definition); err != nil {
		return nil, &query.Error{Flag: "--definition", Msg: err.Error()}
	}
	return q, nil
}
