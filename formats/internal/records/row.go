package records

import "bytes"

// Row splits rows of delimited cells. A cell in double quotes may hold delimiters, line
// ends and quotes, which are doubled.
type Row struct {
	Cells [][]byte // the first maxCells of the last row; valid as long as its text
	spare []byte   // cells that held quotes
}

// maxCells is the largest number of cells of a row that are kept.
const maxCells = 10_000

// RowState is the outcome of splitting a row.
type RowState uint8

const (
	RowWhole  RowState = iota
	RowOpen            // the text ends within the row
	RowBroken          // a cell goes on behind its closing quote
)

// Split splits the row that b begins with. It returns the number of cells and the offset
// of the next row. eof says that nothing follows b, so that the row needs no line end.
func (r *Row) Split(b []byte, delim byte, eof bool) (n, next int, state RowState) {
	r.Cells, r.spare = r.Cells[:0], r.spare[:0]
	for i := 0; ; i++ {
		from := i
		var cell []byte
		if i < len(b) && b[i] == '"' {
			// A cell in quotes, and the carriage return that may follow it.
			if cell, i = r.quoted(b, i+1); i >= 0 && i < len(b) && b[i] == '\r' {
				i++
			}
			if i < 0 || i == len(b) && !eof {
				return n, 0, RowOpen
			}
			if i < len(b) && b[i] != delim && b[i] != '\n' {
				return n, 0, RowBroken
			}
		} else {
			for i < len(b) && b[i] != delim && b[i] != '\n' {
				i++
			}
			if i == len(b) && !eof {
				return n, 0, RowOpen
			}
			if cell = b[from:i]; i == len(b) || b[i] == '\n' {
				cell = bytes.TrimSuffix(cell, []byte("\r"))
			}
		}
		if n++; n <= maxCells {
			r.Cells = append(r.Cells, cell)
		}
		if i == len(b) || b[i] == '\n' {
			return n, min(i+1, len(b)), RowWhole
		}
	}
}

// quoted reads a cell from behind its opening quote. It returns the cell and the offset
// behind it, or -1 if the quote does not close.
func (r *Row) quoted(b []byte, i int) ([]byte, int) {
	from, own := i, len(r.spare)
	for {
		k := bytes.IndexByte(b[i:], '"')
		if k < 0 {
			return nil, -1
		}
		if i += k + 1; i >= len(b) || b[i] != '"' {
			break
		}
		r.spare = append(r.spare, b[from:i]...)
		i++
		from = i
	}
	if len(r.spare) == own {
		return b[from : i-1], i
	}
	r.spare = append(r.spare, b[from:i-1]...)
	return r.spare[own:len(r.spare):len(r.spare)], i
}
