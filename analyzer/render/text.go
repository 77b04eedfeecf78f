package render

import (
	"bytes"
	"fmt"
	"strings"
)

// style is an ANSI rendition.
type style string

const (
	plain style = ""
	bold  style = "1"
	dim   style = "2"
	alarm style = "1;31"
)

// textWriter writes a document for a terminal.
type textWriter struct {
	buf bytes.Buffer
	opt TextOptions
}

func (t *textWriter) document(d *document) {
	t.pairs(d.head)
	layouts := layOut(d.sections, t.opt.Width)
	for i := range d.sections {
		t.buf.WriteByte('\n')
		t.section(&d.sections[i], layouts[i])
	}
	if len(d.notes) > 0 {
		t.buf.WriteByte('\n')
	}
	for i, note := range d.notes {
		mark := superscript(i + 1)
		t.hanging(t.paint(dim, mark)+" ", columns(mark)+1, own("%s", note), dim)
	}
	t.buf.WriteByte('\n')
	t.pairs(d.foot)
}

func (t *textWriter) section(s *section, l *layout) {
	if title := visible(s.title); title != "" {
		gap := ""
		if s.lead != "" {
			gap = "  "
		}
		t.hanging(t.paint(bold, title)+gap, columns(title+gap), own("%s", shorten(s.lead, 2*t.opt.Width)), plain)
	}
	if s.grid != nil {
		for _, part := range l.parts(s.grid, t.opt.Width) {
			t.grid(s.grid, l, part)
		}
	}
	t.pairs(s.lines)
	for _, p := range s.diags {
		t.problem(&p)
	}
}

// pairs writes keys in a column of their own and values behind them.
func (t *textWriter) pairs(ps []pair) {
	width := 0
	for _, p := range ps {
		width = max(width, columns(p.key))
	}
	for _, p := range ps {
		s := bold
		if p.alert {
			s = alarm
		}
		lead := t.paint(s, p.key) + strings.Repeat(" ", width-columns(p.key)+2)
		t.hanging(lead, width+2, p.value, plain)
	}
}

// hanging writes lead, which takes the given columns, and l wrapped behind it.
// Foreign texts and single words longer than a line are cut in the middle.
func (t *textWriter) hanging(lead string, indent int, l line, s style) {
	room := max(t.opt.Width-indent, 20)
	var words strings.Builder
	for _, sp := range l {
		v := visible(sp.text)
		if sp.code {
			v = shorten(v, room)
		}
		words.WriteString(v)
	}
	for i, text := range wrap(words.String(), room) {
		if i > 0 {
			lead = strings.Repeat(" ", indent)
		}
		t.buf.WriteString(lead + t.paint(s, shorten(text, room)) + "\n")
	}
}

func (t *textWriter) problem(p *problem) {
	s := bold
	if p.alert {
		s = alarm
	}
	t.buf.WriteString(t.paint(s, fmt.Sprintf("%-8s", p.severity)) + " ")
	where := strings.Join(nonEmpty(p.count, p.code, visible(p.place)), " ")
	t.buf.WriteString(shorten(where, t.opt.Width-9) + "\n")
	blank := strings.Repeat(" ", 9)
	t.hanging(blank, 9, own("%s", p.msg), plain)
	if p.fix != "" {
		t.hanging(blank+"→ ", 11, own("%s", p.fix), plain)
	}
}

// grid writes the given columns of a table without rules, numbers right-aligned
// with their footnote marks behind them.
func (t *textWriter) grid(g *grid, l *layout, part []int) {
	rows := g.rows
	if len(g.head) > 0 {
		rows = append([][]cell{g.head}, rows...)
	}
	for i, row := range rows {
		var b strings.Builder
		for k, j := range part {
			if j >= len(row) {
				continue
			}
			c := row[j]
			if k > 0 {
				b.WriteString(strings.Repeat(" ", l.gap))
			}
			s := shorten(l.texts[i][j], l.widths[j])
			mark := superscript(c.note)
			fill := strings.Repeat(" ", l.widths[j]-columns(s))
			tail := strings.Repeat(" ", l.marks[j]-columns(mark))
			if g.left(j) {
				b.WriteString(s + mark + fill + tail)
			} else {
				b.WriteString(fill + s + mark + tail)
			}
		}
		out := strings.TrimRight(b.String(), " ")
		if out == "" && len(part) < len(l.widths) {
			continue // a short row has nothing in this part
		}
		if i == 0 && len(g.head) > 0 {
			out = t.paint(bold, out)
		}
		t.buf.WriteString(out + "\n")
	}
}

func (t *textWriter) paint(s style, text string) string {
	if !t.opt.Color || s == plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}
