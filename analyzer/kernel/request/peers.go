package request

import (
	"servescope/analyzer/join"
	"servescope/analyzer/trace"
)

// Peers reads the other rows of a request. One goroutine uses it.
type Peers struct {
	Links *join.Links
	rows  map[*trace.Batch]*Rows
}

// Of returns the row of a side of the request of row n. It reports false where the side
// has none.
func (p *Peers) Of(n int32, side trace.Side) (Row, bool) {
	for _, m := range p.Links.Rows(n) {
		if p.Links.Side(m) == side && p.Links.Role(m) != join.Repeats {
			return p.At(m), true
		}
	}
	return Row{}, false
}

// At returns row m.
func (p *Peers) At(m int32) Row {
	b, i := p.Links.At(m)
	r := p.rows[b]
	if r == nil {
		if p.rows == nil {
			p.rows = make(map[*trace.Batch]*Rows)
		}
		own := rowsOf(&View{Batch: b, Links: p.Links, Base: m - int32(i)})
		r = &own
		p.rows[b] = r
	}
	return r.At(i)
}
