package column

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// AppendInt appends a number of the field as text: a whole number, a decimal, or a time
// in ns.
func (f *Field) AppendInt(b []byte, v int64) []byte {
	switch {
	case f.Unsigned:
		return strconv.AppendUint(b, uint64(v), 10)
	case f.Step > 1:
		size := uint64(v)
		if v < 0 {
			size = -size
		}
		if high, low := bits.Mul64(size, uint64(f.Step)); high == 0 && low <= math.MaxInt64 {
			return strconv.AppendInt(b, v*f.Step, 10)
		}
		b = strconv.AppendInt(b, v, 10) // beyond any time, which it stays
		return append(b, "e18"...)
	}
	return appendDecimal(b, v, f.Scale)
}

// appendDecimal appends v × 10^-scale, without zeros at its end.
func appendDecimal(b []byte, v int64, scale int) []byte {
	for ; scale > 0 && v%10 == 0 && v != 0; scale-- {
		v /= 10
	}
	if scale <= 0 || v == 0 {
		return strconv.AppendInt(b, v, 10)
	}
	if v < 0 {
		b = append(b, '-')
	}
	text := strconv.FormatInt(v, 10)
	text = strings.TrimPrefix(text, "-")
	if n := len(text) - scale; n > 0 {
		b = append(b, text[:n]...)
		text = text[n:]
	} else {
		b = append(b, '0')
		text = strings.Repeat("0", -n) + text
	}
	return append(append(b, '.'), text...)
}

// AppendFloat appends the shortest number that is the value.
func (f *Field) AppendFloat(b []byte, v float64) []byte {
	size := 64
	if f.Narrow {
		size = 32
	}
	form := byte('f')
	if a := max(v, -v); a != 0 && a < 1e-9 || a >= 1e21 {
		form = 'e'
	}
	return strconv.AppendFloat(b, v, form, -1, size)
}
