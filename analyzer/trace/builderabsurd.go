package trace

import "servescope/analyzer/unit"

// Absurd tells of token counts that a Builder did not believe; see MaxTokenCount.
type Absurd struct {
	Count  int64 // values that were left out
	Offset int64 // of the first record in the file with one, -1 where its row does not say
}

// isAbsurd reports whether a value beyond MaxTokenCount is wrong in a column, and
// counts it.
func (b *Builder) isAbsurd(c Col) bool {
	if b.table.Fields[c].Unit != unit.Token {
		return false
	}
	b.countAbsurd()
	if col := &b.columns[c]; col.n > b.rows { // set twice: the later value, which is unknown, counts
		col.truncate(b.rows, Int64)
	}
	return true
}

func (b *Builder) countAbsurd() {
	if n := len(b.unlikely); n == 0 || b.unlikely[n-1] != b.rows {
		b.unlikely = append(b.unlikely, b.rows)
	}
	b.absurd.Count++
}

// takeAbsurd returns what was counted since the last call. The columns are
// those of the batch that is being handed out. Rows need not come in the order of
// their records.
func (b *Builder) takeAbsurd() Absurd {
	a, rows := b.absurd, b.unlikely
	b.absurd, b.unlikely = Absurd{}, rows[:0]
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

// overflows reports whether a list holds a count beyond MaxTokenCount or a
// negative one.
func overflows(list []int64) bool {
	for _, v := range list {
		if uint64(v) > MaxTokenCount {
			return true
		}
	}
	return false
}
