package audit

import (
	"fmt"
)

// factor returns a/b as text.
func factor(a, b float64) string {
	if b == 0 {
		return "infinitely many"
	}
	return fmt.Sprintf("%.4g", a/b)
}
