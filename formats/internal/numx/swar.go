package numx

import (
	"encoding/binary"
	"math/bits"
)

// zeros is "00000000": XORed with 8 bytes of text it turns digits into their values.
const zeros = 0x3030303030303030

// tops is the highest bit of each byte.
const tops = 0x8080808080808080

// pow10 holds the powers of ten that fit into a uint64.
var pow10 = [maxDigits + 1]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

// load returns the 8 bytes at b[i:], the first one lowest.
func load(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }

// digits returns how many of the bytes of t (text XORed with zeros), lowest
// first, are digits before the first that is not. A carry can only come from a
// byte that is no digit, so it never disturbs the bytes before it.
func digits(t uint64) int {
	notDigit := ((t + 0x7676767676767676) | t) & 0x8080808080808080
	return bits.TrailingZeros64(notDigit) >> 3
}

// parse8 returns the number that the 8 digit values of t form, the lowest byte
// the most significant: pairs, then the four pairs by two multiplications.
func parse8(t uint64) uint64 {
	const pairs = 0x000000ff000000ff
	t = t*10 + t>>8
	return ((t&pairs)*(100+1000000<<32) + (t>>16&pairs)*(1+10000<<32)) >> 32
}

// parse8Tens is parse8 times ten: eight decimals in tenths of what they count.
func parse8Tens(t uint64) uint64 {
	const pairs = 0x000000ff000000ff
	t = t*10 + t>>8
	return ((t&pairs)*(1000+10000000<<32) + (t>>16&pairs)*(10+100000<<32)) >> 32
}
