package audit

import (
	"fmt"
)

// factor says how many times b goes into a.
func factor(a, b float64) string {
	if b == 0 {
		return "infinitely many"
	}
	return fmt.Sprintf("%.4g", a/b)
}
