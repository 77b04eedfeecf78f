package stat

import (
	"encoding/binary"
	"math"
	"slices"
	"sort"
)

// instantBlock is the number of values in a block of Instants.
const instantBlock = 1 << 10

// Instants is a multiset of int64 values such as the times of a log, where
// values added one after the other are close. It stores sorted blocks as
// differences, in two to four bytes for each value. Instants merge in any
// order, with the same result. The zero value is empty.
type Instants struct {
	blocks  []instants
	tail    []int64 // values that are in no block yet
	n       int64
	settled bool // blocks do not overlap in time, and tail is empty
}

// instants is a block. The bytes of code are shared between Instants and never
// change.
type instants struct {
	first, last int64
	before      int64 // number of values in earlier blocks, if settled
	n           int
	code        []byte
}

// inTime sorts blocks by their first value. The order of equal blocks does not
// matter.
type inTime []instants

func (b inTime) Len() int           { return len(b) }
func (b inTime) Less(i, j int) bool { return b[i].first < b[j].first }
func (b inTime) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }

// InstantsOf returns the Instants with the given values. It does not keep the
// slice.
func InstantsOf(values []int64) *Instants {
	s := new(Instants)
	for _, v := range values {
		s.Add(v)
	}
	return s
}

// N returns the number of values.
func (s *Instants) N() int64 { return s.n }

// Add adds v.
func (s *Instants) Add(v int64) {
	if len(s.tail) == cap(s.tail) {
		if len(s.tail) >= instantBlock {
			s.seal()
		} else {
			s.tail = append(make([]int64, 0, min(max(2*len(s.tail), 8), instantBlock)), s.tail...)
		}
	}
	s.tail, s.settled = append(s.tail, v), false
	s.n++
}

// seal moves the tail to a block.
func (s *Instants) seal() {
	if len(s.tail) > 0 {
		Sort(s.tail)
		s.put(s.tail)
		s.tail = s.tail[:0]
	}
}

// put appends sorted values as blocks.
func (s *Instants) put(sorted []int64) {
	var code [binary.MaxVarintLen64 * instantBlock]byte
	for part := range slices.Chunk(sorted, instantBlock) {
		dst := code[:0]
		for i, v := range part[1:] {
			dst = binary.AppendUvarint(dst, uint64(v)-uint64(part[i]))
		}
		s.blocks = append(s.blocks, instants{first: part[0], last: part[len(part)-1], n: len(part), code: append([]byte(nil), dst...)})
	}
}

// appendTo appends the values of the block.
func (b *instants) appendTo(dst []int64) []int64 {
	v, code, at := b.first, b.code, len(dst)
	dst = slices.Grow(dst, b.n)[:at+b.n]
	dst[at] = v
	for i := 0; i < len(code); i++ {
		step, shift := uint64(code[i]&0x7f), 7
		for code[i] >= 0x80 {
			i++
			step |= uint64(code[i]&0x7f) << shift
			shift += 7
		}
		v = int64(uint64(v) + step)
		at++
		dst[at] = v
	}
	return dst
}

// Merge adds the values of o and leaves o unchanged.
func (s *Instants) Merge(o *Instants) {
	s.blocks = append(s.blocks, o.blocks...)
	s.n += o.n - int64(len(o.tail))
	s.settled = false
	for _, v := range o.tail {
		s.Add(v)
	}
}

// Sort orders all values. AppendTo and a Sweep call it when needed.
func (s *Instants) Sort() { s.settle() }

// settle orders all values. It unpacks at most the blocks that overlap in time.
func (s *Instants) settle() {
	if s.settled {
		return
	}
	s.seal()
	s.tail, s.settled = nil, true
	// Unpack the blocks in order of their first value.
	sort.Sort(inTime(s.blocks))
	old := s.blocks
	s.blocks = make([]instants, 0, len(old))
	var pending []int64
	goal := 32 * instantBlock
	for i := range old {
		pending = old[i].appendTo(pending)
		old[i].code = nil // frees the memory before the next blocks are unpacked
		if i+1 < len(old) && len(pending) < goal {
			continue
		}
		// Write whole blocks of the values that lie before all other blocks.
		Sort(pending)
		n := len(pending)
		if i+1 < len(old) {
			n = sort.Search(n, func(k int) bool { return pending[k] > old[i+1].first }) / instantBlock * instantBlock
		}
		s.put(pending[:n])
		pending = pending[:copy(pending, pending[n:])]
		goal = 2*len(pending) + 32*instantBlock
	}
	// Number the values.
	before := int64(0)
	for i := range s.blocks {
		s.blocks[i].before = before
		before += int64(s.blocks[i].n)
	}
}

// Size returns the approximate memory of the values in bytes.
func (s *Instants) Size() int64 {
	n := 8 * int64(cap(s.tail))
	for i := range s.blocks {
		n += 56 + int64(cap(s.blocks[i].code))
	}
	return n
}

// AppendTo appends the encoding of s to dst.
func (s *Instants) AppendTo(dst []byte) []byte {
	s.settle()
	dst = binary.AppendUvarint(dst, uint64(s.n))
	last := int64(0)
	for i := range s.blocks {
		b := &s.blocks[i]
		if i == 0 {
			dst = binary.AppendVarint(dst, b.first)
		} else {
			dst = binary.AppendUvarint(dst, uint64(b.first)-uint64(last))
		}
		dst, last = append(dst, b.code...), b.last
	}
	return dst
}

// Load replaces s by the encoding at the start of src and returns the rest.
func (s *Instants) Load(src []byte) (rest []byte, err error) {
	n, k := binary.Uvarint(src)
	if k <= 0 || n > uint64(len(src)) { // each value takes at least one byte
		return nil, ErrEncoding
	}
	*s = Instants{n: int64(n)}
	src = src[k:]
	last := int64(math.MinInt64)
	for left := int(n); left > 0; left -= instantBlock {
		b := instants{n: min(left, instantBlock)}
		if b.first, k = binary.Varint(src); len(s.blocks) > 0 {
			var step uint64
			step, k = binary.Uvarint(src)
			b.first = int64(uint64(last) + step)
		}
		if k <= 0 || b.first < last { // b.first < last: the step overflowed
			return nil, ErrEncoding
		}
		last, src = b.first, src[k:]
		size := 0
		for range b.n - 1 {
			step, k := binary.Uvarint(src[size:])
			next := int64(uint64(last) + step)
			if k <= 0 || next < last {
				return nil, ErrEncoding
			}
			last, size = next, size+k
		}
		b.last, b.code = last, slices.Clone(src[:size])
		s.blocks, src = append(s.blocks, b), src[size:]
	}
	return src, nil
}

// cursor reads settled Instants in order, one block at a time.
type cursor struct {
	in    *Instants
	block int // index of the block in buf
	buf   []int64
	at    int // index in buf
}

func newCursor(in *Instants) cursor {
	in.settle()
	return cursor{in: in, block: -1}
}

// load unpacks the given block. The block after the last one is empty.
func (c *cursor) load(block int) {
	if c.at = 0; c.block == block {
		return
	}
	c.block, c.buf = block, c.buf[:0]
	if block < len(c.in.blocks) {
		c.buf = c.in.blocks[block].appendTo(c.buf)
	}
}

// seek moves to the first value above t and returns the number of values up to
// t.
func (c *cursor) seek(t int64) int64 {
	blocks := c.in.blocks
	c.load(sort.Search(len(blocks), func(i int) bool { return blocks[i].last > t }))
	if c.block == len(blocks) {
		return c.in.n
	}
	c.at = sort.Search(len(c.buf), func(i int) bool { return c.buf[i] > t })
	return blocks[c.block].before + int64(c.at)
}

// next returns the value at the cursor, but at most limit.
func (c *cursor) next(most int64) int64 {
	if c.at < len(c.buf) && c.buf[c.at] < most {
		return c.buf[c.at]
	}
	return most
}

// following loads the next block and returns its values.
func (c *cursor) following() []int64 {
	c.load(c.block + 1)
	return c.buf
}
