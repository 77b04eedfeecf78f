package trace

// Batch is a block of rows of one table, all of one run of one source. Its
// column views share the memory of the batch and are read-only. A batch that a
// format hands out is valid until the format's next call; Clone and Keep make
// it last.
type Batch struct {
	Table *Table
	Run   *RunMeta // the run all rows belong to
	File  string   // name of the source
	Rows  int

	// Implausible counts the token counts that are null because they cannot be
	// true.
	Implausible Implausible

	columns []column
	from    *Builder // the Builder that reuses the memory of the columns; nil: none
}

// Has reports whether column c holds at least one value that is not null.
func (b *Batch) Has(c Col) bool {
	col := &b.columns[c]
	return col.n > 0 && col.nulls < col.n
}

// Validity returns the validity bitmap of column c, of any type. If the column
// is null throughout, some is false and the bitmap has no meaning.
func (b *Batch) Validity(c Col) (valid Bitmap, some bool) {
	return b.columns[c].valid, b.Has(c)
}

// Ints returns the view of an Int64 or Time column.
func (b *Batch) Ints(c Col) Ints {
	col := &b.columns[c]
	return Ints{col.ints, col.valid}
}

// Floats returns the view of a Float64 column.
func (b *Batch) Floats(c Col) Floats {
	col := &b.columns[c]
	return Floats{col.floats, col.valid}
}

// Texts returns the view of a Text column.
func (b *Batch) Texts(c Col) Texts {
	col := &b.columns[c]
	return Texts{col.data, col.offsets, col.valid}
}

// Dicts returns the view of a Dict column. If the field lists its Values, codes
// are indexes of that list in every batch. Other codes have a meaning only in
// this batch.
func (b *Batch) Dicts(c Col) Dicts {
	col := &b.columns[c]
	return Dicts{col.codes, col.values, col.valid}
}

// Bools returns the view of a Bool column.
func (b *Batch) Bools(c Col) Bools {
	col := &b.columns[c]
	return Bools{col.bits, col.valid}
}

// Lists returns the view of a List column.
func (b *Batch) Lists(c Col) Lists {
	col := &b.columns[c]
	return Lists{col.ints, col.offsets, col.valid}
}

// Clone returns a copy that shares no memory with b. If lists is false, List
// columns become null throughout.
func (b *Batch) Clone(lists bool) *Batch {
	out := *b
	out.columns, out.from = make([]column, len(b.columns)), nil
	for i := range b.columns {
		src, dst := &b.columns[i], &out.columns[i]
		if src.n == 0 || b.Table.Fields[i].Type == List && !lists {
			continue
		}
		dst.n, dst.nulls = src.n, src.nulls
		dst.valid = clone(src.valid)
		dst.ints = clone(src.ints)
		dst.floats = clone(src.floats)
		dst.codes = clone(src.codes)
		dst.bits = clone(src.bits)
		dst.data = clone(src.data)
		dst.offsets = clone(src.offsets)
		dst.values = clone(src.values)
	}
	return &out
}

// Keep takes the memory of b from its Builder, so that b stays valid after the
// Builder's next Take. The Builder goes on with the memory of spare, an unused
// batch of the same table, or with new memory if spare is nil. Keep must be
// called while b is valid. It reports false and does nothing if other batches
// share the memory of b.
func (b *Batch) Keep(spare *Batch) bool {
	if b.from == nil || &b.from.out[0] != &b.columns[0] {
		return false
	}
	if spare != nil && spare.Table == b.Table {
		b.from.out = spare.columns
	} else {
		b.from.out = make([]column, len(b.columns))
	}
	b.from = nil
	return true
}

// columnBytes is the approximate size of a column without values, in bytes. It
// makes up most of the size of small batches, and there may be thousands.
const columnBytes = 256

// Bytes returns the approximate memory of the batch in bytes.
func (b *Batch) Bytes() int64 {
	n := columnBytes * len(b.columns)
	for i := range b.columns {
		c := &b.columns[i]
		n += len(c.valid) + 8*len(c.ints) + 8*len(c.floats) + 4*len(c.codes) + len(c.bits) + len(c.data) + 4*len(c.offsets)
	}
	return int64(n)
}

// clone copies s into memory of exactly its length.
func clone[S ~[]E, E any](s S) S {
	if s == nil {
		return nil
	}
	return append(make(S, 0, len(s)), s...)
}
