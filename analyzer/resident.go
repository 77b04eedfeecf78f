package analyzer

import (
	"math"

	"servescope/analyzer/trace"
)

// resident is a batch that stays in memory: its request columns, and its token
// lists in a compact form while those of all batches fit the budget.
type resident struct {
	place
	batch  *trace.Batch
	gaps   packed
	tokens packed
}

// place is where a batch comes from: its input, its run, and the number of its
// first row within the job that read it.
type place struct {
	file  *file
	slot  int32
	first int64
}

// packed is a list column: in 32 bits where all values fit (gaps up to 4.29 s).
type packed struct {
	offsets []int32
	valid   trace.Bitmap
	small   []uint32
	wide    []int64
}

func pack(l trace.Lists) packed {
	p := packed{offsets: append([]int32(nil), l.Offsets...), valid: append(trace.Bitmap(nil), l.Valid...)}
	for _, v := range l.Values {
		if v < 0 || v > math.MaxUint32 {
			p.wide = append([]int64(nil), l.Values...)
			return p
		}
	}
	p.small = make([]uint32, len(l.Values))
	for i, v := range l.Values {
		p.small[i] = uint32(v)
	}
	return p
}

// unpack returns the lists. The values are in buf, grown as needed, unless the
// column is stored wide; *buf is reused by the next call.
func (p *packed) unpack(buf *[]int64) trace.Lists {
	if p.wide != nil {
		return trace.Lists{Values: p.wide, Offsets: p.offsets, Valid: p.valid}
	}
	out := (*buf)[:0]
	for _, v := range p.small {
		out = append(out, int64(v))
	}
	*buf = out
	return trace.Lists{Values: out, Offsets: p.offsets, Valid: p.valid}
}

func (p *packed) bytes() int64 {
	return int64(4*len(p.offsets) + len(p.valid) + 4*len(p.small) + 8*len(p.wide))
}

// unpacker makes batches with token lists from resident ones. One goroutine
// uses it; the batch is valid until the next call.
type unpacker struct{ gaps, tokens []int64 }

func (u *unpacker) batch(r *resident) *trace.Batch {
	b := r.batch
	if len(r.gaps.offsets) > 0 {
		b = b.WithLists(trace.ChunkGaps, r.gaps.unpack(&u.gaps))
	}
	if len(r.tokens.offsets) > 0 {
		b = b.WithLists(trace.ChunkTokens, r.tokens.unpack(&u.tokens))
	}
	return b
}
