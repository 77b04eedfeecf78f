package trace

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// Packed describes a batch whose values are stored elsewhere in compact form.
// It holds the list of columns and the values of dictionaries.
type Packed struct {
	batch   Batch          // has no columns
	columns []packedColumn // columns with values, in order
}

// packedColumn describes one column of a Packed. Only columns with values have
// one, because there may be thousands of batches.
type packedColumn struct {
	at       Col
	n, nulls int
	values   []string
	repaired bool
}

// Pack appends the compact form of b, without its lists, to dst. Integers are
// little-endian, and as wide as the range of the column's values in this batch
// requires.
func (b *Batch) Pack(dst []byte) ([]byte, *Packed) {
	p := &Packed{batch: *b}
	p.batch.columns, p.batch.from = nil, nil
	for i := range b.columns {
		c := &b.columns[i]
		if c.n == 0 || b.Table.Fields[i].Type == List {
			continue
		}
		p.columns = append(p.columns, packedColumn{Col(i), c.n, c.nulls, c.values, c.repaired})
		dst = c.pack(dst)
	}
	p.columns = slices.Clone(p.columns) // frees the spare capacity
	return dst, p
}

// Rows returns the number of rows.
func (p *Packed) Rows() int { return p.batch.Rows }

// Has reports whether column c holds at least one value that is not null.
func (p *Packed) Has(c Col) bool {
	return slices.ContainsFunc(p.columns, func(col packedColumn) bool { return col.at == c && col.nulls < col.n })
}

// Run returns the run that all rows belong to.
func (p *Packed) Run() *RunMeta { return p.batch.Run }

// Unpack returns the batch whose compact form is src, in new memory. ok is
// false if src is corrupt.
func (p *Packed) Unpack(src []byte) (b *Batch, ok bool) {
	out := p.batch
	out.columns = make([]column, len(out.Table.Fields))
	u := unpacking{src: src}
	for _, c := range p.columns {
		col := &out.columns[c.at]
		*col = column{n: c.n, nulls: c.nulls, values: c.values, repaired: c.repaired}
		col.unpack(&u)
	}
	return &out, !u.bad && len(u.src) == 0
}

// lengths returns the first offset, then the difference of each offset to the
// one before.
func lengths(offsets []int32) []int32 {
	out := make([]int32, len(offsets))
	for i, v := range offsets {
		if out[i] = v; i > 0 {
			out[i] -= offsets[i-1]
		}
	}
	return out
}

func packBytes(dst, b []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(b))), b...)
}

// packInts appends the smallest value, then each value's difference to it.
func packInts[T int32 | int64](dst []byte, values []T) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(values)))
	if len(values) == 0 {
		return dst
	}
	lo, hi := values[0], values[0]
	for _, v := range values {
		lo, hi = min(lo, v), max(hi, v)
	}
	width := (bits.Len64(uint64(int64(hi))-uint64(int64(lo))) + 7) / 8
	dst = append(binary.LittleEndian.AppendUint64(dst, uint64(int64(lo))), byte(width))
	if width == 0 {
		return dst
	}
	at := len(dst)
	dst = slices.Grow(dst, len(values)*width+8)[:at+len(values)*width+8]
	for _, v := range values { // each write overlaps the next value; the last overlap is cut off
		binary.LittleEndian.PutUint64(dst[at:], uint64(int64(v))-uint64(int64(lo)))
		at += width
	}
	return dst[:at]
}

func unpackInts[T int32 | int64](u *unpacking) []T {
	n := u.count()
	if n == 0 {
		return nil
	}
	head := u.take(9)
	if u.bad || head[8] > 8 {
		// The width is 0 to 8 bytes per value.
		u.bad = true
		return nil
	}
	lo, width := binary.LittleEndian.Uint64(head), int(head[8])
	raw := u.take(n * width)
	if u.bad {
		return nil
	}
	// Read eight bytes at a time, then the last values byte by byte.
	out := make([]T, n)
	mask := uint64(math.MaxUint64) >> (64 - 8*width)
	at, i := 0, 0
	for ; i < n && at+8 <= len(raw); i++ {
		out[i] = T(lo + binary.LittleEndian.Uint64(raw[at:])&mask)
		at += width
	}
	for ; i < n; i++ {
		var last [8]byte
		copy(last[:], raw[at:at+width])
		out[i] = T(lo + binary.LittleEndian.Uint64(last[:]))
		at += width
	}
	return out
}
