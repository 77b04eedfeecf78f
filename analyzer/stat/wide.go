package stat

import (
	"math/big"
	"math/bits"
)

// wide is a sum of products of 128 bits.
type wide struct {
	hi int64
	lo uint64
}

// addProduct adds a·b, neither of which is negative.
func (w *wide) addProduct(a, b int64) {
	high, low := bits.Mul64(uint64(a), uint64(b))
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, low, 0)
	w.hi += int64(high + carry)
}

// add adds o.
func (w *wide) add(o wide) {
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, o.lo, 0)
	w.hi += o.hi + int64(carry)
}

// over returns the sum divided by n, rounded once.
func (w *wide) over(n int64) float64 { return Quotient(w.int(), n) }

func (w *wide) int() *big.Int {
	n := big.NewInt(w.hi)
	return n.Add(n.Lsh(n, 64), new(big.Int).SetUint64(w.lo))
}
