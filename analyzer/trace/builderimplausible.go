package trace

import "servescope/analyzer/unit"

// Implausible counts the token counts that a Builder left out because they
// exceed MaxTokenCount or are negative.
type Implausible struct {
	Count  int64 // values left out
	Offset int64 // offset of the first record with such a value; -1: the rows do not say
}

// isImplausible reports whether column c holds token counts, and if so counts
// an implausible value of the current row.
func (b *Builder) isImplausible(c Col) bool {
	if b.table.Fields[c].Unit != unit.Token {
		return false
	}
	b.countImplausible()
	if col := &b.columns[c]; col.n > b.rows { // set twice in this row: the later value, which is null, counts
		col.truncate(b.rows, Int64)
	}
	return true
}

func (b *Builder) countImplausible() {
	if n := len(b.implausibleRows); n == 0 || b.implausibleRows[n-1] != b.rows {
		b.implausibleRows = append(b.implausibleRows, b.rows)
	}
	b.implausible.Count++
}

// takeImplausible returns the counts since the last call. It looks up the
// offsets in the columns of the batch that Take is about to hand out. Rows may
// come in any order.
func (b *Builder) takeImplausible() Implausible {
	a, rows := b.implausible, b.implausibleRows
	b.implausible, b.implausibleRows = Implausible{}, rows[:0]
	if a.Count == 0 {
		return a
	}
	a.Offset = -1
	if b.table != Requests {
		return a
	}
	offsets := &b.columns[Offset]
	for _, row := range rows {
		if row >= b.rows {
			break
		}
		if off, ok := (Ints{offsets.ints, offsets.valid}).At(row); ok && (a.Offset < 0 || off < a.Offset) {
			a.Offset = off
		}
	}
	return a
}

// overflows reports whether a list holds a count that is negative or exceeds
// MaxTokenCount.
func overflows(list []int64) bool {
	for _, v := range list {
		if uint64(v) > MaxTokenCount {
			return true
		}
	}
	return false
}
