package render

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// markdownWriter writes a document as GitHub-flavoured Markdown.
type markdownWriter struct{ buf bytes.Buffer }

func (m *markdownWriter) document(d *document) {
	m.pairs(d.head)
	for i := range d.sections {
		m.section(&d.sections[i])
	}
	if len(d.notes) > 0 {
		m.buf.WriteByte('\n')
	}
	for i, note := range d.notes {
		m.buf.WriteString("<sub>" + superscript(i+1) + " " + escape(note) + "</sub><br>\n")
	}
	m.buf.WriteByte('\n')
	m.pairs(d.foot)
}

func (m *markdownWriter) section(s *section) {
	m.buf.WriteByte('\n')
	if s.title != "" {
		m.buf.WriteString("**" + escape(s.title) + "**")
		if s.lead != "" {
			m.buf.WriteString(" " + escape(s.lead))
		}
		m.buf.WriteString("\n\n")
	}
	if s.grid != nil {
		m.grid(s.grid)
	}
	if len(s.lines) > 0 {
		if s.grid != nil {
			m.buf.WriteByte('\n')
		}
		m.pairs(s.lines)
	}
	for _, p := range s.diags {
		m.problem(&p)
	}
}

func (m *markdownWriter) pairs(ps []pair) {
	for _, p := range ps {
		m.buf.WriteString("- **" + escape(p.key) + "** " + m.line(p.value) + "\n")
	}
}

func (m *markdownWriter) line(l line) string {
	var b strings.Builder
	for _, s := range l {
		if s.code {
			b.WriteString(code(s.text))
		} else {
			b.WriteString(escape(s.text))
		}
	}
	return b.String()
}

func (m *markdownWriter) problem(p *problem) {
	m.buf.WriteString("- **" + escape(p.severity) + "** " + escape(strings.Join(nonEmpty(p.count, p.code), " ")))
	if p.place != "" {
		m.buf.WriteString(" " + code(p.place))
	}
	m.buf.WriteString(": " + escape(p.msg))
	if p.fix != "" {
		m.buf.WriteString(" → " + escape(p.fix))
	}
	m.buf.WriteByte('\n')
}

func (m *markdownWriter) grid(g *grid) {
	head := g.head
	columns := len(head)
	if len(head) == 0 { // a table needs a heading; take the widest row's width
		for _, row := range g.rows {
			columns = max(columns, len(row))
		}
		head = make([]cell, columns)
	}
	m.row(head, columns)
	for j := range columns {
		if g.left(j) {
			m.buf.WriteString("|:--")
		} else {
			m.buf.WriteString("|--:")
		}
	}
	m.buf.WriteString("|\n")
	for _, row := range g.rows {
		m.row(row, columns)
	}
}

func (m *markdownWriter) row(row []cell, columns int) {
	for j := range columns {
		s := ""
		if j < len(row) {
			c := row[j]
			if c.code {
				s = code(c.text)
			} else {
				s = escape(strings.TrimSpace(c.text))
			}
			s += superscript(c.note)
		}
		m.buf.WriteString("| " + s + " ")
	}
	m.buf.WriteString("|\n")
}

// maxCode is how many columns of a file's words are shown.
const maxCode = 80

// code returns s as a code span: in it neither HTML, links nor mentions work.
// Text with a pipe, a backslash or a backtick is spelled in entities, for in a
// table a pipe ends the cell even inside a span, and a backslash before it
// undoes its escape.
func code(s string) string {
	s = shorten(visible(s), maxCode)
	if strings.TrimSpace(s) == "" {
		return ""
	}
	if !strings.ContainsAny(s, "|\\`") {
		return "`" + s + "`"
	}
	var b strings.Builder
	b.WriteString("<code>")
	for _, r := range s {
		if r < utf8.RuneSelf && !('0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == ' ') {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	b.WriteString("</code>")
	return b.String()
}

// escape returns s as Markdown text that reads as s. An @ gets an invisible
// separator behind it, since a backslash does not stop a mention.
func escape(s string) string {
	var b strings.Builder
	runes := []rune(visible(s))
	for i, r := range runes {
		switch r {
		case '_':
			if i == 0 || i+1 == len(runes) || !unicode.IsLetter(runes[i-1]) || !unicode.IsLetter(runes[i+1]) {
				b.WriteByte('\\')
			} // else it is inside a word, where it has no meaning
			b.WriteRune(r)
		case '\\', '`', '*', '[', ']', '|', '~', '#':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '&':
			b.WriteString("&amp;")
		case '@':
			b.WriteString("@&#8203;")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
