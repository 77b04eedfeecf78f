package numx

import "strconv"

// exact10 holds the powers of ten that a float64 represents exactly.
var exact10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// ParseFloat reads a number as the nearest float64, as strconv.ParseFloat
// does. n is as in Scaled; ok is false when b does not begin with a number or
// with one beyond the range of float64.
//
// A mantissa below 2^53 times or divided by a power of ten up to 10^22 is one
// correctly rounded operation on exact operands (Clinger 1990); everything else
// goes to strconv.
func ParseFloat(b []byte) (f float64, n int, ok bool) {
	d := scan(b)
	if d.n == 0 {
		return 0, 0, false
	}
	if q := d.exp - d.frac; d.digits <= maxDigits && d.mantissa <= 1<<53 && q >= -22 && q <= 22 {
		f = float64(d.mantissa)
		if q < 0 {
			f /= exact10[-q]
		} else {
			f *= exact10[q]
		}
		if d.neg {
			f = -f
		}
		return f, d.n, true
	}
	f, err := strconv.ParseFloat(string(b[:d.n]), 64)
	return f, d.n, err == nil
}
