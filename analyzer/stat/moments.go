package stat

import (
	"math"
	"math/big"
	"math/bits"
)

// Moments holds the count, the exact sum and sum of squares, and the extremes
// of a stream of int64 values. Since these are exact, they do not depend on the
// order of Add and Merge. The mean and the deviation are rounded once. The zero
// value is ready. Min and Max have a meaning only if N > 0.
type Moments struct {
	N        int64
	Min, Max int64

	sumLo, sumHi int64     // the sum is sumHi·2³² + sumLo, 0 ≤ sumLo < 2³²
	squares      [3]uint64 // little-endian
}

// Add adds values.
func (m *Moments) Add(values []int64) {
	for len(values) > 0 {
		block := values[:min(len(values), blockSize)]
		values = values[len(block):]
		m.add(block)
	}
}

// add adds 1 to blockSize values. Values of 2⁵³ or more, and negative values,
// take the slow path.
func (m *Moments) add(block []int64) {
	var wide Moments
	var sum, squares, high, carry uint64
	least, most := m.extremes(block[0])
	for _, v := range block {
		if uint64(v)-uint64(least) > uint64(most)-uint64(least) {
			least, most = min(least, v), max(most, v)
		}
		if uint64(v) >= 1<<53 {
			wide.AddN(v, 1)
			continue
		}
		sum += uint64(v)
		over, square := bits.Mul64(uint64(v), uint64(v))
		squares, carry = bits.Add64(squares, square, 0)
		high += over + carry
	}
	wide.Merge(&Moments{N: int64(len(block)) - wide.N, Min: least, Max: most, sumLo: int64(uint32(sum)), sumHi: int64(sum >> 32), squares: [3]uint64{squares, high}})
	m.Merge(&wide)
}

// extremes returns the extremes of the values so far, or v twice if there are
// none.
func (m *Moments) extremes(v int64) (least, most int64) {
	if m.N == 0 {
		return v, v
	}
	return m.Min, m.Max
}

// AddN adds the value v n times.
func (m *Moments) AddN(v, n int64) {
	if n <= 0 {
		return
	}
	sign := v >> 63
	size := uint64((v ^ sign) - sign)
	other := Moments{N: n, Min: v, Max: v}
	high, low := bits.Mul64(size, uint64(n)) // |sum|
	if sign != 0 {
		var borrow uint64
		low, borrow = bits.Sub64(0, low, 0)
		high, _ = bits.Sub64(0, high, borrow)
	}
	other.sumLo, other.sumHi = int64(uint32(low)), int64(high<<32|low>>32)
	high, low = bits.Mul64(size, size) // squares: (high, low) · n
	carry, first := bits.Mul64(low, uint64(n))
	top, second := bits.Mul64(high, uint64(n))
	second, c := bits.Add64(second, carry, 0)
	other.squares = [3]uint64{first, second, top + c}
	m.Merge(&other)
}

// Merge adds the values of o.
func (m *Moments) Merge(o *Moments) {
	if o.N == 0 {
		return
	}
	if m.N == 0 || o.Min < m.Min {
		m.Min = o.Min
	}
	if m.N == 0 || o.Max > m.Max {
		m.Max = o.Max
	}
	m.N += o.N
	lo := m.sumLo + o.sumLo
	m.sumLo, m.sumHi = int64(uint32(lo)), m.sumHi+o.sumHi+lo>>32
	var c uint64
	m.squares[0], c = bits.Add64(m.squares[0], o.squares[0], 0)
	m.squares[1], c = bits.Add64(m.squares[1], o.squares[1], c)
	m.squares[2] += o.squares[2] + c
}

// Sum returns the exact sum.
func (m *Moments) Sum() *big.Int {
	s := big.NewInt(m.sumHi)
	return s.Add(s.Lsh(s, 32), big.NewInt(m.sumLo))
}

// Mean returns the mean, correctly rounded, or 0 without values.
func (m *Moments) Mean() float64 {
	if m.N == 0 {
		return 0
	}
	f, _ := new(big.Rat).SetFrac(m.Sum(), big.NewInt(m.N)).Float64()
	return f
}

// Std returns the population standard deviation (ddof 0), or 0 without values.
func (m *Moments) Std() float64 {
	if m.N == 0 {
		return 0
	}
	n := big.NewInt(m.N)
	squares := new(big.Int)
	for i := 2; i >= 0; i-- {
		squares.Lsh(squares, 64)
		squares.Or(squares, new(big.Int).SetUint64(m.squares[i]))
	}
	sum := m.Sum()
	variance := squares.Mul(squares, n)
	variance.Sub(variance, sum.Mul(sum, sum))
	f, _ := new(big.Rat).SetFrac(variance, n.Mul(n, n)).Float64()
	return math.Sqrt(f)
}

// AppendTo appends the encoding of m to dst.
func (m *Moments) AppendTo(dst []byte) []byte {
	dst = appendInts(dst, m.N, m.Min, m.Max, m.sumLo, m.sumHi)
	return appendInts(dst, int64(m.squares[0]), int64(m.squares[1]), int64(m.squares[2]))
}

// Load replaces m by the encoding at the start of src and returns the rest.
func (m *Moments) Load(src []byte) ([]byte, error) {
	var q [3]int64
	src, err := readInts(src, &m.N, &m.Min, &m.Max, &m.sumLo, &m.sumHi, &q[0], &q[1], &q[2])
	m.squares = [3]uint64{uint64(q[0]), uint64(q[1]), uint64(q[2])}
	return src, err
}
