package trace

// pick copies the given rows of c into dst, an empty column.
func (c *column) pick(rows []int32, t Type, dst *column) {
	dst.n, dst.values = len(rows), c.values
	if c.valid != nil {
		dst.valid = make(Bitmap, (len(rows)+7)>>3)
		for j, i := range rows {
			if c.valid.Valid(int(i)) {
				dst.valid[j>>3] |= 1 << (j & 7)
			} else {
				dst.nulls++
			}
		}
	}
	switch t {
	case Int64, Time:
		dst.ints = gather(c.ints, rows)
	case Float64:
		dst.floats = gather(c.floats, rows)
	case Dict:
		dst.codes = gather(c.codes, rows)
	case Bool:
		dst.bits = make(Bitmap, (len(rows)+7)>>3)
		for j, i := range rows {
			if c.bits.Valid(int(i)) {
				dst.bits[j>>3] |= 1 << (j & 7)
			}
		}
	case Text:
		dst.data, dst.offsets = gatherRuns(c.data, c.offsets, rows)
	case List:
		dst.ints, dst.offsets = gatherRuns(c.ints, c.offsets, rows)
	}
}
