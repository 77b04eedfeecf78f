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
	"io"

	"servescope/analyzer/report"
)

// JSON writes the report as indented JSON, the contract of package report, and
// a final newline. It is written in parts: a report of thousands of runs is long.
func JSON(w io.Writer, r *report.Report) error {
	x := indenter{}
	err := r.Stream(func(part []byte) error {
		x.out = x.out[:0]
		x.add(part)
		_, err := w.Write(x.out)
		return err
	})
	if err == nil {
		_, err = w.Write([]byte{'\n'})
	}
	return err
}

// indent puts each member of a compact JSON text on a line of its own, two
// spaces in for each level. Empty objects and arrays stay as they are.
func indent(compact []byte) []byte {
	x := indenter{out: make([]byte, 0, len(compact)+len(compact)/2)}
	x.add(compact)
	return x.out
}

// indenter indents a text that comes in parts, which end as the parts of Report.Stream do.
type indenter struct {
	out   []byte
	depth int
}

const blanks = "\n                                "

func (x *indenter) line() {
	n := 2*x.depth + 1
	x.out = append(x.out, blanks[:min(n, len(blanks))]...)
	for i := len(blanks); i < n; i++ {
		x.out = append(x.out, ' ')
	}
}

func (x *indenter) add(compact []byte) {
	for i := 0; i < len(compact); i++ {
		switch c := compact[i]; c {
		case '"':
			end := i + 1
			for ; compact[end] != '"'; end++ {
				if compact[end] == '\\' {
					end++
				}
			}
			x.out = append(x.out, compact[i:end+1]...)
			i = end
		case '{', '[':
			x.out = append(x.out, c)
			if next := compact[i+1]; next == '}' || next == ']' {
				x.out = append(x.out, next)
				i++
				continue
			}
			x.depth++
			x.line()
		case '}', ']':
			x.depth--
			x.line()
			x.out = append(x.out, c)
		case ',':
			x.out = append(x.out, c)
			x.line()
		case ':':
			x.out = append(x.out, ':', ' ')
		default:
			x.out = append(x.out, c)
		}
	}
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
