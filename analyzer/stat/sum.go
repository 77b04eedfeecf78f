package stat

import (
	"math/big"
	"math/bits"
)

// Sum is an exact sum of int64 values, in any order. The zero value is empty.
type Sum struct {
	N int64

	hi int64 // hi·2⁶⁴ + lo
	lo uint64
}

// Add adds a value.
func (s *Sum) Add(v int64) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, uint64(v), 0)
	s.hi += v>>63 + int64(carry)
	s.N++
}

// Total returns the sum.
func (s *Sum) Total() *big.Int {
	n := big.NewInt(s.hi)
	return n.Add(n.Lsh(n, 64), new(big.Int).SetUint64(s.lo))
}

// Quotient returns a/n, correctly rounded. n must not be 0.
func Quotient(a *big.Int, n int64) float64 {
	f, _ := new(big.Rat).SetFrac(a, big.NewInt(n)).Float64()
	return f
}
