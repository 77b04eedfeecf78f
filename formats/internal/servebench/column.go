package servebench

import (
	"math"
	"unsafe"
)

// chunk is how many values of a column are in one piece of memory.
const chunk = 1 << 13

// column holds one small value per request in chunks, so that growing never
// copies and never needs one large piece of memory. Full chunks of int64 take
// half of it where the values differ by less than 2³²: numbers of tokens, and
// times below 4.29 s.
type column[T int64 | int32 | int8] struct {
	chunks   []piece[T]
	n        int
	saved    int64 // bytes, by chunks that take less
	present  bool  // the key was there
	complete bool  // its array was read to the end
	bad      int   // entries of another type
	badAt    int64 // offset of the first one
}

// piece is one chunk of a column.
type piece[T int64 | int32 | int8] struct {
	wide  []T
	above []uint32 // instead of wide: the values less the least of them
	least T
}

func (c *column[T]) at(i int) T {
	p := &c.chunks[i/chunk]
	if p.above != nil {
		return p.least + T(p.above[i%chunk])
	}
	return p.wide[i%chunk]
}

func (c *column[T]) append(v T) {
	k := c.n / chunk
	if k == len(c.chunks) {
		var next piece[T]
		if k > 0 {
			if next.wide = c.pack(&c.chunks[k-1]); next.wide == nil {
				next.wide = make([]T, 0, chunk) // the first is as short as its array
			}
		}
		c.chunks = append(c.chunks, next)
	}
	c.chunks[k].wide = append(c.chunks[k].wide, v)
	c.n++
}

// pack makes a full chunk take half of its memory, if that is possible, and
// returns what was its memory, empty, or else nil.
func (c *column[T]) pack(p *piece[T]) []T {
	if unsafe.Sizeof(p.least) < 8 {
		return nil
	}
	least, most := p.wide[0], p.wide[0]
	for _, v := range p.wide {
		least, most = min(least, v), max(most, v)
	}
	if uint64(most)-uint64(least) > math.MaxUint32 {
		return nil
	}
	p.least, p.above = least, make([]uint32, len(p.wide))
	for i, v := range p.wide {
		p.above[i] = uint32(v - least)
	}
	c.saved += 4 * int64(len(p.above))
	free := p.wide[:0]
	p.wide = nil
	return free
}

func (c *column[T]) reset() {
	if len(c.chunks) > 0 {
		first := c.chunks[0].wide[:0]
		c.chunks = append(c.chunks[:0], piece[T]{wide: first})
	}
	c.n, c.saved, c.present, c.complete, c.bad = 0, 0, false, false, 0
}

// bytes is the memory that the values take.
func (c *column[T]) bytes() int64 {
	var v T
	return int64(c.n)*int64(unsafe.Sizeof(v)) - c.saved
}

func (c *column[T]) misfit(at int64) {
	if c.bad == 0 {
		c.badAt = at
	}
	c.bad++
}
