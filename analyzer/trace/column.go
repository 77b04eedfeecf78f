package trace

import "math/bits"

// Bitmap is a validity bitmap in Arrow's layout: bit i%8 of byte i/8 is set
// when value i is not null. A nil Bitmap means that every value is valid.
type Bitmap []byte

// Valid reports whether value i is not null.
func (b Bitmap) Valid(i int) bool { return b == nil || b[i>>3]&(1<<(i&7)) != 0 }

// Ints is a view of an Int64 or Time column. Values is empty if the column is
// null throughout. Otherwise it has one entry per row, undefined where the row
// is null.
type Ints struct {
	Values []int64
	Valid  Bitmap
}

// At returns value i and whether it is not null.
func (c Ints) At(i int) (int64, bool) {
	if len(c.Values) == 0 || !c.Valid.Valid(i) {
		return 0, false
	}
	return c.Values[i], true
}

// Floats is a view of a Float64 column; see Ints.
type Floats struct {
	Values []float64
	Valid  Bitmap
}

// At returns value i and whether it is not null.
func (c Floats) At(i int) (float64, bool) {
	if len(c.Values) == 0 || !c.Valid.Valid(i) {
		return 0, false
	}
	return c.Values[i], true
}

// Texts is a view of a Text column: value i is Data[Offsets[i]:Offsets[i+1]].
// Offsets is empty when the column is null throughout.
type Texts struct {
	Data    []byte
	Offsets []int32
	Valid   Bitmap
}

// At returns value i and whether it is not null. The bytes belong to the batch.
func (c Texts) At(i int) ([]byte, bool) {
	if len(c.Offsets) == 0 || !c.Valid.Valid(i) {
		return nil, false
	}
	return c.Data[c.Offsets[i]:c.Offsets[i+1]], true
}

// Dicts is a view of a Dict column: value i is Values[Codes[i]]. Codes is empty
// when the column is null throughout.
type Dicts struct {
	Codes  []int32
	Values []string
	Valid  Bitmap
}

// At returns the code of value i and whether it is not null.
func (c Dicts) At(i int) (int32, bool) {
	if len(c.Codes) == 0 || !c.Valid.Valid(i) {
		return 0, false
	}
	return c.Codes[i], true
}

// Bools is a view of a Bool column; bit i of Values (Arrow's layout) is value i.
// Values is empty when the column is null throughout.
type Bools struct {
	Values Bitmap
	Valid  Bitmap
}

// At returns value i and whether it is not null.
func (c Bools) At(i int) (value, ok bool) {
	if len(c.Values) == 0 || !c.Valid.Valid(i) {
		return false, false
	}
	return c.Values.Valid(i), true
}

// Lists is a view of a List column: value i is Values[Offsets[i]:Offsets[i+1]].
// Offsets is empty when the column is null throughout. An empty list is not null.
type Lists struct {
	Values  []int64
	Offsets []int32
	Valid   Bitmap
}

// At returns list i and whether it is not null. The slice belongs to the batch.
func (c Lists) At(i int) ([]int64, bool) {
	if len(c.Offsets) == 0 || !c.Valid.Valid(i) {
		return nil, false
	}
	return c.Values[c.Offsets[i]:c.Offsets[i+1]], true
}

// column stores one column of a Builder or a Batch. It holds n rows; a Builder
// pads it with nulls up to the current row when a value is set or the batch
// ends.
type column struct {
	n       int
	nulls   int
	valid   Bitmap // nil while nulls == 0
	ints    []int64
	floats  []float64
	codes   []int32
	bits    Bitmap
	data    []byte
	offsets []int32
	values  []string
	index   map[string]int32

	repaired bool // some value of the dictionary differs from the text in the source
}

// Count returns how many of the first n values are not null.
func (b Bitmap) Count(n int) int {
	if b == nil {
		return n
	}
	total := 0
	for _, x := range b[:n>>3] {
		total += bits.OnesCount8(x)
	}
	if n&7 != 0 {
		total += bits.OnesCount8(b[n>>3] & (1<<(n&7) - 1))
	}
	return total
}

// grow counts a value set in row, and the nulls of the rows since the last
// value.
func (c *column) grow(row int) {
	if missing := row - c.n; missing > 0 {
		if c.valid == nil {
			c.valid = ones(c.n)
		}
		c.nulls += missing
	}
	if c.valid != nil {
		for len(c.valid) <= row>>3 {
			c.valid = append(c.valid, 0)
		}
		c.valid[row>>3] |= 1 << (row & 7)
	}
	c.n = row + 1
}

// finish pads the column with nulls to the given number of rows.
func (c *column) finish(rows int, t Type) {
	if c.n > 0 {
		c.padTo(rows, t)
	}
}

// padTo pads the column with nulls to the given number of rows. The column may
// be empty.
func (c *column) padTo(rows int, t Type) {
	if c.n >= rows {
		return
	}
	if c.valid == nil {
		c.valid = ones(c.n)
	}
	for len(c.valid) < (rows+7)>>3 {
		c.valid = append(c.valid, 0)
	}
	c.nulls += rows - c.n
	switch t {
	case Int64, Time:
		c.ints = pad(c.ints, rows)
	case Float64:
		c.floats = pad(c.floats, rows)
	case Dict:
		c.codes = pad(c.codes, rows)
	case Bool:
		c.bits = pad(c.bits, (rows+7)>>3)
	case Text, List:
		if len(c.offsets) == 0 {
			c.offsets = append(c.offsets, 0)
		}
		c.offsets = padOffsets(c.offsets, rows)
	}
	c.n = rows
}

// truncate removes the value of row, the last one.
func (c *column) truncate(row int, t Type) {
	switch t {
	case Int64, Time:
		c.ints = c.ints[:row]
	case Float64:
		c.floats = c.floats[:row]
	case Dict:
		c.codes = c.codes[:row]
	case Text:
		c.data, c.offsets = c.data[:c.offsets[row]], c.offsets[:row+1]
	case List:
		c.ints, c.offsets = c.ints[:c.offsets[row]], c.offsets[:row+1]
	}
	if c.valid != nil {
		c.valid[row>>3] &^= 1 << (row & 7)
	}
	c.n = row
	if c.nulls == row { // only nulls are left
		c.reset()
	}
}

// reset empties the column and keeps its buffers. It drops the dictionary,
// because the batch handed out still uses it.
func (c *column) reset() {
	*c = column{ints: c.ints[:0], floats: c.floats[:0], codes: c.codes[:0], bits: c.bits[:0], data: c.data[:0], offsets: c.offsets[:0]}
}
