package render

// minName is how far a foreign name may be cut.
const minName = 12

// layout is how a grid is set in a terminal: gap columns between the columns,
// and the widths of each column's texts and footnote marks.
type layout struct {
	texts         [][]string // visible texts of the heading, if any, and the rows
	gap           int
	widths, marks []int
	least         []int // how narrow a column may become
}

// layOut lays out the grids of all sections (nil without a grid). First columns with the
// same heading have the same width in all tables, so that tables of the same runs look
// alike.
func layOut(sections []section, room int) []*layout {
	layouts := make([]*layout, len(sections))
	narrowest := map[string]int{}
	for i := range sections {
		g := sections[i].grid
		if g == nil {
			continue
		}
		l := newLayout(g, room)
		layouts[i] = l
		if len(g.head) > 0 {
			name := g.head[0].text
			if w, ok := narrowest[name]; !ok || l.widths[0] < w {
				narrowest[name] = l.widths[0]
			}
		}
	}
	for i, l := range layouts {
		if l != nil && len(sections[i].grid.head) > 0 {
			l.widths[0] = max(l.least[0], narrowest[sections[i].grid.head[0].text])
		}
	}
	return layouts
}

// newLayout fits g into room columns: gaps shrink first, then foreign names,
// numbers never: what does
// not fit even so is set below.
func newLayout(g *grid, room int) *layout {
	l := &layout{gap: 2}
	if len(g.head) > 0 {
		l.add(g.head)
	}
	for _, row := range g.rows {
		l.add(row)
	}
	excess := l.total() - room
	if excess > 0 {
		l.gap = 1
		excess = l.total() - room
	}
	for ; excess > 0; excess-- {
		widest := -1
		for j, w := range l.widths {
			if w > l.least[j] && (widest < 0 || w > l.widths[widest]) {
				widest = j
			}
		}
		if widest < 0 {
			break
		}
		l.widths[widest]--
	}
	return l
}

// add measures a row. Our own texts are not cut, foreign ones to minName.
func (l *layout) add(row []cell) {
	texts := make([]string, len(row))
	for j, c := range row {
		if j == len(l.widths) {
			l.widths, l.marks, l.least = append(l.widths, 0), append(l.marks, 0), append(l.least, 0)
		}
		texts[j] = visible(c.text)
		w := columns(texts[j])
		l.widths[j] = max(l.widths[j], w)
		l.marks[j] = max(l.marks[j], columns(superscript(c.note)))
		if c.code {
			w = min(w, minName)
		}
		l.least[j] = max(l.least[j], w)
	}
	l.texts = append(l.texts, texts)
}

// total returns the width of the table.
func (l *layout) total() int {
	n := -l.gap
	for j := range l.widths {
		n += l.widths[j] + l.marks[j] + l.gap
	}
	return n
}

// parts returns the columns of g that fit into room, and those that follow it
// below: a table with a heading repeats the columns that name its rows; a table without
// a heading begins again with a name.
func (l *layout) parts(g *grid, room int) [][]int {
	names := 0
	for len(g.head) > 0 && g.left(names) && names < len(l.widths)-1 {
		names++
	}
	var parts [][]int
	var part []int
	used := 0
	add := func(j int) {
		if len(part) > 0 {
			used += l.gap
		}
		part, used = append(part, j), used+l.widths[j]+l.marks[j]
	}
	for j := 0; j < len(l.widths); {
		next := j + 1 // columns j to next stay together
		for len(g.head) == 0 && next < len(l.widths) && !g.left(next) {
			next++
		}
		need := 0
		for k := j; k < next; k++ {
			need += l.gap + l.widths[k] + l.marks[k]
		}
		if len(part) > names && used+need > room {
			parts, part, used = append(parts, part), nil, 0
			for k := range names {
				add(k)
			}
		}
		for ; j < next; j++ {
			add(j)
		}
	}
	return append(parts, part)
}
