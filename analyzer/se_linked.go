package analyzer

import (
	"servescope/analyzer/join"
)

// groupsOf returns the groups of n rows from number base on.
func (sel *Selection) groupsOf(base int32, n int) []int32 {
	set := sel.set
	out := make([]int32, 0, n)
	for i := set.find(base); len(out) < n; i++ {
		r := set.requests[i]
		from := max(base-r.number, 0)
		to := min(int(from)+n-len(out), r.rows())
		out = append(out, sel.rows[i][from:to]...)
	}
	return out
}

// follow gives linked rows the verdict on the row that counts their request.
func (sel *Selection) follow(why [][]uint8) {
	set := sel.set
	for i, r := range set.requests {
		for k := range r.rows() {
			n := r.number + int32(k)
			if set.links.Role(n) != join.Linked {
				continue
			}
			lead := set.links.Lead(n)
			j := set.find(lead)
			sel.rows[i][k], why[i][k] = sel.rows[j][lead-set.requests[j].number], why[j][lead-set.requests[j].number]
		}
	}
}
