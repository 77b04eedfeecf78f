package selection

import (
	"servescope/analyzer/join"
)

// linkedValues finds the rows to which the rows of a batch are linked. The zero value
// links no rows.
type linkedValues struct {
	links *join.Links
	base  int32 // number of the batch's first row
}

func linkedValuesOf(links *join.Links, base int32) linkedValues { return linkedValues{links, base} }

// complete sets the values of rows without a value, 0 in ids, to the value of the
// outermost row of their request that has one.
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
