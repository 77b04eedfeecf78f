// Package render prints reports: as text for a terminal, Markdown for a pull
// request, CSV for a spreadsheet or a data frame, and JSON for programs. A
// renderer takes a report and an io.Writer and computes nothing. Only text and
// Markdown scale numbers; CSV and JSON hold base units.
//
// Labels, model names and messages come from files that anyone may have
// written. Text makes control characters, escape sequences and bidirectional
// overrides visible; Markdown puts foreign words in code spans, where neither
// HTML nor mentions work; CSV and JSON keep them as they are.
//
// Text and Markdown share one model of the page: a document of headings, tables
// and numbered footnotes is built from the report, then written in either form.
package render

import (
	"bytes"
	"encoding/json"
	"io"

	"servescope/analyzer/report"
)

// JSON writes the report as indented JSON, the contract of package report, and
// a final newline.
func JSON(w io.Writer, r *report.Report) error {
	compact, err := r.MarshalJSON()
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

// TextOptions says what the terminal can show. The zero value is plain text for
// 80 columns.
type TextOptions struct {
	Color bool // use ANSI colours
	Width int  // columns to fit into; 0: 80
}

// Text writes the report for people. Tables fit into the width as long as their
// numbers do; names are shortened in the middle, numbers never.
func Text(w io.Writer, r *report.Report, opt TextOptions) error {
	if opt.Width <= 0 {
		opt.Width = 80
	}
	t := textWriter{opt: opt}
	t.document(build(r))
	_, err := t.buf.WriteTo(w)
	return err
}

// Markdown writes the report as GitHub-flavoured Markdown that fits into a
// pull-request comment.
func Markdown(w io.Writer, r *report.Report) error {
	var m markdownWriter
	m.document(build(r))
	_, err := m.buf.WriteTo(w)
	return err
}
