package mapping

import "bytes"

// delimiter tells what parts the cells of a table, or that it holds objects.
func delimiter(head []byte) (delim byte, flat bool) {
	if delim, flat = told(head); flat {
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
	for comment(head) {
		_, rest, more := bytes.Cut(head, []byte("\n"))
		if !more {
			break
		}
		head = rest
	}
	delim = ','
	most := 0
	own := bytes.Clone(head) // reading moves what it has not used
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

// told returns what parts the cells of a table whose first line says so, for Excel.
func told(head []byte) (delim byte, ok bool) {
	if len(head) < 6 || !bytes.EqualFold(head[:4], []byte("sep=")) || head[5] != '\r' && head[5] != '\n' {
		return 0, false
	}
	return head[4], true
}

const maxAhead = 100 // rows of a title and comments in front of a table

// preface tells whether a row in front of a table is none of it: a comment, or a title
// beside which the cells are blank, or a blank row.
func preface(row []cell) bool {
	if comment(row[0].raw) {
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

func comment(line []byte) bool {
	return len(line) > 0 && line[0] == '#' && (len(line) == 1 || line[1] == ' ' || line[1] == '#' || line[1] == '\r')
}

// isHeader tells whether a row names columns: no cell is a value.
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
