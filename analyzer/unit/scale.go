package unit

import (
	"math"
	"strconv"
	"strings"
)

// digits is the number of significant digits in texts for people.
const digits = 4

// Scale says how the values of a row or column are printed: divided by Factor,
// with Prec digits after the point. Symbol stands in the heading or after the
// number.
type Scale struct {
	Symbol string
	Factor float64
	Prec   int
}

// Common returns one scale for vals, the values of a row or a column. The
// nonzero value closest to zero picks the step, as in benchstat, so that no
// value loses its digits. Common skips a step that would print the largest
// value with more than five digits before the point, and limits the largest
// value to six digits. Steps are picked by rounded values: 999.96 ns prints as
// 1.000 µs. If all values are whole numbers in the picked step, they get no
// digits after the point.
func Common(u Unit, vals ...float64) Scale {
	// Find the smallest nonzero and the largest magnitude.
	lo, hi := math.Inf(1), 0.0
	for _, v := range vals {
		v = math.Abs(v)
		if v > 0 && v < lo {
			lo = v
		}
		if v > hi && !math.IsInf(v, 0) {
			hi = v
		}
	}
	if hi == 0 {
		lo = 0
	}
	// Pick the step.
	steps := Steps[u]
	if steps == nil {
		steps = []Step{{string(u), 1, 0}}
	}
	at := 0
	for i, s := range steps {
		if s.From <= round(lo/s.Factor)*s.Factor || steps[at].Factor*99999.5 <= hi {
			at = i
		}
	}
	// Pick the digits after the point.
	s := Scale{Symbol: steps[at].Symbol, Factor: steps[at].Factor}
	if !whole(vals, s.Factor) {
		s.Prec = min(precision(lo/s.Factor), max(0, 6-len(strconv.FormatFloat(hi/s.Factor, 'f', 0, 64))))
	}
	return s
}

// Format returns v scaled, without the symbol, with Prec digits after the
// point, so that numbers in a column line up. A nonzero value never prints as
// zero.
func (s Scale) Format(v float64) string { return fixed(v/s.Factor, s.Prec) }

// Short returns v scaled, without the symbol, with four significant digits or
// all digits before the point. It suits numbers that stand in a row.
func (s Scale) Short(v float64) string {
	v /= s.Factor
	if isWhole(v) {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return fixed(v, precision(math.Abs(v)))
}

// Format returns one value with its symbol: "12.34 ms", "98.5 %", "512".
func Format(u Unit, v float64) string {
	s := Common(u, v)
	if s.Symbol == "" {
		return s.Short(v)
	}
	return s.Short(v) + " " + s.Symbol
}

// fixed prints v with prec digits after the point. If a nonzero v would print
// as zero, fixed prints "<" and the smallest number that prec digits can show.
func fixed(v float64, prec int) string {
	text := strconv.FormatFloat(v, 'f', prec, 64)
	if v != 0 && strings.Trim(text, "-0.") == "" {
		smallest := "1"
		if prec > 0 {
			smallest = "0." + strings.Repeat("0", prec-1) + "1"
		}
		if v < 0 {
			return ">-" + smallest
		}
		return "<" + smallest
	}
	return text
}

// precision returns the number of digits after the point for v ≥ 0.
func precision(v float64) int {
	switch {
	case v == 0:
		return 0
	case v < 0.1:
		return digits
	}
	prec := digits - 1
	for v = round(v); v >= 10 && prec > 0; v /= 10 {
		prec--
	}
	return prec
}

// round rounds v to the printed number of significant digits.
func round(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', digits-1, 64), 64)
	return r
}

// whole reports whether every value is a whole number in units of factor.
func whole(vals []float64, factor float64) bool {
	for _, v := range vals {
		if !isWhole(v / factor) {
			return false
		}
	}
	return true
}

// isWhole reports whether v is a whole number, ignoring the rounding error of
// scaling: 0.07/0.01 is 7.000000000000001.
func isWhole(v float64) bool {
	return math.Abs(v-math.Round(v)) <= 1e-12*math.Abs(v)
}
