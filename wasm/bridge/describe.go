package bridge

import (
	"slices"
	"strings"

	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// description is the head of the answer to describe.
type description struct {
	Type        string       `json:"type"`
	Formats     []named      `json:"formats"`
	Metrics     []measure    `json:"metrics"`
	Definitions []named      `json:"definitions"`
	Columns     []columnInfo `json:"columns"`
	Dimensions  []string     `json:"dimensions"`
	Filters     []string     `json:"filter_metrics"` // metrics of single requests that filters and objectives take
	Sessions    []held       `json:"sessions"`       // that are open, in order of their numbers
}

// held is a session that is open.
type held struct {
	Session string         `json:"session"`
	Inputs  []report.Input `json:"inputs"`
}

type named struct {
	Name  string `json:"name"`
	Title string `json:"title"`
}

type measure struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Kind    string `json:"kind"` // request, pooled or run: what there is one value per
	Unit    string `json:"unit"`
	Better  string `json:"better"`
	Formula string `json:"formula"`
	Doc     string `json:"doc"`
}

type columnInfo struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"`
	Unit   string   `json:"unit"`
	Stamp  bool     `json:"stamp"`
	Doc    string   `json:"doc"`
	Values []string `json:"values"`
}

var kinds = map[metric.Kind]string{metric.PerRequest: "request", metric.Pooled: "pooled", metric.PerRun: "run"}

var types = map[trace.Type]string{
	trace.Int64: "int64", trace.Float64: "float64", trace.Bool: "bool", trace.Text: "text", trace.Dict: "dict", trace.List: "list",
}

// describe lists what the registries hold, and the sessions.
func (e *Engine) describe() *description {
	d := &description{Type: "result", Dimensions: query.Dimensions, Filters: query.Metrics}
	for _, f := range e.opt.Set.All() {
		d.Formats = append(d.Formats, named{f.Name, f.Title})
	}
	for _, m := range metric.All() {
		d.Metrics = append(d.Metrics, measure{m.Name, m.Title, kinds[m.Kind], string(m.Unit), m.Better.String(), m.Formula, m.Doc})
	}
	for _, s := range metric.Definitions() {
		d.Definitions = append(d.Definitions, named{s.Name, s.Title})
	}
	for i := range trace.Requests.Fields {
		f := &trace.Requests.Fields[i]
		d.Columns = append(d.Columns, columnInfo{f.Name, types[f.Type], string(f.Unit), f.Stamp, f.Doc, f.Values})
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for number, s := range e.sessions {
		d.Sessions = append(d.Sessions, held{number, s.s.Inputs()})
	}
	slices.SortFunc(d.Sessions, func(a, b held) int { return strings.Compare(a.Session, b.Session) })
	return d
}
