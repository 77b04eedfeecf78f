// Package numx reads numbers from text, exactly and fast: decimal text becomes
// int64 nanoseconds (or any other power of ten) by decimal arithmetic, rounded
// half to even, without going through float64. An epoch second in a float64
// resolves 238 ns; its text often says more.
//
// The grammar is JSON's number, with leading zeros allowed:
//
//	-? digit+ ('.' digit+)? ([eE] [+-]? digit+)?
//
// Every function reads the longest such number at the start of its argument and
// returns how many bytes it has; what follows is the caller's to judge. None
// allocates, and all are safe for concurrent use.
package numx

import "math/bits"

// Scales of texts in units of time, for results in nanoseconds: a text in
// seconds is multiplied by 10^Second.
const (
	Second      = 9
	Millisecond = 6
	Microsecond = 3
	Nanosecond  = 0
)

// Seconds reads decimal seconds as nanoseconds; see Scaled. Epoch seconds with
// other bytes behind them are fastest.
func Seconds(b []byte) (ns int64, n int, ok bool) {
	if len(b) >= 32 && b[10] == '.' {
		if ns, n = epoch((*[32]byte)(b)); n > 0 {
			return ns, n, true
		}
	}
	return Scaled(b, Second)
}

// Scaled reads a number and returns it times 10^scale, rounded half to even.
// n is the number's length in bytes, 0 when b does not begin with a number; ok
// is false for that and when the result does not fit into an int64. scale must
// be within 0 and 18.
func Scaled(b []byte, scale int) (v int64, n int, ok bool) {
	d := scan(b)
	if d.n == 0 {
		return 0, 0, false
	}
	v, _, ok = d.scaled(b, scale)
	return v, d.n, ok
}

// ParseInt reads a number that is an integer, however it is written: 200,
// 200.0 and 2e2 are the same. n is as in Scaled; ok is false when b does not
// begin with a number, or with one that is no integer or does not fit.
func ParseInt(b []byte) (v int64, n int, ok bool) {
	if len(b) >= 8 {
		t := load(b, 0) ^ zeros
		if k := digits(t); k > 0 && k < 8 { // short, like most counts
			if c := b[k]; c != '.' && c|0x20 != 'e' {
				return int64(parse8(t << (64 - 8*k))), k, true
			}
		}
	}
	d := scan(b)
	if d.n == 0 {
		return 0, 0, false
	}
	v, exact, ok := d.scaled(b, 0)
	return v, d.n, ok && exact
}

// decimal is a number taken apart: its value is ±mantissa × 10^(exp-frac).
type decimal struct {
	mantissa uint64 // all digits, valid when digits <= maxDigits
	digits   int    // digits before the exponent, leading zeros included
	frac     int    // of these, digits after the point
	exp      int    // written exponent, saturated at ±maxExp
	n        int    // length in bytes, 0: not a number
	neg      bool
}

const (
	maxDigits = 19      // decimal digits that always fit into a uint64
	maxExp    = 1 << 30 // beyond it every number is zero or too large
)

// scan takes apart the number at the start of b.
func scan(b []byte) (d decimal) {
	i := 0
	if len(b) > 0 && b[0] == '-' {
		d.neg = true
		i = 1
	}
	start := i
	d.mantissa, i = digitRun(b, i, 0)
	if i == start {
		return decimal{}
	}
	d.digits = i - start
	if i+1 < len(b) && b[i] == '.' && b[i+1]-'0' <= 9 {
		start = i + 1
		d.mantissa, i = digitRun(b, start, d.mantissa)
		d.frac = i - start
		d.digits += d.frac
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		d.exp, i = exponent(b, i)
	}
	d.n = i
	return d
}

// digitRun reads the digits at b[i:] after those already in m and returns where
// they end. m wraps around when it gets more than maxDigits digits.
func digitRun(b []byte, i int, m uint64) (uint64, int) {
	for len(b)-i >= 8 {
		t := load(b, i) ^ zeros
		k := digits(t)
		if k < 8 {
			return m*pow10[k] + parse8(t<<(64-8*k)), i + k
		}
		m = m*1e8 + parse8(t)
		i += 8
	}
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		m = m*10 + uint64(b[i]-'0')
	}
	return m, i
}

// exponent reads the exponent that begins with the 'e' at b[i]. Without a digit
// it is none, and the number ends before the 'e'.
func exponent(b []byte, i int) (exp, end int) {
	j := i + 1
	neg := false
	if j < len(b) && (b[j] == '-' || b[j] == '+') {
		neg = b[j] == '-'
		j++
	}
	start := j
	for ; j < len(b) && b[j]-'0' <= 9; j++ {
		if exp < maxExp/16 {
			exp = exp*10 + int(b[j]-'0')
		}
	}
	if j == start {
		return 0, i
	}
	if neg {
		exp = -exp
	}
	return exp, j
}

// scaled returns the number, whose text is b[:d.n], times 10^scale. exact tells
// that nothing was rounded away.
func (d *decimal) scaled(b []byte, scale int) (v int64, exact, ok bool) {
	if d.digits > maxDigits {
		return d.scaledSlow(b, scale)
	}
	if d.mantissa == 0 {
		return 0, true, true
	}
	m, q := d.mantissa, scale-d.frac+d.exp
	switch {
	case q > maxDigits:
		return 0, false, false
	case q >= 0:
		hi, lo := bits.Mul64(m, pow10[q])
		if hi != 0 {
			return 0, false, false
		}
		m, exact = lo, true
	case q < -maxDigits: // below 10^-1
		m = 0
	default:
		p := pow10[-q]
		rest := m % p
		m /= p
		if half := p / 2; rest > half || rest == half && m&1 == 1 {
			m++
		}
		exact = rest == 0
	}
	v, ok = signed(m, d.neg)
	return v, exact, ok
}

// scaledSlow is scaled for any number of digits, one at a time.
func (d *decimal) scaledSlow(b []byte, scale int) (v int64, exact, ok bool) {
	keep := d.digits - d.frac + d.exp + scale // digits before the result's point
	var m uint64
	var next byte       // the first digit behind the result's point
	var rest, seen bool // whether any other one is not zero; any at all is not zero
	at := 0
	for _, c := range b[:d.n] {
		if c |= 0x20; c == 'e' {
			break
		}
		if c -= '0'; c > 9 { // sign or point
			continue
		}
		switch {
		case at < keep:
			if m > (1<<63)/10 {
				return 0, false, false
			}
			m = m*10 + uint64(c)
		case at == keep:
			next = c
		default:
			rest = rest || c != 0
		}
		seen = seen || c != 0
		at++
	}
	if !seen {
		return 0, true, true
	}
	for ; at < keep; at++ {
		if m > (1<<63)/10 {
			return 0, false, false
		}
		m *= 10
	}
	if keep >= 0 && (next > 5 || next == 5 && (rest || m&1 == 1)) {
		m++
	}
	v, ok = signed(m, d.neg)
	return v, keep >= 0 && next == 0 && !rest, ok
}

// signed returns ±m as an int64, and whether it fits.
func signed(m uint64, neg bool) (int64, bool) {
	if neg {
		return -int64(m), m <= 1<<63
	}
	return int64(m), m < 1<<63
}
