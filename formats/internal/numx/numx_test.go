package numx

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// number is the grammar of the package, as a regular expression.
var number = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?`)

// reference is Scaled by rational arithmetic. exact tells that the value times
// 10^scale is an integer.
func reference(b []byte, scale int) (v int64, n int, exact, ok bool) {
	s := number.Find(b)
	if s == nil {
		return 0, 0, false, false
	}
	mantissa, exp, _ := strings.Cut(strings.ToLower(string(s)), "e")
	digits := strings.NewReplacer("-", "", ".", "", "0", "").Replace(mantissa)
	e, err := strconv.Atoi(exp)
	if exp != "" && err != nil || e > 1000 || e < -1000 {
		// Too far out for rational arithmetic, except where all digits are zeros.
		small := strings.HasPrefix(exp, "-")
		return 0, len(s), digits == "", digits == "" || small
	}
	r, _ := new(big.Rat).SetString(mantissa)
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(e+scale, -e-scale))), nil)
	if e+scale >= 0 {
		r.Mul(r, new(big.Rat).SetInt(ten))
	} else {
		r.Quo(r, new(big.Rat).SetInt(ten))
	}
	// Round half to even: floor(r + 1/2), one less where that hit a tie on an odd integer.
	sum := new(big.Rat).Add(r, big.NewRat(1, 2))
	q := new(big.Int).Div(sum.Num(), sum.Denom())
	if sum.IsInt() && q.Bit(0) == 1 {
		q.Sub(q, big.NewInt(1))
	}
	return q.Int64(), len(s), r.IsInt(), q.IsInt64()
}

func check(t *testing.T, b []byte, scale int) {
	t.Helper()
	v, n, ok := Scaled(b, scale)
	wantV, wantN, exact, wantOK := reference(b, scale)
	if n != wantN || ok != wantOK || ok && v != wantV {
		t.Fatalf("Scaled(%q, %d) = %d, %d, %v, want %d, %d, %v", b, scale, v, n, ok, wantV, wantN, wantOK)
	}
	if scale == Second {
		if s, n, ok := Seconds(b); n != wantN || ok != wantOK || ok && s != wantV {
			t.Fatalf("Seconds(%q) = %d, %d, %v, want %d, %d, %v", b, s, n, ok, wantV, wantN, wantOK)
		}
	}
	if scale != 0 {
		return
	}
	v, n, ok = ParseInt(b)
	if wantOK = wantOK && exact; n != wantN || ok != wantOK || ok && v != wantV {
		t.Fatalf("ParseInt(%q) = %d, %d, %v, want %d, %d, %v", b, v, n, ok, wantV, wantN, wantOK)
	}
	f, n, ok := ParseFloat(b)
	wantF, err := strconv.ParseFloat(string(b[:wantN]), 64)
	if n != wantN || ok != (err == nil) || ok && f != wantF {
		t.Fatalf("ParseFloat(%q) = %v, %d, %v, want %v, %d, %v", b, f, n, ok, wantF, wantN, err)
	}
}

func TestSeconds(t *testing.T) {
	for _, c := range []struct {
		in string
		ns int64
		n  int
		ok bool
	}{
		{"1764428000.25,", 1764428000250000000, 13, true},
		{"1764428000.431902]", 1764428000431902000, 17, true},
		{"5.1e-05", 51000, 7, true},
		{"-1.5", -1500000000, 4, true},
		{"-0", 0, 2, true},
		{"0.0000000005", 0, 12, true},                    // tie to even: 0
		{"0.0000000015", 2, 12, true},                    // tie to even: 2
		{"0.00000000050000000000000000001", 1, 31, true}, // above the tie
		{"0.00000000149999999999999999999", 1, 31, true}, // below it
		{"9223372036.854775807", 9223372036854775807, 20, true},
		{"9223372036.854775808", 0, 20, false},
		{"-9223372036.854775808", -9223372036854775808, 21, true},
		{"1.7e18", 0, 6, false},
		{"1e", 1000000000, 1, true}, // the number ends before the e
		{"1.", 1000000000, 1, true},
		{".5", 0, 0, false},
		{"-", 0, 0, false},
		{"+1", 0, 0, false},
		{"", 0, 0, false},
		{"NaN", 0, 0, false},
	} {
		ns, n, ok := Seconds([]byte(c.in))
		if ok != c.ok || n != c.n || ok && ns != c.ns {
			t.Errorf("Seconds(%q) = %d, %d, %v, want %d, %d, %v", c.in, ns, n, ok, c.ns, c.n, c.ok)
		}
	}
}

// TestScaledAgainstRational compares with math/big on numbers of 0 to 25 digits
// before and behind the point, made to hit ties, long runs of zeros and nines,
// and the limits of int64.
func TestScaledAgainstRational(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		check(t, randomNumber(r), []int{0, 3, 6, 9, 18}[r.IntN(5)])
	}
}

// randomNumber returns the text of a number, often followed by other bytes.
func randomNumber(r *rand.Rand) []byte {
	var b []byte
	if r.IntN(4) == 0 {
		b = append(b, '-')
	}
	b = appendDigits(b, r, r.IntN(26))
	if r.IntN(8) == 0 {
		b = fmt.Append(b[:0], 1e9+r.Int64N(9e9))
	}
	if r.IntN(4) > 0 {
		b = append(b, '.')
		b = appendDigits(b, r, r.IntN(26))
	}
	switch r.IntN(8) {
	case 0:
		b = fmt.Appendf(b, "e%d", r.IntN(50)-25)
	case 1:
		b = fmt.Appendf(b, "E%+d", r.IntN(50)-25)
	case 2:
		b = append(b, "e+"...)
	}
	return append(b, []string{"", ",", "]", "  ", "x", ".5", ",1764428000.431902,1764428000.443902"}[r.IntN(7)]...)
}

func appendDigits(b []byte, r *rand.Rand, n int) []byte {
	kind := r.IntN(5)
	for i := range n {
		c := byte('0' + r.IntN(10))
		switch {
		case kind == 1 && i > 0:
			c = '0'
		case kind == 2:
			c = '9'
		case kind == 3 && i == n-1:
			c = '5'
		case kind == 3, kind == 4 && i < n/2:
			c = '0'
		}
		b = append(b, c)
	}
	return b
}

func FuzzScaled(f *testing.F) {
	for _, s := range []string{"0", "1764428000.431902,", "5.1e-05", "1e999999999999", "0.0000000005", "-9223372036854775808", "00001", "1e-19", "12345678901234567890.5e-11"} {
		f.Add([]byte(s), 9)
		f.Add([]byte(s), 0)
	}
	f.Fuzz(func(t *testing.T, b []byte, scale int) {
		check(t, b, int(uint(scale)%19))
	})
}

func TestNoAllocation(t *testing.T) {
	for _, s := range []string{"1764428000.431902", "5.1e-05", "0.12345678901234567890123", "1e22", "1.7976931348623157e308"} {
		b := []byte(s)
		if n := testing.AllocsPerRun(100, func() {
			Seconds(b)
			ParseInt(b)
			ParseFloat(b)
		}); n != 0 {
			t.Errorf("%s: %v allocations", s, n)
		}
	}
}
