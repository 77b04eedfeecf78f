package numx

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// durations reads numbers with at most seven digits before the point and at
// most 23 decimals, each followed by a comma, as epochs does.
func durations(dst []int64, b []byte, i int) (n, next int) {
	for n < len(dst) && len(b)-i >= window {
		w := (*[window]byte)(b[i:])
		point := 1
		v := uint64(w[0] - '0')
		if w[1] != '.' || v > 9 {
			t := binary.LittleEndian.Uint64(w[0:8]) ^ zeros
			point = digits(t)
			v = parse8(t << (64 - 8*point))
		}
		if v > 9999999 || point == 0 || w[point&7] != '.' {
			return n, i
		}
		decimals := (*[window - 8]byte)(w[point&7+1:])
		t := binary.LittleEndian.Uint64(decimals[0:8]) ^ zeros
		k := digits(t)
		if k < 8 {
			v = v*1e9 + parse8(t&(1<<(8*k)-1))*10
		} else {
			u := binary.LittleEndian.Uint64(decimals[8:16]) ^ zeros
			k += digits(u)
			// The ninth decimal, and those behind it as bytes in the order of
			// their weight: enough to tell more than half from less.
			tail := bits.ReverseBytes64(u & (1<<(8*k-64) - 1))
			v = v*1e9 + parse8(t)*10 + tail>>56
			rest := tail << 8
			if rest == 5<<56 { // a tie, unless later decimals say otherwise
				return n, i
			}
			v += (5<<56 - rest) >> 63 // rest is more than half
			if k == 16 {
				k += digits(binary.LittleEndian.Uint64(decimals[16:24]) ^ zeros)
			}
		}
		if k == 0 || decimals[k&31] != ',' {
			return n, i
		}
		dst[n] = int64(v)
		n++
		i += point + k + 2
		sep := &separators[0]
		if decimals[(k+1)&31] == ' ' {
			sep = &separators[1]
			i++
		}
		if k >= 16 {
			var more int
			more, i = fractions(dst[n:], b, i, sep)
			n += more
		}
	}
	return n, i
}

// separator is what stands between two numbers.
type separator struct {
	text, mask uint16 // two bytes ANDed with mask are text
	size       int
}

var separators = [...]separator{{',', 0xff, 1}, {',' | ' '<<8, 0xffff, 2}}

// fractions reads numbers as Python writes the difference of two stamps: one
// digit, the point, 16 to 24 decimals, each followed by sep. It stops at a number
// of another form, and at one that may lie halfway between two nanoseconds.
//
// The place of the next number waits for the end of this one, and nothing else does:
// the first byte without bit 4, which digits have and separators have not. Whether
// all bytes before it are digits is found out besides.
func fractions(dst []int64, b []byte, i int, sep *separator) (n, next int) {
	const add, bit4 = 0x7676767676767676, 0x1010101010101010
	text, mask, rest := sep.text, sep.mask, 18+sep.size
	for n < len(dst) && len(b)-i >= window {
		w := (*[window]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i)) // b[i:], a sixth faster
		x := binary.LittleEndian.Uint64(w[18:26])
		end := ^x & bit4
		k := bits.TrailingZeros64(end) >> 3 // at most 8
		i += rest
		head := uint64(binary.LittleEndian.Uint16(w[0:2])) - ('.'<<8 | '0')
		t := binary.LittleEndian.Uint64(w[2:10]) ^ zeros
		u := binary.LittleEndian.Uint64(w[10:18]) ^ zeros
		x ^= zeros
		if ((t+add)|t|(u+add)|u|((x+add)|x)&(end-1))&tops != 0 || head > 9 || u>>8 == 5 || binary.LittleEndian.Uint16(w[18+k&15:])&mask != text {
			return n, i - rest
		}
		up := (u>>8&0xff + (127 - 4)) >> 7 // the tenth decimal is 5 or more
		dst[n] = int64(head*1e9 + parse8(t)*10 + u&0xff + up)
		n++
		i += k
	}
	return n, i
}
