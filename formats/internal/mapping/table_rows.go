package mapping

import (
	"bytes"

	"servescope/formats/internal/records"
)

// row reads the next row that is not blank.
func (t *table) row(in *records.Input) outcome {
	for {
		t.rec.off, t.spare = in.At(), t.spare[:0]
		n, next, state := t.cells.Split(in.Buf[in.I:], t.delim, in.EOF)
		switch {
		case state == records.RowOpen && len(in.Buf)-in.I < maxRecord && !in.EOF && in.Err == nil:
			in.More() // the last row needs no line end
			continue
		case in.Err != nil || in.I == len(in.Buf):
			return ended
		case state != records.RowWhole:
			in.SkipLine()
			if state == records.RowBroken || in.I < len(in.Buf) {
				return bad
			}
			return truncated
		}
		t.rec.last = in.EOF && in.I+next == len(in.Buf) && in.Buf[len(in.Buf)-1] != '\n'
		in.I += next
		if n == 1 && len(bytes.TrimSpace(t.cells.Cells[0])) == 0 {
			continue // blank
		}
		for k, raw := range t.cells.Cells {
			t.cell(k, raw)
		}
		t.rec.ragged = t.width > 0 && n != t.width
		t.cellsInside(n)
		return found
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
	if t.comma {
		raw = t.withPoint(raw)
	}
	t.rec.cells[n] = textCell(raw)
}

// withPoint returns a cell of a table with decimal commas: the comma becomes a point. A
// point in the cell separates thousands or is a mistake: it becomes a comma, so that the
// cell is not a number.
func (t *table) withPoint(raw []byte) []byte {
	from, to := byte(','), byte('.')
	if !decimalComma(raw) || bytes.Count(raw, []byte(",")) != 1 {
		if _, ok := float(raw); !ok || bytes.IndexByte(raw, '.') < 0 {
			return raw
		}
		from, to = to, from
	}
	k := len(t.spare)
	t.spare = append(t.spare, raw...)
	raw = t.spare[k:len(t.spare):len(t.spare)]
	raw[bytes.IndexByte(raw, from)] = to
	return raw
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
