package numx

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// plain reads numbers of at most 19 digits without sign and exponent, and with no
// more decimals than scale, each followed by a comma, as epochs does: epochs in
// milliseconds, say. Where the next one begins is guessed from the one before.
func plain(dst []int64, b []byte, i, scale int) (n, next int) {
	usual, step := 0, 0 // where the number before ended, and what followed it began
	for n < len(dst) && len(b)-i >= window {
		w := (*[window]byte)(b[i:])
		t := binary.LittleEndian.Uint64(w[0:8]) ^ zeros
		k := digits(t)
		m := parse8(t << (64 - 8*k))
		if k == 8 {
			t = binary.LittleEndian.Uint64(w[8:16]) ^ zeros
			j := digits(t)
			m, k = m*pow10[j]+parse8(t<<(64-8*j)), 8+j
			if j == 8 {
				t = binary.LittleEndian.Uint64(w[16:24]) ^ zeros
				j = digits(t)
				m, k = m*pow10[j]+parse8(t<<(64-8*j)), 16+j
			}
		}
		end, decimals := k, 0
		if w[end] == '.' {
			d := (*[16]byte)(w[end+1:])
			t = binary.LittleEndian.Uint64(d[0:8]) ^ zeros
			decimals = digits(t)
			m = m*pow10[decimals] + parse8(t<<(64-8*decimals))
			if decimals == 8 {
				t = binary.LittleEndian.Uint64(d[8:16]) ^ zeros
				j := digits(t)
				m, decimals = m*pow10[j]+parse8(t<<(64-8*j)), 8+j
			}
			if decimals == 0 {
				return n, i
			}
			end += 1 + decimals
		}
		if k == 0 || k+decimals > maxDigits || decimals > scale || w[end&(window-1)] != ',' {
			return n, i
		}
		high, v := bits.Mul64(m, pow10[scale-decimals])
		if high != 0 || v > math.MaxInt64 {
			return n, i
		}
		dst[n] = int64(v)
		n++
		own := end + 1
		if w[own&(window-1)] == ' ' {
			own++
		}
		if end == usual && own == step {
			i += step
			continue
		}
		usual, step = end, own
		i += own
	}
	return n, i
}
