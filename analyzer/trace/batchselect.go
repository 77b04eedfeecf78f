package trace

// Select returns the rows of b that keep marks, in order. keep has one entry
// per row. If it marks all rows, Select returns b itself. Otherwise the result
// shares only dictionaries with b.
func (b *Batch) Select(keep []bool) *Batch {
	rows := make([]int32, 0, b.Rows)
	for i, k := range keep {
		if k {
			rows = append(rows, int32(i))
		}
	}
	if len(rows) == b.Rows {
		return b
	}
	out := *b
	out.Rows = len(rows)
	out.columns = make([]column, len(b.columns))
	if out.Rows == 0 {
		return &out
	}
	for i := range b.columns {
		if b.columns[i].n > 0 {
			b.columns[i].pick(rows, b.Table.Fields[i].Type, &out.columns[i])
		}
	}
	return &out
}

// WithLists returns a batch that shares everything with b except list column c,
// which is v. It restores lists that Clone left out.
func (b *Batch) WithLists(c Col, v Lists) *Batch {
	out := *b
	out.columns = append([]column(nil), b.columns...)
	col := column{ints: v.Values, offsets: v.Offsets, valid: v.Valid}
	if len(v.Offsets) > 0 {
		col.n = b.Rows
		for i := range b.Rows {
			if !v.Valid.Valid(i) {
				col.nulls++
			}
		}
	}
	out.columns[c] = col
	return &out
}

// WithNames returns a batch that shares everything with b except the values of
// dictionary column c, which f renames.
func (b *Batch) WithNames(c Col, f func(string) string) *Batch {
	out := *b
	out.columns = append([]column(nil), b.columns...)
	out.columns[c].values = make([]string, len(b.columns[c].values))
	for i, v := range b.columns[c].values {
		out.columns[c].values[i] = f(v)
	}
	return &out
}

// gather returns the values of the given rows.
func gather[E any](values []E, rows []int32) []E {
	out := make([]E, len(rows))
	for j, i := range rows {
		out[j] = values[i]
	}
	return out
}

// gatherRuns returns the concatenation of values[offsets[i]:offsets[i+1]] for
// the given rows, and its offsets.
func gatherRuns[E any](values []E, offsets []int32, rows []int32) ([]E, []int32) {
	out := make([]int32, 1, len(rows)+1)
	var n int32
	for _, i := range rows {
		n += offsets[i+1] - offsets[i]
		out = append(out, n)
	}
	data := make([]E, 0, n)
	for _, i := range rows {
		data = append(data, values[offsets[i]:offsets[i+1]]...)
	}
	return data, out
}
