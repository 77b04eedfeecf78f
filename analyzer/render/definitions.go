package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"servescope/analyzer/render/csv"
	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// DefinitionsJSON writes definitions side by side as indented JSON.
func DefinitionsJSON(w io.Writer, d *report.Definitions) error {
	compact, err := d.MarshalJSON()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, compact, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err = b.WriteTo(w)
	return err
}

// DefinitionsCSV writes them as CSV (RFC 4180): a row per run, metric and set,
// values in base units. A null has an empty value and a reason.
func DefinitionsCSV(w io.Writer, d *report.Definitions) error {
	row := []byte("run,metric,unit,definition,name,n,mean,p50,p99,reason,equal,formula,filled,differs,notes\r\n")
	if _, err := w.Write(row); err != nil {
		return err
	}
	for i := range d.Runs {
		for _, m := range d.Runs[i].Metrics {
			for j := range m.Rows {
				if _, err := w.Write(appendDefined(row[:0], d.Runs[i].Label, &m, &m.Rows[j])); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func appendDefined(row []byte, run string, m *report.DefinedMetric, r *report.DefinedRow) []byte {
	row = csv.AppendText(row, run)
	for _, s := range []string{m.Metric, string(m.Unit), r.Definition, r.Name} {
		row = csv.AppendText(append(row, ','), s)
	}
	row = append(row, ',')
	if r.N > 0 {
		row = strconv.AppendInt(row, r.N, 10)
	}
	for _, v := range []report.Value{r.Value, r.P50, r.P99} {
		row = appendNumber(append(row, ','), v)
	}
	for _, s := range []string{r.Value.Reason, strconv.FormatBool(r.Equal), r.Formula, r.Filled, strings.Join(r.Differs, "; "), strings.Join(r.Notes, "; ")} {
		row = csv.AppendText(append(row, ','), s)
	}
	return append(row, "\r\n"...)
}

// DefinitionsText writes definitions side by side for people.
func DefinitionsText(w io.Writer, d *report.Definitions, opt TextOptions) error {
	if opt.Width <= 0 {
		opt.Width = 80
	}
	t := textWriter{opt: opt}
	t.document(buildDefinitions(d, false))
	_, err := t.buf.WriteTo(w)
	return err
}

// DefinitionsMarkdown writes them as GitHub-flavoured Markdown.
func DefinitionsMarkdown(w io.Writer, d *report.Definitions) error {
	var m markdownWriter
	m.document(buildDefinitions(d, true))
	_, err := m.buf.WriteTo(w)
	return err
}

// buildDefinitions returns the document: a section per run and metric, with a
// line per set, or a table.
func buildDefinitions(d *report.Definitions, table bool) *document {
	b := builder{&document{}, &report.Report{Query: d.Query}}
	for i := range d.Runs {
		r := &d.Runs[i]
		name := foreign(r.Label)
		if r.Format != "" {
			name = append(name, span{text: " (" + r.Format + ")"})
		}
		b.head = append(b.head, pair{key: "run", value: name}, pair{key: "requests", value: own("%s", requests(r.Requests))})
		var missing byReason
		for j := range r.Metrics {
			m := &r.Metrics[j]
			if why, none := unknown(m); none {
				missing.add(why, m.Metric)
				continue
			}
			s := section{title: m.Metric, lead: "(" + m.Title + ")"}
			if len(d.Runs) > 1 {
				s.lead += " of " + r.Label
			}
			if table {
				s.grid = definedGrid(m)
			} else {
				s.lines = definedLines(m)
			}
			b.sections = append(b.sections, s)
		}
		if lines := missing.lines(); len(lines) > 0 {
			b.sections = append(b.sections, section{title: "under every set", lines: lines})
		}
	}
	if len(d.Runs) == 0 {
		b.head = append(b.head, pair{key: "runs", value: own("none: no input holds a run"), alert: true})
	}
	b.foot = append(b.foot, pair{key: "sets", value: own("servescope define NAME explains a set; ours is default")})
	return b.document
}

// unknown reports whether a metric is null under every set for one reason.
func unknown(m *report.DefinedMetric) (reason string, none bool) {
	for i := range m.Rows {
		v := m.Rows[i].Value
		if v.Known || i > 0 && v.Reason != reason {
			return "", false
		}
		reason = v.Reason
	}
	return reason, len(m.Rows) > 0
}

// figure prints the value of a row, or a dash for a missing value.
func figure(r *report.DefinedRow) string {
	v, ok := r.Value.Float()
	if !ok {
		return "—"
	}
	return unit.Format(r.Value.Unit, v)
}

// account says how the value came about, and why it is not ours.
func account(r *report.DefinedRow) string {
	s := r.Filled
	if r.Name != "" && s != "" {
		s = "\"" + r.Name + "\": " + s
	}
	if !r.Value.Known {
		return reason(r.Value.Reason)
	}
	return strings.Join(nonEmpty(s, verdict(r)), "; ")
}

// verdict says how a figure stands to ours, and what else there is to know.
func verdict(r *report.DefinedRow) string {
	if !r.Value.Known {
		return "no value: " + reason(r.Value.Reason)
	}
	list := r.Differs
	switch {
	case r.Definition == "default":
		list = nil
	case r.Equal:
		list = []string{"equals ours"}
	case len(list) == 0:
		list = []string{"differs"}
	}
	for _, n := range r.Notes {
		list = append(slices.Clip(list), words(n))
	}
	return strings.Join(list, "; ")
}

func definedLines(m *report.DefinedMetric) []pair {
	names, values := 0, 0
	for i := range m.Rows {
		names, values = max(names, columns(m.Rows[i].Definition)), max(values, columns(figure(&m.Rows[i])))
	}
	var lines []pair
	for i := range m.Rows {
		r := &m.Rows[i]
		v, what := figure(r), account(r)
		key := r.Definition + strings.Repeat(" ", names-columns(r.Definition)+2+values-columns(v)) + v
		for _, before := range m.Rows[:i] {
			if account(&before) == what && what != reason(r.Value.Reason) {
				if what = "as " + before.Definition; r.Equal {
					what += ", equals ours"
				}
				break
			}
		}
		lines = append(lines, pair{key: key, value: own("%s", what)})
	}
	return lines
}

func definedGrid(m *report.DefinedMetric) *grid {
	g := &grid{align: "lrrrrlll", head: []cell{text("definition"), text("mean"), text("p50"), text("p99"), text("n"), text("with this run's numbers"), text("beside ours")}}
	if slices.IndexFunc(m.Rows, func(r report.DefinedRow) bool { return r.N > 0 }) < 0 { // a rate
		g.head[1] = text("value")
	}
	for i := range m.Rows {
		r := &m.Rows[i]
		row := []cell{text(r.Definition), text(figure(r))}
		for _, v := range []report.Value{r.P50, r.P99} {
			c := text("—")
			if f, ok := v.Float(); ok {
				c = text(unit.Format(v.Unit, f))
			}
			row = append(row, c)
		}
		n := "—"
		if r.N > 0 {
			n = fmt.Sprint(r.N)
		}
		filled := r.Filled
		if filled == "" {
			filled = "—"
		}
		row = append(row, text(n), text(filled))
		row = append(row, text(verdict(r)))
		g.rows = append(g.rows, row)
	}
	return g
}
