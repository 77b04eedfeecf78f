package mapping

import (
	"bytes"

	"servescope/formats/internal/records"
)

// row reads the next row that is not blank.
func (t *table) row(in *records.Input) outcome {
	for {
		t.rec.off = in.At()
		n, next, res := t.split(in.Buf[in.I:], in.EOF)
		switch {
		case res == ended && len(in.Buf)-in.I < maxRecord && !in.EOF && in.Err == nil:
			in.More() // the last row needs no line end
			t.spare = t.spare[:0]
			continue
		case in.Err != nil || in.I == len(in.Buf):
			return ended
		case res != found:
			in.SkipLine()
			if res == bad || in.I < len(in.Buf) {
				return bad
			}
			return truncated
		}
		t.rec.last = in.EOF && in.I+next == len(in.Buf) && in.Buf[len(in.Buf)-1] != '\n'
		in.I += next
		if n == 1 && len(bytes.TrimSpace(t.first())) == 0 {
			continue // blank
		}
		t.rec.ragged = t.width > 0 && n != t.width
		t.cellsInside(n)
		return found
	}
}

// first returns the first cell of the row.
func (t *table) first() []byte {
	if len(t.rec.cells) == 0 {
		return nil
	}
	return t.rec.cells[0].raw
}

// split splits the row that b begins with. It returns the number of cells and the offset
// of the next row, or ended if it needs more bytes, or bad if a quote is misplaced.
func (t *table) split(b []byte, eof bool) (n, next int, res outcome) {
	for i := 0; ; n++ {
		from, to := i, i
		var raw []byte
		if i < len(b) && b[i] == '"' {
			if raw, i = t.quoted(b, i+1); i < 0 {
				return n, 0, ended
			}
			if i == len(b) && !eof {
				return n, 0, ended
			}
			if i < len(b) && b[i] == '\r' && i+1 < len(b) {
				i++
			}
			if i < len(b) && b[i] != t.delim && b[i] != '\n' {
				return n, 0, bad
			}
		} else {
			for i < len(b) && b[i] != t.delim && b[i] != '\n' {
				i++
			}
			if i == len(b) && !eof {
				return n, 0, ended
			}
			if to = i; to > from && b[to-1] == '\r' && (i == len(b) || b[i] == '\n') {
				to--
			}
			raw = b[from:to]
		}
		t.cell(n, raw)
		if i == len(b) || b[i] == '\n' {
			return n + 1, min(i+1, len(b)), found
		}
		i++
	}
}

// cell sets the cell n of the row.
func (t *table) cell(n int, raw []byte) {
	if t.width > 0 && n >= t.width {
		return
	}
	if n >= len(t.rec.cells) {
		if n >= maxFields {
			return
		}
		t.rec.cells = append(t.rec.cells, cell{})
	}
	t.rec.cells[n] = textCell(raw)
}

// quoted reads a quoted cell from behind its opening quote. It returns the cell and the
// offset behind it, or -1 if the quote does not close.
func (t *table) quoted(b []byte, i int) ([]byte, int) {
	from, own := i, -1
	for {
		k := bytes.IndexByte(b[i:], '"')
		if k < 0 {
			return nil, -1
		}
		i += k + 1
		if i >= len(b) || b[i] != '"' {
			break
		}
		if own < 0 {
			own = len(t.spare)
		}
		t.spare = append(t.spare, b[from:i]...)
		i++
		from = i
	}
	if own < 0 {
		return b[from : i-1], i
	}
	t.spare = append(t.spare, b[from:i-1]...)
	return t.spare[own:], i
}

// blank reports whether all cells of a row are empty, as between the blocks of a
// spreadsheet.
func (t *table) blank() bool {
	for i := range t.rec.cells {
		if len(bytes.TrimSpace(t.rec.cells[i].raw)) > 0 {
			return false
		}
	}
	return true
}
