package render

import (
	"fmt"
	"strings"
)

// document is the model of text and Markdown output: a head that names what was
// measured, sections, and footnotes that cells and lines refer to by number.
type document struct {
	head     []pair
	sections []section
	notes    []string // note i+1
	foot     []pair
}

// section is a titled table, or titled lines.
type section struct {
	title string
	lead  string // continues the title: what the table is about
	grid  *grid
	lines []pair
	diags []problem
}

// pair is a key and its value.
type pair struct {
	key   string
	value line
	alert bool // deserves attention
}

// line is a run of texts, own and foreign.
type line []span

// span is a piece of text. Code marks what a file said: labels, models, names.
type span struct {
	text string
	code bool
}

// own returns a line of our own words.
func own(format string, args ...any) line { return line{{text: fmt.Sprintf(format, args...)}} }

// foreign returns a line of a file's words.
func foreign(s string) line { return line{{text: s, code: true}} }

// problem is one diagnostic.
type problem struct {
	severity, place, count string
	code, msg, fix         string
	alert                  bool
}

// grid is a table. Align has a letter per column: l or r; columns beyond it are
// aligned right.
type grid struct {
	align string
	head  []cell
	rows  [][]cell
}

// left reports whether column j is aligned left.
func (g *grid) left(j int) bool { return j < len(g.align) && g.align[j] == 'l' }

// cell is one entry of a table; note is the number of its footnote, or 0.
type cell struct {
	text string
	code bool // a file's words: may be shortened
	note int
}

func text(s string) cell { return cell{text: s} }

// note returns the number of the footnote with the given text, adding it when
// it is new: equal notes share one number.
func (d *document) note(s string) int {
	for i, have := range d.notes {
		if have == s {
			return i + 1
		}
	}
	d.notes = append(d.notes, s)
	return len(d.notes)
}

// superscript returns the mark of footnote n: ¹², or nothing for 0.
func superscript(n int) string {
	if n == 0 {
		return ""
	}
	return superscripts.Replace(fmt.Sprint(n))
}

var superscripts = strings.NewReplacer("0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵",
	"6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")

// dropLast removes the last column.
func (g *grid) dropLast() {
	g.head = g.head[:len(g.head)-1]
	for i, row := range g.rows {
		g.rows[i] = row[:len(row)-1]
	}
}
