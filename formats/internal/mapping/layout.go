package mapping

import "bytes"

// delimiter returns the byte between the cells of a table. It reports false for a text of
// JSON objects.
func delimiter(head []byte) (delim byte, flat bool) {
	if delim, flat = separatorLine(head); flat {
		return delim, flat
	}
	lines := 0
	for line := range bytes.Lines(head) {
		line = bytes.TrimLeft(line, " \t\r\n,[]\x1e")
		if len(line) > 0 && line[0] == '{' {
			return 0, false
		}
		if lines++; lines > 5 {
			break
		}
	}
	for isComment(head) {
		_, rest, more := bytes.Cut(head, []byte("\n"))
		if !more {
			break
		}
		head = rest
	}
	delim = ','
	most := 0
	own := bytes.Clone(head) // reading moves the bytes
	for _, d := range []byte(",;\t|") {
		t := &table{flat: true, delim: d}
		in := inputOf(append(own[:0], head...))
		width, same, rows := 0, 0, 0
		for rows < 50 {
			t.rec.cells = t.rec.cells[:0]
			if t.read(in) != found || t.rec.last && rows > 0 {
				break
			}
			if rows++; width == 0 {
				width = len(t.rec.cells)
			}
			if len(t.rec.cells) == width {
				same++
			}
		}
		if width > 1 && 10*same >= 8*rows && width > most {
			delim, most = d, width
		}
	}
	return delim, true
}

// separatorLine reads the line "sep=;" that Excel takes for the delimiter of what
// follows.
func separatorLine(head []byte) (delim byte, ok bool) {
	if len(head) < 6 || !bytes.EqualFold(head[:4], []byte("sep=")) || head[5] != '\r' && head[5] != '\n' {
		return 0, false
	}
	return head[4], true
}

const maxPreface = 100 // largest number of titles, comments and blank rows above a table

// isPreface reports whether a row above a table is not part of it: a comment, a blank
// row, or a title with blank cells beside it.
func isPreface(row []cell) bool {
	if isComment(row[0].raw) {
		return true
	}
	filled := 0
	for _, c := range row {
		if len(bytes.TrimSpace(c.raw)) > 0 {
			filled++
		}
	}
	return filled <= 1 && len(row) > 2
}

// isComment reports whether a line begins with # and a space, another #, or nothing.
func isComment(line []byte) bool {
	return len(line) > 0 && line[0] == '#' && (len(line) == 1 || line[1] == ' ' || line[1] == '#' || line[1] == '\r')
}

// isHeader reports whether a row names columns: none of its cells is a number or a date.
func isHeader(row []cell, given []assignment) bool {
	letters := false
	for _, c := range row {
		for _, a := range given {
			if a.column == string(c.raw) && len(c.raw) > 0 && c.raw[0] > '9' {
				return true
			}
		}
		if _, ok := float(c.raw); ok {
			return false
		}
		if _, ok := dateOf(c.raw, dayFirst); ok || len(c.raw) > 200 {
			return false
		}
		letters = letters || len(c.raw) > 0
	}
	return letters
}
