package trace

// addValues appends the values of the rows of src.
func (c *column) addValues(src *column, rows int, f *Field) {
	switch f.Type {
	case Int64, Time:
		c.ints = append(c.ints, src.ints...)
	case Float64:
		c.floats = append(c.floats, src.floats...)
	case Dict:
		c.addCodes(src, f.Values)
	case Bool:
		for i := range rows {
			c.bits = appendBit(c.bits, c.n+i, src.bits.Valid(i))
		}
	case Text:
		if len(c.offsets) == 0 {
			c.offsets = append(c.offsets, 0)
		}
		base := int32(len(c.data))
		c.data = append(c.data, src.data...)
		for _, off := range src.offsets[1:] {
			c.offsets = append(c.offsets, base+off)
		}
	}
}

// addCodes appends the codes of src, translated to the dictionary of c. If the
// field fixes its values, the codes are the same everywhere.
func (c *column) addCodes(src *column, fixed []string) {
	if fixed != nil {
		c.values = fixed
		c.codes = append(c.codes, src.codes...)
		return
	}
	code := make([]int32, max(1, len(src.values))) // codes of nulls are 0
	for i, v := range src.values {
		n, ok := c.index[v]
		if !ok {
			if c.index == nil {
				c.index = make(map[string]int32)
			}
			n = int32(len(c.values))
			c.values = append(c.values, v)
			c.index[v] = n
		}
		code[i] = n
	}
	for _, old := range src.codes {
		c.codes = append(c.codes, code[old])
	}
}

// addValid appends the validity of the rows of src.
func (c *column) addValid(src *column, rows int) {
	if c.valid == nil && src.nulls > 0 {
		c.valid = ones(c.n)
	}
	if c.valid != nil {
		for i := range rows {
			c.valid = appendBit(c.valid, c.n+i, src.valid.Valid(i))
		}
	}
	c.n += rows
	c.nulls += src.nulls
}
