package dataset

import (
	"fmt"

	"servescope/analyzer/diag"
	"servescope/formats"
)

// checkDuplicateLines notes which text logs hold lines of another: a rotated file and
// its archive, or a copy. Nothing is left out, because two processes may print
// the same line.
func checkDuplicateLines(s *Set) {
	for i, f := range s.Inputs {
		if f.Format == nil || f.Account.Prints.Lines == 0 {
			continue
		}
		for _, g := range s.Inputs[:i] {
			if g.Format == nil || g.Account.Prints.Lines == 0 {
				continue
			}
			n, exact := common(f.Account.Prints, g.Account.Prints)
			if n == 0 {
				continue
			}
			about := ""
			if !exact {
				about = "about "
			}
			f.Diags.Add(diag.Diag{Code: "repeated_lines", Severity: diag.Notice, File: f.Source.Name(), Offset: -1, Count: n,
				Msg: fmt.Sprintf("%s%d of %d lines occur in two inputs, here and in %s: their requests and steps are counted twice", about, n, f.Account.Prints.Lines+g.Account.Prints.Lines, g.Source.Name()),
				Fix: "leave out one of the two files"})
		}
	}
}

// common counts the lines that two logs share, once for each pair, or estimates
// that from the hashes that both keep.
func common(a, b formats.Prints) (n int64, exact bool) {
	below := a.Below
	if b.Below != 0 && (below == 0 || b.Below < below) {
		below = b.Below
	}
	i, j := 0, 0
	for i < len(a.Hashes) && j < len(b.Hashes) {
		x, y := a.Hashes[i], b.Hashes[j]
		if below != 0 && min(x, y) >= below {
			break
		}
		switch {
		case x < y:
			i++
		case y < x:
			j++
		default:
			n++
			i++
			j++
		}
	}
	if below == 0 || n == 0 {
		return n, true
	}
	const all = float64(1<<63) * 2
	return int64(float64(n) * (all / float64(below))), false
}
