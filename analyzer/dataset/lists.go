package dataset

import (
	"math"

	"servescope/analyzer/trace"
)

// Segment holds the token lists of some rows.
type Segment struct {
	rows         int
	gaps, tokens packed
}

func (s *Segment) Bytes() int64 { return s.gaps.bytes() + s.tokens.bytes() }

// packed is a list column: in 32 bits where all values fit (gaps up to 4.29 s).
// It has no offsets when it is null throughout.
type packed struct {
	offsets []int32
	valid   trace.Bitmap
	small   []uint32
	wide    []int64
}

func pack(l trace.Lists) packed {
	p := packed{offsets: append([]int32(nil), l.Offsets...), valid: append(trace.Bitmap(nil), l.Valid...)}
	small, all := make([]uint32, len(l.Values)), uint64(0)
	for i, v := range l.Values {
		small[i] = uint32(v)
		all |= uint64(v)
	}
	if all > math.MaxUint32 {
		p.wide = append([]int64(nil), l.Values...)
	} else {
		p.small = small
	}
	return p
}

func (p *packed) bytes() int64 {
	return int64(4*len(p.offsets) + len(p.valid) + 4*len(p.small) + 8*len(p.wide))
}

// unpackedList is a list column that is put together from segments. Its memory
// PackLists returns the token lists of the rows of b.
func PackLists(b *trace.Batch) Segment {
	return Segment{b.Rows, pack(b.Lists(trace.ChunkGaps)), pack(b.Lists(trace.ChunkTokens))}
}

// is reused.
type unpackedList struct {
	trace.Lists
	rows int
	some bool // not null throughout
}

func (u *unpackedList) reset() {
	u.Values, u.Offsets, u.Valid = u.Values[:0], append(u.Offsets[:0], 0), u.Valid[:0]
	u.rows, u.some = 0, false
}

func (u *unpackedList) add(p *packed, rows int) {
	base := int32(len(u.Values))
	for i := range rows {
		valid := len(p.offsets) > 0 && p.valid.Valid(i)
		end := base
		if len(p.offsets) > 0 {
			end += p.offsets[i+1]
		}
		u.Offsets = append(u.Offsets, end)
		if u.rows>>3 == len(u.Valid) {
			u.Valid = append(u.Valid, 0)
		}
		if valid {
			u.Valid[u.rows>>3] |= 1 << (u.rows & 7)
			u.some = true
		}
		u.rows++
	}
	for _, v := range p.small {
		u.Values = append(u.Values, int64(v))
	}
	u.Values = append(u.Values, p.wide...)
}

// Unpacker makes batches with token lists from resident ones. One goroutine
// uses it; the batch is valid until the next call.
type Unpacker struct{ gaps, tokens unpackedList }

func (u *Unpacker) Batch(r Opened) *trace.Batch {
	u.gaps.reset()
	u.tokens.reset()
	for i := range r.Lists {
		s := &r.Lists[i]
		u.gaps.add(&s.gaps, s.rows)
		u.tokens.add(&s.tokens, s.rows)
	}
	b := r.Cols
	if u.gaps.some {
		b = b.WithLists(trace.ChunkGaps, u.gaps.Lists)
	}
	if u.tokens.some {
		b = b.WithLists(trace.ChunkTokens, u.tokens.Lists)
	}
	return b
}
