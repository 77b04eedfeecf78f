package selection

import (
	"math/bits"

	"servescope/analyzer/join"
	"servescope/analyzer/trace"
)

// others are the rows that those of a batch are linked to; of the zero value there
// are none.
type others struct {
	links *join.Links
	base  int32 // number of the batch's first row
}

func othersOf(links *join.Links, base int32) others { return others{links, base} }

// complete sets the values of rows that tell none, 0 in ids, to those of the
// outermost row of their request that does.
func (p others) complete(d *dimension, ids []int32) {
	if p.links == nil {
		return
	}
	for i, id := range ids {
		if id != 0 {
			continue
		}
		for _, m := range p.links.Rows(p.base + int32(i)) {
			b, k := p.links.At(m)
			if ids[i] = d.idOf(b, k); ids[i] != 0 {
				break
			}
		}
	}
}

// idOf returns the number of the value of row i, 0 for null.
func (d *dimension) idOf(b *trace.Batch, i int) int32 {
	if d.count {
		if v, ok := b.Ints(d.col).At(i); ok && v >= 0 {
			return int32(bits.Len64(uint64(v))) + 1
		}
		return 0
	}
	c := b.Dicts(d.col)
	if code, ok := c.At(i); ok {
		return d.id(c.Values[code], false)
	}
	if name := b.Run.Default(d.col); name != "" {
		return d.id(name, false)
	}
	return 0
}
