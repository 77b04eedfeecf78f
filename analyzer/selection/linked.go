package selection

import (
	"servescope/analyzer/join"
)

// groupsOf returns the groups of n rows from number base on.
func groupsOf(sel *Selection, base int32, n int) []int32 {
	set := sel.Set
	out := make([]int32, 0, n)
	for i := set.Find(base); len(out) < n; i++ {
		r := set.Requests[i]
		from := max(base-r.Number, 0)
		to := min(int(from)+n-len(out), r.Rows())
		out = append(out, sel.rows[i][from:to]...)
	}
	return out
}

// follow gives linked rows the verdict on the row that counts their request.
func follow(sel *Selection, why [][]uint8) {
	set := sel.Set
	for i, r := range set.Requests {
		for k := range r.Rows() {
			n := r.Number + int32(k)
			if set.Links.Role(n) != join.Linked {
				continue
			}
			lead := set.Links.Lead(n)
			j := set.Find(lead)
			sel.rows[i][k], why[i][k] = sel.rows[j][lead-set.Requests[j].Number], why[j][lead-set.Requests[j].Number]
		}
	}
}
