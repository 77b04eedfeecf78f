package stat

import (
	"math/big"
	"math/bits"
)

// Sum is an exact sum of int64 values. The order of the values does not matter.
// The zero value is empty.
type Sum struct {
	N int64

	sum wide
}

// Add adds a value.
func (s *Sum) Add(v int64) {
	s.sum.add(wide{v >> 63, uint64(v)})
	s.N++
}

// Total returns the sum.
func (s *Sum) Total() *big.Int { return s.sum.int() }

// Quotient returns a/n, correctly rounded. n must not be 0.
func Quotient(a *big.Int, n int64) float64 {
	f, _ := new(big.Rat).SetFrac(a, big.NewInt(n)).Float64()
	return f
}

// wide is a 128-bit sum: hi·2⁶⁴ + lo.
type wide struct {
	hi int64
	lo uint64
}

// addProduct adds a·b. Neither may be negative.
func (w *wide) addProduct(a, b int64) {
	high, low := bits.Mul64(uint64(a), uint64(b))
	w.add(wide{int64(high), low})
}

// add adds o.
func (w *wide) add(o wide) {
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, o.lo, 0)
	w.hi += o.hi + int64(carry)
}

// over returns the sum divided by n, correctly rounded.
func (w *wide) over(n int64) float64 { return Quotient(w.int(), n) }

func (w *wide) int() *big.Int {
	n := big.NewInt(w.hi)
	return n.Add(n.Lsh(n, 64), new(big.Int).SetUint64(w.lo))
}
