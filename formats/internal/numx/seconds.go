package numx

import (
	"encoding/binary"
	"math/bits"
)

// window is how far behind a number's first byte the loops below may look.
const window = 64

// epoch reads one number of the form that epochs reads. n is 0 when it has
// another form.
func epoch(w *[32]byte) (ns int64, n int) {
	t := binary.LittleEndian.Uint64(w[0:8]) ^ zeros
	u := binary.LittleEndian.Uint64(w[11:19]) ^ zeros
	d8, d9 := uint64(w[8]-'0'), uint64(w[9]-'0')
	k := digits(u)
	high := parse8(t)
	if digits(t) != 8 || high >= 92233720 || d8 > 9 || d9 > 9 || k == 0 {
		return 0, 0
	}
	v := high*1e11 + d8*1e10 + d9*1e9
	if k == 8 {
		v += parse8(u) * 10
		if d := uint64(w[19] - '0'); d <= 9 {
			v += d
			k = 9
		}
	} else {
		v += parse8(u&(1<<(8*k)-1)) * 10
	}
	if c := w[(11+k)&31]; c-'0' <= 9 || c|0x20 == 'e' {
		return 0, 0
	}
	return int64(v), 11 + k
}

// separator recognises what stands between two numbers of a list, as it was
// behind the number before: a comma, or a comma and a space.
type separator struct {
	mask, want uint16
	size       int
}

var (
	comma      = separator{0xff, ',', 1}
	commaSpace = separator{0xffff, ',' | ' '<<8, 2}
)

// epochs reads numbers of the form of epoch seconds, ten digits, a point and at
// most nine decimals, each followed by a comma, into dst as nanoseconds. It
// stops at the first number of another form and at the last of the list. There
// are no calls in the loop, because a call would spill every register.
//
// The first eight digits are mostly those of the number before, and so is the
// number of decimals: with that guess the place of the next number does not
// wait until the digits of this one are counted.
func epochs(dst []int64, b []byte, i int) (n, next int) {
	var prev, high uint64 // first 8 bytes of the number before, and their value
	usual := -1           // its decimals, if fewer than eight
	var mask uint64       // the bytes that hold them
	sep, step := comma, 0 // what followed it, and its length with that
	for n < len(dst) && len(b)-i >= window {
		w := (*[window]byte)(b[i:])
		if x := binary.LittleEndian.Uint64(w[0:8]); x != prev {
			t := x ^ zeros
			if digits(t) != 8 {
				return n, i
			}
			if high = parse8(t); high >= 92233720 { // beyond int64
				return n, i
			}
			prev, high = x, high*1e11
		}
		d8, d9 := uint64(w[8]-'0'), uint64(w[9]-'0')
		if d8 > 9 || d9 > 9 || w[10] != '.' {
			return n, i
		}
		v := high + d8*1e10 + d9*1e9
		t := binary.LittleEndian.Uint64(w[11:19]) ^ zeros
		k := digits(t)
		if k == usual && binary.LittleEndian.Uint16(w[11+k&31:])&sep.mask == sep.want {
			dst[n] = int64(v + parse8(t&mask)*10)
			n++
			i += step
			continue
		}
		end := 11 + k
		if k == 8 {
			usual = -1 // step is about to become that of another layout
			v += parse8(t) * 10
			if d := uint64(w[19] - '0'); d <= 9 {
				v += d
				end = 20
			}
		} else {
			usual, mask = k, 1<<(8*k)-1
			v += parse8(t&mask) * 10
		}
		if k == 0 || w[end&31] != ',' {
			return n, i
		}
		sep = comma
		if w[(end+1)&31] == ' ' {
			sep = commaSpace
		}
		dst[n] = int64(v)
		n++
		step = end + sep.size
		i += step
	}
	return n, i
}

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
		if decimals[(k+1)&31] == ' ' {
			i++
		}
	}
	return n, i
}
