package trace

// NewBatch returns a batch of table t whose columns are null until they are
// set. It is for columns that exist as whole slices, as in exports and in
// columnar files. Logs are read row by row with a Builder.
func NewBatch(t *Table, run *RunMeta, file string, rows int) *Batch {
	return &Batch{Table: t, Run: run, File: file, Rows: rows, columns: make([]column, len(t.Fields))}
}

// Share makes column c of b share the memory of column src of from. Both
// batches have equally many rows, and both columns the same type.
func (b *Batch) Share(c Col, from *Batch, src Col) {
	if from.columns[src].n > 0 {
		b.columns[c] = from.columns[src]
	}
}

// With returns a batch that shares everything with b except column c, which it
// shares with from. Both batches have the same table and equally many rows.
func (b *Batch) With(c Col, from *Batch) *Batch {
	out := *b
	out.columns = append([]column(nil), b.columns...)
	out.columns[c] = from.columns[c]
	return &out
}

// SetInts makes v column c, an Int64 or Time column. All setters share memory
// with their argument, which has one entry per row.
func (b *Batch) SetInts(c Col, v Ints) { b.set(c, column{ints: v.Values, valid: v.Valid}) }

// SetFloats makes v column c. Valid values must be finite.
func (b *Batch) SetFloats(c Col, v Floats) { b.set(c, column{floats: v.Values, valid: v.Valid}) }

// SetTexts makes v column c.
func (b *Batch) SetTexts(c Col, v Texts) {
	b.set(c, column{data: v.Data, offsets: v.Offsets, valid: v.Valid})
}

// SetDicts makes v column c.
func (b *Batch) SetDicts(c Col, v Dicts) {
	b.set(c, column{codes: v.Codes, values: v.Values, valid: v.Valid})
}

// SetBools makes v column c.
func (b *Batch) SetBools(c Col, v Bools) { b.set(c, column{bits: v.Values, valid: v.Valid}) }

// SetLists makes v column c.
func (b *Batch) SetLists(c Col, v Lists) {
	b.set(c, column{ints: v.Values, offsets: v.Offsets, valid: v.Valid})
}

func (b *Batch) set(c Col, col column) {
	if len(col.ints)+len(col.floats)+len(col.codes)+len(col.bits)+len(col.offsets) == 0 {
		return // null throughout, or no rows
	}
	col.n = b.Rows
	if col.valid != nil {
		col.nulls = b.Rows - col.valid.Count(b.Rows)
		if col.nulls == 0 {
			col.valid = nil
		}
	}
	b.columns[c], b.from = col, nil
}

// Nulls returns how many rows of column c are null.
func (b *Batch) Nulls(c Col) int {
	if !b.Has(c) {
		return b.Rows
	}
	return b.columns[c].nulls
}
