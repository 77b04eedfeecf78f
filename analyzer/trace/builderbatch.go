package trace

// AddBatch adds the rows of src, a batch of the same table, without its lists.
// It joins small batches of one input. The Builder must be between rows.
func (b *Builder) AddBatch(src *Batch) {
	for i := range src.columns {
		from, t := &src.columns[i], b.table.Fields[i].Type
		if from.n == 0 || t == List {
			continue
		}
		to := &b.columns[i]
		to.padTo(b.rows, t)
		to.addValues(from, src.Rows, &b.table.Fields[i])
		to.addValid(from, src.Rows)
	}
	b.rows += src.Rows
}

// appendBit sets or clears bit i of a bitmap that holds i bits so far.
func appendBit(b Bitmap, i int, set bool) Bitmap {
	for len(b) <= i>>3 {
		b = append(b, 0)
	}
	if set {
		b[i>>3] |= 1 << (i & 7)
	}
	return b
}
