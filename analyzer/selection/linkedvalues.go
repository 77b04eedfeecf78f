package selection

import (
	"servescope/analyzer/join"
)

// linkedValues are the rows that those of a batch are linked to; of the zero value there
// are none.
type linkedValues struct {
	links *join.Links
	base  int32 // number of the batch's first row
}

func linkedValuesOf(links *join.Links, base int32) linkedValues { return linkedValues{links, base} }

// complete sets the values of rows that tell none, 0 in ids, to those of the
// outermost row of their request that does.
func (p linkedValues) complete(d *dimension, ids []int32) {
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
